"""Rows in, one offline HTML file out; no number is computed here."""

from marginflow.doors import show_doors
from marginflow.report.charts import dots, histogram, lines, points
from marginflow.report.content import Chart, Formula, Table, text_of
from marginflow.report.page import Page, Section, render, write
from marginflow.report.robustness_chart import robustness_curve_chart
from marginflow.report.static import draw

__all__ = [
    "Chart",
    "Formula",
    "Page",
    "Section",
    "Table",
    "dots",
    "draw",
    "histogram",
    "lines",
    "points",
    "render",
    "robustness_curve_chart",
    "text_of",
    "write",
]

show_doors(globals())

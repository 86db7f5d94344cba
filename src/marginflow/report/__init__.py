"""Rows in, one offline HTML file out; no number is computed here."""

from marginflow.report.charts import Chart, dots, histogram, lines
from marginflow.report.page import Page, Section, render, write
from marginflow.report.table import Table, shown

__all__ = ["Chart", "Page", "Section", "Table", "dots", "histogram", "lines", "render", "shown", "write"]

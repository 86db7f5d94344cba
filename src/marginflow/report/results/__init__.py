"""Results that commands have written, as sections of a page: one file for each kind, recognised by its keys."""

from marginflow.report.results.kinds import kind_of, summarise
from marginflow.report.results.reading import read_result
from marginflow.report.results.report import page_of_results
from marginflow.report.results.summary import NamedResult, Summary

__all__ = ["NamedResult", "Summary", "kind_of", "page_of_results", "read_result", "summarise"]

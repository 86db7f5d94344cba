"""The demo: four pictures' worth of numbers, each computed by the rooms below and kept as a record of plain values."""

from marginflow.demo.chapter import Chapter
from marginflow.demo.sequence import CHAPTERS, chapters
from marginflow.doors import show_doors

__all__ = ["CHAPTERS", "Chapter", "chapters"]

show_doors(globals())

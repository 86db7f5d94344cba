"""The command line: parse, call the library, print."""

from marginflow.cli.app import main

__all__ = ["main"]

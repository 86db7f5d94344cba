"""The command line: parse, call the library, print."""

import sys
from collections.abc import Sequence

from marginflow.cli.exit_codes import INTERRUPTED

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; return its exit code.

    The frame is imported here, so that an interrupt in the first moments is one sentence and an exit code too.
    """
    try:
        from marginflow.cli.app import main as run
    except KeyboardInterrupt:
        print("marginflow: interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    return run(arguments)

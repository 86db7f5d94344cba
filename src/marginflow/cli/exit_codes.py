"""What the exit codes of the command line mean."""

from typing import Final

DONE: Final = 0  # done, and what was asked about holds
DOES_NOT_HOLD: Final = 1  # done, but what was asked about does not hold
BAD_INPUT: Final = 2  # one clear sentence on stderr, nothing written
INTERRUPTED: Final = 130  # Ctrl-C; what was done is kept

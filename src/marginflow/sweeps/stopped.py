"""The exception of a sweep that had to stop half way; what is stored stays."""


class StoppedError(RuntimeError):
    """A full disk, a lost scheduler, no worker left: one sentence that says what happened and how to go on."""

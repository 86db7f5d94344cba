"""The one exception that tells a user what is wrong with what they gave us."""


class InputError(ValueError):
    """Bad input, in one sentence that names the value and what is expected.

    The command line prints the sentence and exits with code 2; nothing has been written by then.
    """

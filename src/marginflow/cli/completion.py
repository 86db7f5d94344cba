"""`marginflow completion`: what a shell needs in order to complete commands, options and choices."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from marginflow.cli.exit_codes import DONE


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell.")],
    /,
) -> int:
    """Prints a script; to have it always, run `marginflow --install-completion` instead."""
    from marginflow.cli.app import app

    print(app.generate_completion(shell=shell))
    return DONE

"""`marginflow completion`: what a shell needs in order to complete commands, options and choices."""

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from marginflow.cli.exit_codes import DONE

# The line that a person adds to the start file of the shell; nothing here writes to that file.
LINES = {
    "bash": ("~/.bashrc", 'eval "$(marginflow completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(marginflow completion zsh)"; compdef _cyclopts_marginflow marginflow'),
    "fish": ("~/.config/fish/config.fish", "marginflow completion fish | source"),
}


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell.")],
    /,
) -> int:
    """Prints a script; `marginflow --install-completion` says which line makes the shell read it always."""
    from marginflow.cli.app import app

    print(app.generate_completion(shell=shell))
    return DONE


def say_how() -> int:
    """Which line to add to which file, for the shell in use or for all three; nothing is written."""
    shell = Path(os.environ.get("SHELL", "")).name
    for name in [shell] if shell in LINES else LINES:
        where, line = LINES[name]
        print(f"To complete commands in {name}, add this line to {where}:\n  {line}")
    return DONE

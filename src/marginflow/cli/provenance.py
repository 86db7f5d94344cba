"""Which command line is running, and with which versions: what every result carries so that it can be made again."""

import platform
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_lines: list[tuple[str, ...]] = []  # the command lines that run, innermost last


@contextmanager
def running(line: Sequence[str]) -> Iterator[None]:
    """Remember the command line while it runs."""
    _lines.append(tuple(line))
    try:
        yield
    finally:
        _lines.pop()


def command() -> str:
    """The command line that runs, as a shell takes it; nothing if the library was called by a program."""
    return shlex.join(["marginflow", *_lines[-1]]) if _lines else ""


def versions() -> dict[str, str]:
    """What computed the numbers: versions, and the kernels and threads of the matrix products, which set last bits."""
    from importlib.metadata import version

    from marginflow import __version__
    from marginflow.threads import blas_libraries

    kernels = dict.fromkeys(
        f"{library.library} {library.version} ({library.kernels or 'unnamed'} kernels, {library.threads} "
        f"{'thread' if library.threads == 1 else 'threads'})"
        for library in blas_libraries()
    )
    packages = {"marginflow": __version__} | {name: version(name) for name in ("numpy", "scipy")}
    return {"Python": platform.python_version(), **packages, "BLAS": ", ".join(kernels)}


def made_by() -> dict[str, object]:
    """Both, as results carry them."""
    return {"command": command(), "versions": versions()}

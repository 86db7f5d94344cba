"""Which code computed a row: a change of what a cell runs is a change of the cell, a comment or a docstring is not.

What a cell runs is the file of its task and every room of the library that is reached from there by imports; a room
counts as a whole, since some of its files are found by looking into its folder. Of each file the digest sees what
Python makes of its syntax tree without docstrings, so neither comments nor the layout nor line numbers count. By which
formula the time of cells is estimated does not count either: the properties `operations` and `cost_kind` of classes.
"""

import ast
import hashlib
import inspect
import platform
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any, Final

import numpy
import scipy

from marginflow.sweeps.registry import SweepTask

_PACKAGE: Final = Path(__file__).parents[1]
_IMPORT: Final = re.compile(
    r"^\s*(?:from (?P<module>marginflow[\w.]*) import (?:\((?P<names>[^)]*)\)|(?P<line>.*))"
    r"|import (?P<whole>marginflow[\w.]*))",
    re.MULTILINE,
)
# Rooms in which only the files that are reached count: what is beside them serves other tasks or runs none.
_BY_FILE: Final = ("experiments", "sweeps")
# The machinery of sweeps, which is around a cell and not in it.
_AROUND: Final = tuple(
    f"sweeps/{name}.py" for name in ("__init__", "cell", "code", "registry", "runner", "store", "worker")
)
_OF_ESTIMATES: Final = ("operations", "cost_kind")
_DESCRIBED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)  # what may have a docstring


def code_version(task: SweepTask[Any]) -> str:
    """Versions of marginflow, Python, NumPy and SciPy, and a digest of the code that the task runs.

    What the task calls outside the library and its own file does not count; raise the task's `version` for that.
    """
    same_sources(task)  # seen before the code is: an edit in between is noticed
    return _version(task.function)


@cache
def same_sources(task: SweepTask[Any]) -> str:
    """A digest of the bytes of all sources, the versions with them: where it agrees, so does `code_version`.

    It takes a tenth of the time, so that a worker can look at each start whether it has the code of the sweep. Empty
    for a task without a file.
    """
    source = inspect.getsourcefile(task.function)
    if source is None or not Path(source).is_file():
        return ""
    digest = hashlib.sha256(_versions().encode())
    package = {file.relative_to(_PACKAGE).as_posix(): file for file in sorted(_PACKAGE.rglob("*.py"))}
    for name, file in {"": Path(source), **package}.items():
        content = file.read_bytes()
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _versions() -> str:
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{version('marginflow')}-python{python}-numpy{numpy.__version__}-scipy{scipy.__version__}"


@cache
def _version(function: Callable[..., object]) -> str:
    digest = hashlib.sha256()
    source = inspect.getsourcefile(function)
    if source is None or not Path(source).is_file():  # typed at a prompt: there is no file
        digest.update(b"".join(_parts(function.__code__)))
        reached = _reached_by_names(function)
    else:
        digest.update(_digest(Path(source)))
        reached = _reached(Path(source))
    for file in sorted(reached):
        digest.update(file.relative_to(_PACKAGE).as_posix().encode())
        digest.update(_digest(file))
    return f"{_versions()}-{digest.hexdigest()[:16]}"


def _reached(start: Path) -> set[Path]:
    """The files of the library that a file reaches by imports, rooms as a whole."""
    found: set[Path] = set()
    waiting = [*_imports(start)]
    while waiting:
        file = waiting.pop()
        if file in found or _is_around(file) or file == _PACKAGE / "__init__.py":
            continue
        room = file.relative_to(_PACKAGE).parts[0]
        whole = [file] if room in _BY_FILE or room == file.name else sorted((_PACKAGE / room).rglob("*.py"))
        for each in whole:
            if each not in found:
                found.add(each)
                waiting += _imports(each)
    return found - {start}


def _reached_by_names(function: Callable[..., object]) -> set[Path]:
    """Of a task without a file: the rooms of whatever its function could name."""
    modules = {
        getattr(thing, "__module__", None) or "" for thing in vars(inspect.getmodule(function) or object()).values()
    }
    files = {file for module in modules if module.startswith("marginflow.") for file in _files_of(module)}
    found = {reached for file in files for reached in {file, *_reached(file)}}
    return {file for file in found if not _is_around(file)}


def _is_around(file: Path) -> bool:
    return file.relative_to(_PACKAGE).as_posix() in _AROUND


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """The files of the library that a file imports, anywhere in it."""
    names: set[str] = set()
    for found in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        module = found["module"] or found["whole"]
        words = re.findall(r"\w+", found["names"] or found["line"] or "")
        names |= {module, *(f"{module}.{word}" for word in words)}
    return tuple(sorted({path for name in names for path in _files_of(name)}))


def _files_of(module: str) -> Iterator[Path]:
    """The file of a module, if it is one; a name within a module has none."""
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            yield file


@cache
def _digest(file: Path) -> bytes:
    tree = ast.parse(file.read_bytes())
    _strip(tree)
    code = compile(tree, "", "exec", dont_inherit=True)
    return hashlib.sha256(b"\0".join(_parts(code))).digest()


def _strip(node: ast.AST) -> None:
    """Take docstrings and the properties of estimates away, in a module and its classes and functions."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, ast.ClassDef):
        body[:] = [child for child in body if not _is_of_estimates(child)] or [ast.copy_location(ast.Pass(), node)]
    if isinstance(node, _DESCRIBED) and ast.get_docstring(node, clean=False) is not None:
        body[:1] = [] if len(body) > 1 else [ast.copy_location(ast.Pass(), body[0])]
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, []):
            _strip(child)


def _is_of_estimates(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name not in _OF_ESTIMATES:
        return False
    return any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list)


def _parts(code: CodeType) -> Iterator[bytes]:
    """What is executed, without where it stands."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((code.co_name, names, counts)).encode()
    yield code.co_code
    yield getattr(code, "co_exceptiontable", b"")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant).encode()

"""Options that several commands share, described once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token, convert

from marginflow.errors import InputError
from marginflow.scalars import real_number, whole_number


def exactly(kind: Any, tokens: Sequence[Token]) -> Any:
    """What the words on the command line mean, except that 2.5 is not a whole number (else it would be rounded)."""
    if kind is int and any("." in token.value and not _is_whole(token.value) for token in tokens):
        name = tokens[0].keyword or "The number"
        raise InputError(f"{name} is {tokens[0].value}; a whole number is expected.")
    return convert(kind, tokens)


def any_case(kind: Any, tokens: Sequence[Token]) -> Any:
    """One of several words, however it is capitalised: FCB22 is fcb22."""
    return convert(kind, [token.evolve(value=token.value.lower()) for token in tokens])


def _is_whole(text: str) -> bool:
    try:
        return float(text).is_integer()
    except ValueError:
        return False


def worth_showing(default: Any) -> str | None:
    """What help says of a default: nothing of a flag that is off or of an empty list."""
    if default is None or default is False or default == ():
        return None
    return "yes" if default is True else f"{default:g}" if isinstance(default, float) else str(default)


def not_data(_: Any, path: Path) -> None:
    """Refuse data where the network is expected: the two were swapped."""
    if path.suffix.lower() in (".npz", ".csv"):
        raise InputError(
            f"{path} is a file of data; the network (.safetensors) is expected first and the data (.npz or .csv) "
            "second."
        )


def checked(name: str, help: str, check: Callable[..., float] = real_number, **bounds: float) -> Parameter:
    """An option that is refused as `name`, before any work is done, unless it is a number within the bounds."""

    def validate(_: Any, value: float | None) -> None:
        if value is not None:
            check(name, value, **bounds)

    return Parameter(validator=validate, help=help)


def counted(name: str, help: str, minimum: int = 1) -> Parameter:
    """An option that is refused as `name` unless it is a whole number of at least `minimum`."""
    return checked(name, help, whole_number, minimum=minimum)


def flag(help: str) -> Parameter:
    """An option without a value: it is given or it is not."""
    return Parameter(negative="", help=help)


def written(help: str) -> Parameter:
    """The option --out of a command, with what it writes."""
    return Parameter(name=["--out", "-o"], help=help)


AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print the result as one JSON object.")]
Force = Annotated[bool, Parameter(name="--force", negative="", help="Overwrite files that exist.")]
Seed = Annotated[int, counted("--seed", "Seed of all randomness; same seed, same result.", minimum=0)]
Out = Annotated[Path, written("File to write.")]
DataFile = Annotated[Path, Parameter(help="Data: .npz, or .csv of numbers with the label last (see convert).")]
NetworkFile = Annotated[Path, Parameter(validator=not_data, help="Network, .safetensors (ours or a torch state_dict).")]
Label = Annotated[str | None, Parameter(name="--label", help="Name of the label column of a .csv.")]
Paper = str  # the library knows which there are, those of other packages among them
Width = Annotated[int, Parameter(help="Number of hidden neurons.")]
Bias = Annotated[bool, Parameter(help="Whether neurons have a bias.")]
Penalty = Annotated[float | None, Parameter(help="C of the soft margin; without it the margin is hard.")]
Gap = Annotated[
    float, checked("--tolerance", "Largest relative gap of the bounds that counts as exact.", at_least=1e-8, below=1.0)
]
SecondsEach = Annotated[
    float, checked("--time-limit", "Seconds for each sample, after which its bounds so far are given.", above=0.0)
]
First = Annotated[int | None, counted("--first", "Only the first N samples.")]
Workers = Annotated[int, counted("--workers", "Processes that share the samples.")]
Engine = Annotated[Literal["local", "dask"], Parameter(help="Where cells are computed.")]
Address = Annotated[str | None, Parameter(help="With dask: the scheduler; without it a cluster is started here.")]
AnyCode = Annotated[bool, flag("Accept rows computed by another version of the code.")]
Tolerance = Annotated[
    float | None,
    checked("--tolerance", "Largest residual at which a condition counts as fulfilled; 1e-8 if not given.", above=0.0),
]

"""`marginflow sample LAW N`: draw data from a law and write them to a file; one subcommand for each law."""

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from marginflow import data
from marginflow.cli.options import AsJson, Force, Out, Seed
from marginflow.cli.output import check_target, tell
from marginflow.data import AbstractDistribution
from marginflow.data.gram import Reducible
from marginflow.errors import InputError

NOISES: dict[str, type[data.AbstractLabelNoise]] = {
    "uniform": data.UniformNoise,
    "exact-count": data.ExactCountNoise,
    "cluster": data.ClusterNoise,
    "direction": data.DirectionNoise,
    "boundary": data.BoundaryNoise,
    "smooth": data.SmoothNoise,
}
NoiseKind = Annotated[
    Literal["uniform", "exact-count", "cluster", "direction", "boundary", "smooth"],
    Parameter(help="Which labels to flip at that rate."),
]
NoiseRate = Annotated[float | None, Parameter(help="Rate at which labels are flipped; without it none are.")]
Reduced = Annotated[
    bool, Parameter(help="Coordinates of the span of the samples, exact: any dimension at the cost of N.", negative="")
]
# What an example needs beyond the dimension.
NEEDED = {"clusters": "--n-clusters 2"}

sample = App(
    name="sample",
    help="Draw data from a law and write them to a file.",
    help_epilogue="Example: marginflow sample sphere 100 --dimension 50 --seed 0 --out data.npz",
    help_format="plaintext",
)


def laws() -> dict[str, type[AbstractDistribution]]:
    """Every law that the data room offers, under the name that the command line gives it."""
    found = data.distributions().values()
    # The Gram reduction wraps the others, as the option --reduced.
    return {_dashed(law.__name__): law for law in found if law is not data.GramReduction}


def command_for(law: type[AbstractDistribution]) -> Callable[..., int]:
    """The subcommand of one law: its plain parameters become options."""
    options = _options(law)
    # Every law is a dataclass, which the type of their abstract base does not say; so it is in `_options`.
    takes_noise = any(field.name == "noise" for field in dataclasses.fields(law))  # type: ignore[arg-type]

    def command(n_samples: int, **settings: Any) -> int:
        out: Path = check_target(settings.pop("out"), (".npz", ".csv"), force=settings.pop("force", False))
        seed, as_json = settings.pop("seed", 0), settings.pop("as_json", False)
        rate, kind = settings.pop("noise_rate", None), settings.pop("noise", "uniform")
        if rate is not None:
            # Every kind of noise in NOISES has a rate; their abstract base has none.
            settings["noise"] = NOISES[kind](rate=rate)  # type: ignore[call-arg]
        reduced = settings.pop("reduced", False)
        chosen = law(**{name: _listed(value) for name, value in settings.items()})
        # --reduced is offered for reducible laws only.
        dataset = (data.GramReduction(chosen) if reduced else chosen).sample(n_samples, seed=seed)  # type: ignore[arg-type]
        dataset.save(out)
        positive = int((dataset.y > 0).sum())
        record = {
            "out": out,
            "n_samples": dataset.n_samples,
            "dimension": dataset.dimension,
            "positive": positive,
            "negative": dataset.n_samples - positive,
            "flipped": None if dataset.noisy is None else int(dataset.noisy.sum()),
            "law": dict(dataset.origin),
        }
        headings = {
            "n_samples": "Samples",
            "dimension": "Dimension",
            "positive": "Positive",
            "negative": "Negative",
            "flipped": "Flipped labels",
            "out": "Written to",
        }
        return tell(record, as_json=as_json, headings=headings)

    own = [
        *options,
        *([_option("reduced", Reduced, False)] if issubclass(law, Reducible) else []),
        *([_option("noise_rate", NoiseRate, None), _option("noise", NoiseKind, "uniform")] if takes_noise else []),
        _option("seed", Seed, 0),
        _option("out", Out),
        _option("force", Force, False),
        _option("as_json", AsJson, False),
    ]
    count = Annotated[int, Parameter(help="Number of samples.")]
    first = inspect.Parameter("n_samples", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=count)
    # Functions take attributes, which mypy does not know.
    command.__signature__ = inspect.Signature([first, *own], return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [first, *own]}
    command.__name__ = _dashed(law.__name__)
    command.__doc__ = (inspect.getdoc(law) or "").splitlines()[0]
    return command


def _options(law: type[AbstractDistribution]) -> list[inspect.Parameter]:
    """The parameters of a law that a command line can give: numbers, words, and lists of numbers."""
    hints = typing.get_type_hints(law)
    help_texts = _parameter_help(law)
    options = []
    for field in dataclasses.fields(law):  # type: ignore[arg-type]  # every law is a dataclass
        kind = _plain_kind(hints[field.name])
        if kind is not None:
            described = Parameter(help=help_texts.get(field.name, ""), negative="", allow_leading_hyphen=True)
            # A type that is known at run time only.
            annotation = Annotated[kind, described]  # type: ignore[valid-type]
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            options.append(_option(field.name, annotation, default))
    return options


def _plain_kind(hint: Any) -> Any:
    """What is left of a type when only numbers, words and lists of numbers are kept; None if nothing is."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kept = [kind for part in typing.get_args(hint) if (kind := _plain_kind(part)) is not None]
        useful = [kind for kind in kept if kind is not type(None)]
        if not useful or (any(typing.get_origin(kind) is Literal for kind in useful) and _many(hint)):
            useful = [kind for kind in useful if typing.get_origin(kind) is Literal]
        if not useful:
            return None
        if type(None) in kept:
            useful.append(type(None))
        return typing.Union[tuple(useful)]  # noqa: UP007
    if hint in (int, float, bool, str, type(None)):
        return hint
    if typing.get_origin(hint) is Literal:
        return hint
    if typing.get_origin(hint) is Sequence or hint == tuple[float, ...]:
        return str  # numbers separated by commas, see `_listed`
    return None


def _listed(value: Any) -> Any:
    """Numbers with commas between them as a list; anything else as it is."""
    if isinstance(value, str) and "," in value:
        try:
            return [float(number) for number in value.split(",")]
        except ValueError:
            raise InputError(f"{value!r} is not a list of numbers separated by commas.") from None
    return value


def _many(hint: Any) -> bool:
    """Whether a union has so many members that it stands for "any array"."""
    return len(typing.get_args(hint)) > 4


def _option(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter_help(law: type[AbstractDistribution]) -> dict[str, str]:
    """What the class says of each of its parameters, as one line."""
    from docstring_parser import DocstringStyle, parse

    parsed = parse(law.__doc__ or "", style=DocstringStyle.NUMPYDOC)
    return {
        name: " ".join((parameter.description or parameter.type_name or "").split())
        for parameter in parsed.params
        for name in parameter.arg_name.split(", ")
    }


def _dashed(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def example(name: str) -> str:
    """A command line that draws from the named law."""
    dimension = "--dimension 64 " if "dimension" in {option.name for option in _options(laws()[name])} else ""
    extra = f"{NEEDED[name]} " if name in NEEDED else ""
    return f"marginflow sample {name} 20 {dimension}{extra}--seed 0 --out {name}.npz"


for _name, _law in laws().items():
    sample.command(command_for(_law), name=_name, help_epilogue=f"Example: {example(_name)}")

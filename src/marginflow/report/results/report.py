"""One page of several results: the verdict of all in a sentence, then each with its own."""

from collections.abc import Mapping, Sequence

from marginflow.report.page import Page, Section, Tone
from marginflow.report.results.citing import cited
from marginflow.report.results.kinds import kind_of, summarise
from marginflow.report.results.summary import NamedResult, Summary

# What of a result is a parameter rather than an outcome.
PARAMETERS = (
    "seed",
    "recipe",
    "tolerance",
    "penalty",
    "outputs",
    "bias",
    "width",
    "samples",
    "dimension",
    "asked",
    "level",
    "share",
    "signed",
    "size",
    "instance",
)
# Kinds of results whose sentence and picture a reader would forward, the best first.
TELLING = ("audit", "audit of classes", "flips", "radii")


def page_of_results(
    results: Sequence[NamedResult],
    *,
    title: str,
    command: str,
    versions: Mapping[str, str],
    x: str | None = None,
    y: str | None = None,
    series: str | None = None,
) -> Page:
    """The page: the result with the best picture first, the others as they were given.

    Parameters
    ----------
    results : sequence of NamedResult
    title : str
    command : str
        The command line that makes the page; those that made the results stand before it.
    versions : mapping of str
        Used where no result names its own.
    x, y, series : str or None
        Columns of the chart of results that are rows.
    """
    results = sorted(results, key=_rank)
    summaries = [summarise(result, x=x, y=y, series=series) for result in results]
    lone = len(results) == 1
    sections: list[Section] = []
    for result, summary in zip(results, summaries, strict=True):
        first, *others = summary.sections
        heading = first.heading if lone else f"{first.heading}: {result.name}"
        opening = first.paragraphs if lone else (f"{summary.sentence} {summary.remark}".strip(), *first.paragraphs)
        sections.append(Section.of(heading, *opening, *first.content))
        sections += others
    commands = [str(result.made_by["command"]) for result in results if result.made_by.get("command")]
    named = [result.made_by["versions"] for result in results if isinstance(result.made_by.get("versions"), Mapping)]
    return Page(
        title=title,
        verdict=summaries[0].sentence if lone else _together(results, summaries),
        remark=summaries[0].remark if lone else "",
        tone=_tone(summaries),
        sections=tuple(sections),
        parameters=_parameters(results),
        versions={str(key): str(value) for key, value in named[0].items()} if named else versions,
        command="\n".join(dict.fromkeys([*commands, command])),
        references=tuple(str(reference) for reference in cited(results)),
    )


def _rank(result: NamedResult) -> int:
    kind = kind_of(result)
    return TELLING.index(kind) if kind in TELLING else len(TELLING)


def _together(results: Sequence[NamedResult], summaries: Sequence[Summary]) -> str:
    """The sentence of the first result, and how many hold."""
    bad = [result.name for result, summary in zip(results, summaries, strict=True) if summary.tone == "violated"]
    unclear = sum(summary.tone in ("open", "neutral") for summary in summaries)
    good = len(summaries) - len(bad) - unclear
    words = [f"{'All' if good == len(summaries) else f'{good} of'} {len(summaries)} results hold"]
    words += (
        [f"{unclear} {'makes' if unclear == 1 else 'make'} no claim or {'leaves' if unclear == 1 else 'leave'} it open"]
        if unclear
        else []
    )
    words += [f"not so: {', '.join(bad)}"] if bad else []
    return f"{summaries[0].sentence} {'; '.join(words)}."


def _tone(summaries: Sequence[Summary]) -> Tone:
    tones = {summary.tone for summary in summaries}
    if len(tones) == 1:
        return tones.pop()
    return "violated" if "violated" in tones else "open"


def _parameters(results: Sequence[NamedResult]) -> dict[str, object]:
    found: dict[str, object] = {}
    for result in results:
        content = result.content
        if not isinstance(content, Mapping):
            continue
        inner = content.get("certificate")
        whole = {**(inner if isinstance(inner, Mapping) else {}), **content}
        whole.setdefault("samples", whole.get("n_samples"))
        for key in PARAMETERS:
            if whole.get(key) is not None and not isinstance(whole[key], dict | list):
                found[key if len(results) == 1 else f"{result.name}: {key}"] = whole[key]
    return found

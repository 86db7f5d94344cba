"""`marginflow convert TABLE`: a table with labels of any kind, as data; what was done to its columns is kept."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.options import AsJson, Force, Out
from marginflow.cli.output import check_target, note, tell
from marginflow.errors import InputError


def convert(
    table: Annotated[Path, Parameter(help="Table, .csv or .tsv, with names in its first line.")],
    *,
    label: Annotated[str | None, Parameter(name="--label", help="Name of the label column; default: the last.")] = None,
    positive: Annotated[
        str | None, Parameter(help="The label that becomes +1; any other becomes -1.", negative="")
    ] = None,
    negative: Annotated[str | None, Parameter(help="Keep only lines with this label or the positive one.")] = None,
    standardise: Annotated[
        bool, Parameter(help="Bring columns of numbers to mean 0 and standard deviation 1.", negative="")
    ] = False,
    one_hot: Annotated[bool, Parameter(help="An indicator for each value of a column of words.", negative="")] = False,
    missing: Annotated[
        Literal["drop", "mean"] | None, Parameter(help="Empty cells: leave the line out, or take the column's mean.")
    ] = None,
    drop: Annotated[
        list[str] | None, Parameter(consume_multiple=(1, None), negative="", help="Names of columns to leave out.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        Parameter(consume_multiple=(1, None), negative="", help="Columns to use although they look like line numbers."),
    ] = None,
    like: Annotated[
        Path | None, Parameter(help="Treat the columns as they were for this .npz: for new points of the same table.")
    ] = None,
    header: Annotated[
        bool | None,
        Parameter(help="Whether the first line holds names; without it columns are called 1, 2, 3 and so on."),
    ] = None,
    separator: Annotated[
        str | None,
        Parameter(help="Comma, semicolon, tab, space, or another character; default: as in the first line."),
    ] = None,
    decimal: Annotated[
        Literal["point", "comma"] | None, Parameter(help="The decimal sign, where the table leaves it open (1,234).")
    ] = None,
    encoding: Annotated[str | None, Parameter(help="Encoding of the table, such as cp1252; default: UTF-8.")] = None,
    out: Out,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0."""
    check_target(out, (".npz", ".csv"), force=force)
    before = None if like is None else mf.data.Dataset.load(like)
    if before is not None and (standardise or one_hot or missing or drop or keep or decimal):
        raise InputError(
            "--like repeats what was done before; --standardise, --one-hot, --missing, --drop, --keep "
            "and --decimal cannot be given with it."
        )
    split = [name for given in drop or [] for name in given.split(",")]
    read = mf.data.read_table(table, header=header, label=label, separator=separator, encoding=encoding)
    found = mf.data.convert(
        read,
        label=label,
        positive=positive,
        negative=negative,
        drop=split,
        keep=keep or [],
        standardise=standardise,
        one_hot=one_hot,
        missing=missing,
        decimal=decimal,
        like=before,
    )
    data = found.data
    data.save(out)
    if found.merged:
        labels = ", ".join(map(repr, found.merged[:8])) + (", ..." if len(found.merged) > 8 else "")
        note(f"Several labels become -1: {labels}; --negative keeps one of them only.")
    spelled = {str(word).casefold(): str(word) for word in data.classes}
    other = next((str(word) for word in data.classes if spelled[str(word).casefold()] != str(word)), None)
    if other is not None:
        note(f"The labels {other!r} and {spelled[other.casefold()]!r} are two classes.")
    two = data.n_classes == 2
    record = {
        "out": out,
        "n_samples": data.n_samples,
        "dimension": data.dimension,
        "classes": list(data.classes),
        "positive": int((data.y > 0).sum()) if two else None,
        "negative": int((data.y < 0).sum()) if two else None,
        "left_out": found.left_out,
        "incomplete": found.incomplete,
        "columns": list(data.features or ()),
        "how": found.how,
        "separator": read.separator,
    }
    headings = {"n_samples": "Samples", "dimension": "Dimension"}
    if two:
        second, first = (f" ({data.classes[i]})" if data.classes[i] not in (-1, 1) else "" for i in (1, 0))
        headings |= {"positive": f"Labels +1{second}", "negative": f"Labels -1{first}"}
    else:
        headings["classes"] = "Classes"
    if not as_json:
        for name, how in found.how.items():
            print(f"{name or '(no name)'}: {how}")
    headings |= {"separator": "Separator", "left_out": "Left out"}
    headings |= ({"incomplete": "Incomplete"} if found.incomplete else {}) | {"out": "Written to"}
    return tell(record, as_json=as_json, headings=headings)

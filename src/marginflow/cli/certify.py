"""`marginflow certify NETWORK DATA`: is this network a KKT point of the max-margin problem on these data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marginflow import certificates
from marginflow.arrays import real_number
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile
from marginflow.cli.output import check_target, result_text
from marginflow.cli.progress import progress
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.storage import write_text


def certify(
    network: NetworkFile,
    data: DataFile,
    *,
    tolerance: Annotated[
        float, Parameter(help="Largest residual at which a condition counts as fulfilled.")
    ] = certificates.DEFAULT_TOLERANCE,
    penalty: Annotated[float | None, Parameter(help="C of the soft margin; without it the margin is hard.")] = None,
    start: Annotated[
        Path | None, Parameter(help="The network that training started from; adds the residual it cannot get below.")
    ] = None,
    label: Label = None,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="Also write the whole certificate, arrays included, as .json."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every KKT condition holds at the tolerance, 1 if one does not."""
    real_number("--tolerance", tolerance, above=0.0)
    if out is not None:
        check_target(out, (".json",), force=force)
    judged, dataset = TwoLayer.load(network), Dataset.load(data, label=label)
    begun = None if start is None else TwoLayer.load(start)
    with progress("Certifying"):
        certificate = certificates.certify(judged, dataset, penalty=penalty, initial=begun)
    holds = certificate.holds(tolerance)
    answer = {"holds": holds, "tolerance": tolerance}
    if out is not None:
        write_text(out, result_text(certificate.to_dict() | answer) + "\n")
    if as_json:
        print(result_text(certificate.to_dict(arrays=False) | answer | {"out": out}))
    else:
        print(certificate.told(tolerance))
        if out is not None:
            print(f"Written to {out}")
    return DONE if holds else DOES_NOT_HOLD

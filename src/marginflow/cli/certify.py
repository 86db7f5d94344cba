"""`marginflow certify NETWORK DATA`: is this network a KKT point of the max-margin problem on these data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.arrays import real_number
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile, Tolerance
from marginflow.cli.output import check_target, result_text
from marginflow.cli.progress import progress
from marginflow.storage import write_text


def certify(
    network: NetworkFile,
    data: DataFile,
    *,
    tolerance: Tolerance = None,
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
    chosen = mf.certificates.DEFAULT_TOLERANCE if tolerance is None else tolerance
    real_number("--tolerance", chosen, above=0.0)
    if out is not None:
        check_target(out, (".json",), force=force)
    judged, dataset = mf.networks.TwoLayer.load(network), mf.data.Dataset.load(data, label=label)
    begun = None if start is None else mf.networks.TwoLayer.load(start)
    with progress("Certifying"):
        certificate = mf.certify(judged, dataset, penalty=penalty, start=begun)
    holds = certificate.holds(chosen)
    answer = {"holds": holds, "tolerance": chosen}
    if out is not None:
        write_text(out, result_text(certificate.to_dict() | answer) + "\n")
    if as_json:
        print(result_text(certificate.to_dict(arrays=False) | answer | {"out": out}))
    else:
        print(certificate.summary(chosen))
        if out is not None:
            print(f"Written to {out}")
    return DONE if holds else DOES_NOT_HOLD

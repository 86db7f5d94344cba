"""`marginflow certify NETWORK DATA`: is this network a KKT point of the max-margin problem on these data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile, Penalty, Tolerance, written
from marginflow.cli.output import check_target, deliver
from marginflow.cli.progress import progress


def certify(
    network: NetworkFile,
    data: DataFile,
    *,
    tolerance: Tolerance = None,
    penalty: Penalty = None,
    start: Annotated[
        Path | None, Parameter(help="The network that training started from; adds the residual it cannot get below.")
    ] = None,
    label: Label = None,
    out: Annotated[Path | None, written("Also write the whole certificate, arrays included, as .json.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every KKT condition holds at the tolerance, 1 if one does not."""
    chosen = mf.certificates.DEFAULT_TOLERANCE if tolerance is None else tolerance
    if out is not None:
        check_target(out, (".json",), force=force)
    judged, dataset = mf.networks.TwoLayer.load(network), mf.data.Dataset.load(data, label=label)
    begun = None if start is None else mf.networks.TwoLayer.load(start)
    with progress("Certifying"):
        certificate = mf.certify(judged, dataset, penalty=penalty, start=begun)
    holds = certificate.holds(chosen)
    answer = {"holds": holds, "tolerance": chosen}
    deliver(
        certificate.to_dict(arrays=False) | answer | {"out": out},
        as_json=as_json,
        out=out,
        whole=certificate.to_dict() | answer,
        describe=lambda: print(certificate.summary(chosen)),
    )
    return DONE if holds else DOES_NOT_HOLD

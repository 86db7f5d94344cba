"""`marginflow certify NETWORK DATA`: is this network a KKT point of the max-margin problem on these data?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.classes import for_two_classes_only, network_and_data, one_output
from marginflow.cli.options import AsJson, DataFile, Force, Label, NetworkFile, Penalty, Tolerance, written
from marginflow.cli.output import check_target, deliver
from marginflow.cli.progress import progress

if TYPE_CHECKING:
    from marginflow.certificates import Certificate
    from marginflow.certificates.classes import ClassifierKKT


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
    """Exit code 0 if every KKT condition holds at the tolerance, 1 if one does not.

    A network with a logit for each class is asked about the conditions of the multi-class max-margin problem.
    """
    chosen = mf.certificates.DEFAULT_TOLERANCE if tolerance is None else tolerance
    check_target(out, (".json",), force=force)
    judged, dataset, labels = network_and_data(network, data, label)
    certificate: Certificate | ClassifierKKT
    if isinstance(judged, mf.networks.Classifier):
        for_two_classes_only(judged, penalty=penalty is not None, start=start is not None)
        with progress("Certifying"):
            certificate = mf.certificates.certify_classifier(judged, dataset.X, labels)
    else:
        begun = None if start is None else one_output(start)
        with progress("Certifying"):
            certificate = mf.certify(judged, dataset, penalty=penalty, start=begun)
    holds = certificate.holds(chosen)
    answer = {"holds": holds, "tolerance": chosen}
    return deliver(
        certificate.to_dict(arrays=False) | answer | {"out": out},
        as_json=as_json,
        out=out,
        whole=certificate.to_dict() | answer,
        describe=lambda: print(certificate.summary(chosen)),
        holds=holds,
    )

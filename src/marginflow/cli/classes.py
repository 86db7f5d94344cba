"""Networks with one output and with one logit for each class: what a command takes, and which labels samples have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import marginflow as mf
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.arrays import FloatArray, IntArray


def network_and_data(
    network: Path, data: Path, label: str | None
) -> tuple[mf.networks.TwoLayer | mf.networks.Classifier, mf.data.Dataset, FloatArray | IntArray]:
    """Both as they are, and the label of each sample: -1 or +1, or of a classifier the logit that belongs to it."""
    judged, dataset = mf.networks.load_network(network), mf.data.Dataset.load(data, label=label)
    require_dimension(judged, network, dataset, data)
    if isinstance(judged, mf.networks.Classifier):
        return judged, dataset, mf.audits.classes.logit_numbers(dataset, judged.n_classes)
    if dataset.n_classes > 2:
        raise InputError(
            f"{network} has one output, but {data} has {dataset.n_classes} classes; a network with a logit for each "
            "class is expected, or data with two classes."
        )
    return judged, dataset, dataset.y


def require_dimension(
    network: mf.networks.TwoLayer | mf.networks.Classifier, file: Path, data: mf.data.Dataset, samples: Path
) -> None:
    """Refuse a network and samples that do not belong together, by the names of their files."""
    if network.dimension != data.dimension:
        raise InputError(
            f"{file} takes points of dimension {network.dimension}, but the samples of {samples} have "
            f"{data.dimension} columns."
        )


def one_output(path: Path) -> mf.networks.TwoLayer:
    """A network with one output, for commands whose subject is -1 and +1."""
    network = mf.networks.load_network(path)
    if isinstance(network, mf.networks.Classifier):
        raise InputError(
            f"{path} has {network.n_classes} logits, and this takes networks with one output; audit, certify, curve, "
            "flip and radius take a logit for each class."
        )
    return network


def for_two_classes_only(network: mf.networks.Classifier, **given: bool) -> None:
    """Refuse options that mean something with one output only."""
    refused = [f"--{name}" for name, was in given.items() if was]
    if refused:
        raise InputError(
            f"The network has {network.n_classes} logits; {' and '.join(refused)} "
            f"{'is' if len(refused) == 1 else 'are'} for networks with one output. Leave it out."
        )

"""Networks with one output and with one logit for each class: what a command takes, and which logits samples have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import marginflow as mf
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.arrays import IntArray


def network_and_data(
    network: Path, data: Path, label: str | None
) -> tuple[mf.networks.TwoLayer | mf.networks.Classifier, mf.data.Dataset, IntArray | None]:
    """Both as they are, and for a classifier the logit that belongs to each sample."""
    judged, dataset = mf.networks.load_network(network), mf.data.Dataset.load(data, label=label)
    if judged.dimension != dataset.dimension:
        raise InputError(
            f"{network} takes points of dimension {judged.dimension}, but the samples of {data} have "
            f"{dataset.dimension} columns."
        )
    if isinstance(judged, mf.networks.Classifier):
        return judged, dataset, logits_of(dataset, judged)
    if dataset.n_classes > 2:
        raise InputError(
            f"{network} has one output, but {data} has {dataset.n_classes} classes; a network with a logit for each "
            "class is expected, or data with two classes."
        )
    return judged, dataset, None


def logits_of(data: mf.data.Dataset, network: mf.networks.Classifier) -> IntArray:
    """The logit that belongs to each sample."""
    from marginflow.audits.classes import logit_numbers

    return logit_numbers(data, network.n_classes)


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

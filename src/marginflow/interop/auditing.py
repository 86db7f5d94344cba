"""`mf.audit(model, X, y)`: an audit of a network from any library, and of the head of a deeper one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marginflow import audits
from marginflow.audits import Audit, ClassesAudit
from marginflow.data import Dataset
from marginflow.data.classes import SIGNS
from marginflow.data.raw_table import some_of
from marginflow.errors import InputError
from marginflow.interop.folding import Linear, Model, fold, linear_as_two_layers
from marginflow.interop.models import load_script, read_model
from marginflow.interop.torch_heads import split_head
from marginflow.networks import TwoLayer
from marginflow.storage import existing_file

# Share of wrong samples at which an assumed activation is doubted; a network that was trained is seldom so wrong.
_DOUBTFUL = 0.2


def audit(model: object, X: Dataset | ArrayLike, y: ArrayLike | None = None, **options: Any) -> Audit | ClassesAudit:
    """Say of a trained network whether it is near a KKT point, what flips it, and which theorems speak of it.

    Parameters
    ----------
    model : TwoLayer, torch.nn.Module, TorchScript, onnx.ModelProto, MLPClassifier, Pipeline, or the name of a file
        With one hidden layer of ReLU or LeakyReLU; what can be folded in exactly is folded
        (`marginflow.interop.folding`), and `remarks` says so.
    X, y : arrays, shapes (n, d) and (n,)
        The samples and labels of the training; or a `Dataset` alone. Labels of as many kinds as there are classes.
    **options
        As in `marginflow.audits.audit` (start, points, time_limit, point_time_limit, tolerance, seed, progress) or,
        with more than two classes, `marginflow.audits.audit_classes` (points, time_limit, tolerance, seed, progress).

    Returns
    -------
    Audit, or ClassesAudit with more than two classes

    Examples
    --------
    >>> import marginflow as mf
    >>> network = mf.networks.TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> found = mf.audit(network, [[1.0, 0.0], [0.0, 1.0]], ["yes", "no"], points=0)
    >>> found.is_kkt_point, found.data.classes
    (True, ('no', 'yes'))
    """
    read = read_model(model)
    start = options.pop("start", None)
    begun = None if start is None else read_model(start).two_classes()
    data = _dataset(X, y)
    numbers = SIGNS if data.n_classes == 2 else tuple(range(data.n_classes))  # what a data set has in place of labels
    if read.classes is not None and not (isinstance(X, Dataset) and read.classes == numbers):
        data = _in_the_order_of(read.classes, data)
    return _audited(read, data, start=begun, **options)


def audit_head(module: Any, X: ArrayLike, y: ArrayLike, **options: Any) -> Audit | ClassesAudit:
    """The same of the last Linear, ReLU, Linear (or the last Linear) of a torch module, on the features before it.

    Parameters
    ----------
    module : torch.nn.Module
        A `Sequential`, or a class whose `forward` can be traced. What it computes before the head runs once on X, in
        evaluation, in blocks.
    X, y : arrays
        What the module takes, first axis the samples, and the labels.
    **options
        As in `marginflow.audits.audit`.

    Returns
    -------
    Audit or ClassesAudit
        Of the head as a network and the features as its data: radii and flips are lengths in feature space.
    """
    pieces, head_names, body, body_names = split_head(module)
    remarks: list[str] = []
    if len(pieces) == 1:
        (last,) = pieces
        assert isinstance(last, Linear)
        pieces = linear_as_two_layers(last.W, last.b)
        remarks.append("The head is linear; it was written as two ReLU neurons for each output, w . x = relu - relu.")
    head = ", ".join(head_names)
    if body_names:
        remarks.append(
            f"Audited is the head ({head}) on the features that {', '.join(body_names)} compute: radii and flips "
            "are lengths in feature space, not in the space of the inputs."
        )
    else:
        remarks.append(
            f"The head ({head}) is the whole network: radii and flips are lengths in the space of the inputs."
        )
    features = _features(body, np.asarray(X))
    # The data set itself makes arrays of what it is given.
    return _audited(fold(pieces, remarks=remarks), Dataset(features, y), **options)  # type: ignore[arg-type]


def _dataset(X: Dataset | ArrayLike, y: ArrayLike | None) -> Dataset:
    if isinstance(X, Dataset):
        if y is not None:
            raise InputError("X is a Dataset, which has its labels; y must not be given beside it.")
        return X
    if y is None:
        raise InputError("y is missing; the labels of the samples are expected, or a Dataset alone.")
    return Dataset(X, y)  # type: ignore[arg-type]  # the data set itself makes arrays of what it is given


def _in_the_order_of(classes: tuple[Any, ...], data: Dataset) -> Dataset:
    """The data with labels numbered as the outputs of a model that knows its classes; -1 and +1 are numbers already."""
    if data.classes in (classes, SIGNS):
        return data
    unknown = [label for label in data.classes if label not in classes]
    if unknown:
        raise InputError(
            f"The samples have the {'label' if len(unknown) == 1 else 'labels'} {', '.join(map(repr, unknown))}, but "
            f"the model was fitted to {', '.join(map(repr, classes))}; labels of these are expected."
        )
    index = ((data.y + 1.0) / 2.0 if data.n_classes == 2 else data.y).astype(np.int64)
    numbers = np.array([classes.index(label) for label in data.classes])[index].astype(np.float64)
    return replace(data, y=2.0 * numbers - 1.0 if len(classes) == 2 else numbers, classes=classes)


def _audited(model: Model, data: Dataset, **options: Any) -> Audit | ClassesAudit:
    network = model.network
    if network.dimension != data.dimension:
        raise InputError(
            f"The network takes points of dimension {network.dimension}, but the samples have {data.dimension} columns."
        )
    if isinstance(network, TwoLayer) and data.n_classes > 2:
        raise InputError(
            f"The network decides between two classes, but the samples have {data.n_classes} labels "
            f"({some_of(data.classes)}); take the samples of two of them, or one against the rest: "
            "mf.audit(model, X, y == label)."
        )
    found: Audit | ClassesAudit
    if isinstance(network, TwoLayer):
        found = audits.audit(network, data, **options)
    else:
        if options.pop("start", None) is not None:
            raise InputError(f"start is for two classes, but the network has {network.n_classes}; leave it out.")
        options.pop("point_time_limit", None)
        found = audits.audit_classes(network, data, **options)
    remarks = model.remarks
    if model.assumed and found.wrong >= _DOUBTFUL * data.n_samples:
        remarks = (
            *remarks,
            f"{found.wrong} of {data.n_samples} samples are on the wrong side, which suggests that the activation is "
            "another one, or that the labels are the other way round; a module, TorchScript or ONNX says which it is.",
        )
    return replace(found, remarks=remarks)


def features_of(body: str | Path, data: Dataset) -> Dataset:
    """The data with the features that the layers of a TorchScript file compute in place of their columns."""
    source = existing_file(body)
    module = load_script(source)
    features = _features(module, data.X.copy())  # torch wants arrays that can be written to
    return Dataset(X=features, y=data.y, classes=data.classes)


def _features(body: Any, X: np.ndarray, block: int = 1024) -> np.ndarray:
    import torch

    was_training = body.training
    kind = next((parameter.dtype for parameter in body.parameters()), torch.float64)
    body.eval()
    try:
        with torch.no_grad():
            parts = [body(torch.as_tensor(X[i : i + block]).to(kind)) for i in range(0, len(X), block)]
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"The layers before the head do not take X: {' '.join(str(error).split())[:200]}.") from None
    finally:
        body.train(was_training)
    features: np.ndarray = torch.cat([part.flatten(1) for part in parts]).to(torch.float64).numpy()
    return features


audit.head = audit_head  # type: ignore[attr-defined]  # functions take attributes, which mypy does not know

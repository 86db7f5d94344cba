"""One door for models of other libraries: torch modules, TorchScript, ONNX, scikit-learn, files of all of these."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.interop import files, onnx
from marginflow.interop.folding import DEEPER, Linear, Model, Piece, Rectifier, fold, scaling
from marginflow.interop.onnx_graph import read_pieces
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.layers import Layer, Outputs

_PICKLES = (".pkl", ".pickle", ".joblib")
_TAKEN = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "MLPClassifier", "MaxMarginReLUClassifier")


def read_model(model: object, *, outputs: Outputs | None = None) -> Model:
    """A model of any kind that we know as two layers that compute the same, with remarks on what was folded.

    Parameters
    ----------
    model : TwoLayer, Classifier, torch.nn.Module, state_dict, TorchScript, ONNX, MLPClassifier, Pipeline, str or Path
        A name of a file ends in `.safetensors`, `.pt`, `.pth` or `.onnx`.
    outputs : "trained", "frozen" or None
        Whether the output weights belong to the parameters; None: as the model notes it, else trained.

    Returns
    -------
    Model
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, TwoLayer | Classifier):
        return Model(network=model)
    if isinstance(model, str | Path):
        return _of_file(Path(model), outputs)
    library = type(model).__module__.split(".")[0]
    if library == "sklearn" or type(model).__module__ == "marginflow.interop.sklearn":
        return fold(_of_sklearn(model), outputs=outputs)
    if library == "onnx":
        pieces, noted = read_pieces(model)
        return fold(pieces, outputs=noted if outputs is None else outputs)
    if isinstance(model, Mapping) and model and all(_is_tensor(value) for value in model.values()):
        from marginflow.interop.torch import arrays

        layers = files.layers_by_shape(arrays(model))
        return _of_layers(layers, "trained" if outputs is None else outputs, assumed=True)
    if _is_torch(model):
        from marginflow.interop.torch_modules import pieces_of

        return fold(pieces_of(model), remarks=_in_training(model), outputs=outputs)
    raise InputError(
        f"The model is {brief(model)}; a TwoLayer, a torch module or its state_dict, an ONNX model, a scikit-learn "
        "MLPClassifier or Pipeline, a MaxMarginReLUClassifier, or the name of a file is expected."
    )


def _is_torch(model: object) -> TypeGuard[Any]:
    return any(base.__module__.split(".")[0] == "torch" for base in type(model).__mro__)


def _in_training(module: Any) -> list[str]:
    """What to say of a module that computes something else in training, and is in training."""
    layers = {type(layer).__name__ for layer in module.modules() if layer.training}
    other = sorted(name for name in layers if "Dropout" in name or "BatchNorm" in name)
    if not other:
        return []
    return [f"The module is in training mode ({', '.join(other)}); audited is what it computes after module.eval()."]


def _of_layers(layers: list[Layer], outputs: Outputs, *, assumed: bool = False) -> Model:
    pieces: list[Piece] = []
    for W, b in layers:
        pieces += [Linear(W=W, b=b), Rectifier()]
    said = ["The file holds weights only; that the activation is ReLU is assumed."] if assumed else []
    model = fold(pieces[:-1], remarks=said, outputs=outputs)
    return Model(network=model.network, remarks=model.remarks, assumed=assumed)


def _of_file(source: Path, outputs: Outputs | None) -> Model:
    suffix = source.suffix.lower()
    if suffix not in files.SUFFIXES:
        named = f"{source} ends in {source.suffix!r}; networks end in {', '.join(files.SUFFIXES)}"
        if suffix in _PICKLES:
            raise InputError(
                f"{named}. A pickle is not opened because that can run code: call mf.audit(model, X, y) in Python, or "
                "write a model of scikit-learn as ONNX by skl2onnx."
            )
        raise InputError(f"{named}.")
    try:
        if suffix == ".onnx":
            pieces, noted = onnx.load_pieces(source)
            return fold(pieces, outputs=noted if outputs is None else outputs)
        if suffix != ".safetensors" and _is_script(source):
            from marginflow.interop.torch_modules import script_pieces

            return fold(script_pieces(load_script(source)), outputs=outputs)
        layers, noted, ours = files.load_layers(source)
        return _of_layers(layers, noted if outputs is None else outputs, assumed=not ours)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(source)) or str(source) in text else f"{source}: {text}") from None


def _is_tensor(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "torch"


def _is_script(source: Path) -> bool:
    """Whether a file is an archive of TorchScript, which keeps its code beside its weights."""
    try:
        with zipfile.ZipFile(source) as archive:
            return any("/code/" in name for name in archive.namelist())
    except Exception:  # not an archive, or a damaged one, which the reader of tensors says better
        return False


def load_script(source: Path) -> Any:
    """A TorchScript archive on the processor."""
    try:
        import torch
    except ImportError:
        raise InputError(f"Reading {source} needs the package torch; install marginflow[torch].") from None
    try:
        return torch.jit.load(source, map_location="cpu")
    except Exception as error:  # damage shows itself in whatever torch's compiler stumbles over
        raise InputError(f"{source} is not a readable TorchScript archive ({type(error).__name__}).") from None


def _of_sklearn(model: Any) -> list[Piece]:
    """An `MLPClassifier` with one hidden layer or our own, alone or at the end of a `Pipeline` behind scalers."""
    kind = type(model).__name__
    if kind == "Pipeline":
        return [piece for _, step in model.steps if step not in ("passthrough", None) for piece in _of_sklearn(step)]
    if kind in _TAKEN and not hasattr(model, "n_features_in_"):
        raise InputError(f"The {kind} is not fitted; call fit first.")
    if kind == "StandardScaler":
        d = int(model.n_features_in_)
        scale = np.ones(d) if model.scale_ is None else 1.0 / np.asarray(model.scale_, dtype=np.float64)
        mean = np.zeros(d) if model.mean_ is None or not model.with_mean else np.asarray(model.mean_, dtype=np.float64)
        return [scaling(scale, -scale * mean, kind)]
    if kind in ("MinMaxScaler", "MaxAbsScaler", "RobustScaler"):
        return [_other_scaler(model, kind)]
    if kind == "MaxMarginReLUClassifier":
        (W, b), (V, c) = model.network_.layers
        return [Linear(W=W, b=b), Rectifier(), Linear(W=V, b=c)]
    if kind != "MLPClassifier":
        raise InputError(
            f"The model has the step {kind}; MLPClassifier, alone or behind a StandardScaler (or MinMaxScaler, "
            "MaxAbsScaler, RobustScaler), is expected."
        )
    if model.activation != "relu":
        raise InputError(f"The MLPClassifier has the activation {model.activation!r}; 'relu' is expected.")
    chain: list[Piece] = []
    for W, b in zip(model.coefs_, model.intercepts_, strict=True):
        chain += [Linear(W=np.asarray(W, dtype=np.float64).T, b=np.asarray(b, dtype=np.float64)), Rectifier()]
    if len(model.coefs_) != 2:
        raise InputError(
            f"The MLPClassifier has {len(model.coefs_) - 1} hidden layers; one is expected. Of two classes it is "
            "mf.networks.MLP.from_layers([(W.T, b) for W, b in zip(model.coefs_, model.intercepts_)]), a network of "
            f"which {DEEPER}."
        )
    return chain[:-1]


def _other_scaler(model: Any, kind: str) -> Piece:
    """x -> scale x + shift of the scalers that have other names for their numbers."""
    d = int(model.n_features_in_)
    if kind == "MinMaxScaler":
        if model.clip:
            raise InputError("The MinMaxScaler clips, which is not linear; MinMaxScaler(clip=False) is expected.")
        return scaling(np.asarray(model.scale_, dtype=np.float64), np.asarray(model.min_, dtype=np.float64), kind)
    if getattr(model, "clip", False):
        raise InputError(f"The {kind} clips, which is not linear; {kind}(clip=False) is expected.")
    scale = np.ones(d) if model.scale_ is None else 1.0 / np.asarray(model.scale_, dtype=np.float64)
    centre = getattr(model, "center_", None)
    return scaling(scale, np.zeros(d) if centre is None else -scale * np.asarray(centre, dtype=np.float64), kind)

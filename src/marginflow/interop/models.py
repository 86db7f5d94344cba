"""One door for models of other libraries: torch modules, TorchScript, ONNX, scikit-learn, files of all of these."""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from marginflow.arrays import one_of
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.interop import files, onnx
from marginflow.interop.folding import Linear, Model, Piece, Rectifier, fold
from marginflow.interop.onnx_graph import read_pieces
from marginflow.interop.sklearn_models import LINEAR, is_linear, known_classes, sklearn_pieces
from marginflow.interop.torch import CHECKPOINTS, arrays, load_state
from marginflow.interop.torch_modules import pieces_of, script_pieces
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.layers import Layer, Outputs
from marginflow.storage import load_tensors

_PICKLES = (".pkl", ".pickle", ".joblib")


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
        pieces = sklearn_pieces(model)
        said = [LINEAR] if is_linear(model) else []
        return replace(fold(pieces, remarks=said, outputs=outputs), classes=known_classes(model))
    if library == "onnx":
        pieces, noted = read_pieces(model)
        return fold(pieces, outputs=noted if outputs is None else outputs)
    if isinstance(model, Mapping) and (state := _state(model)):
        layers = files.layers_by_shape(arrays(state))
        return _of_layers(layers, "trained" if outputs is None else outputs, assumed=True)
    if _is_torch(model):
        return fold(pieces_of(model), remarks=_in_training(model), outputs=outputs)
    raise InputError(
        f"The model is {brief(model)}; a TwoLayer or Classifier of ours, a torch module or its state_dict, an ONNX "
        "model, an MLPClassifier, linear classifier or Pipeline of scikit-learn, a MaxMarginReLUClassifier, or the "
        "name of a file is expected. Arrays become a network as mf.networks.TwoLayer(W=, b=, v=) or "
        "mf.networks.Classifier(W=, b=, V=, c=)."
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


def _of_layers(layers: list[Layer], outputs: Outputs, *, assumed: bool) -> Model:
    pieces: list[Piece] = []
    for W, b in layers:
        pieces += [Linear(W=W, b=b), Rectifier()]
    said = ["The file holds weights only; that the activation is ReLU is assumed."] if assumed else []
    return replace(fold(pieces[:-1], remarks=said, outputs=outputs), assumed=assumed)


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
            return read_model(onnx.load_model(source), outputs=outputs)
        if suffix == ".safetensors":
            state, metadata = load_tensors(source)
        elif _is_script(source):
            return fold(script_pieces(load_script(source)), outputs=outputs)
        else:
            state, metadata = load_state(source), {}
        noted = one_of("outputs", metadata.get("outputs", "trained"), ("trained", "frozen"))
        frozen = (noted if outputs is None else outputs) == "frozen"
        layers = files.layers_by_shape(state)
        return _of_layers(layers, "frozen" if frozen else "trained", assumed="marginflow" not in metadata)
    except InputError as error:
        text = str(error)
        raise InputError(text if str(source) in text else f"{source}: {text}") from None


def _state(model: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The `state_dict`, also in a checkpoint that keeps it under one of its usual names; None if there is none."""
    for name in CHECKPOINTS:
        if isinstance(model.get(name), Mapping):
            model = model[name]
    return model if model and all(_is_torch(value) for value in model.values()) else None


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

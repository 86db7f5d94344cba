"""The ways from our networks to other libraries, which are imported when they are asked for."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from marginflow.doors import checked


class Exported:
    """What every network has: itself as a module of torch, an ONNX model, a classifier of scikit-learn."""

    @checked
    def to_torch(self, *, dtype: Any = None) -> Any:
        """A `torch.nn.Sequential(Linear, ReLU, ..., Linear)`, float64 bit for bit; needs the extra `torch`."""
        return _door("torch").to_module(self, dtype=dtype)

    @checked
    def to_onnx(self, path: str | Path | None = None, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
        """An ONNX model, or the file `path` written with it; needs the extra `onnx`."""
        door = _door("onnx")
        return door.to_model(self, dtype=dtype) if path is None else door.save(self, path, dtype=dtype)

    @checked
    def to_sklearn(self, classes: Sequence[Any] | None = None) -> Any:
        """A fitted `sklearn.neural_network.MLPClassifier` with the same weights; needs the extra `sklearn`.

        Parameters
        ----------
        classes : sequence of labels, or None
            In ascending order; None: -1 and 1 for one output, of which 1 is predicted where N(x) > 0, and
            0, ..., K - 1 for K logits.
        """
        return _door("sklearn_models").to_classifier(self, classes)


def _door(library: str) -> Any:
    """A door to another library, opened when it is asked for: this room knows none of them."""
    return importlib.import_module(f"marginflow.interop.{library}")

"""Which exact way of computing the gradient is cheapest for a network and its samples."""

from typing import Literal

from marginflow.arrays import FloatArray, one_of
from marginflow.errors import InputError
from marginflow.flow.dense import DenseTwoLayer
from marginflow.flow.gram import GramTwoLayer
from marginflow.flow.planar import PlanarTwoLayer
from marginflow.flow.trainable import AbstractTrainable, MLPTrainable, Network
from marginflow.networks import MLP

Engine = Literal["auto", "dense", "span", "gram", "planar", "layers"]


def trainable(
    network: Network,
    X: FloatArray,
    y: FloatArray,
    *,
    batch: int | None,
    engine: Engine = "auto",
    needs_lengths: bool = False,
) -> tuple[Engine, AbstractTrainable]:
    """The engine and the model; "auto" takes the cheapest that applies.

    "planar" for frozen outputs in the plane without bias, "gram" for frozen outputs with d > n, both with full batches
    only; "span" where d > n, also for steps whose size needs the lengths of theta and the gradient (two more products
    in Gram coordinates); "dense" otherwise; "layers" for an MLP.
    """
    one_of("engine", engine, ("auto", "dense", "span", "gram", "planar", "layers"))
    n, d = X.shape
    if isinstance(network, MLP):
        if engine not in ("auto", "layers"):
            raise InputError(f"engine is {engine!r}, but an MLP is trained layer by layer; 'auto' is expected.")
        return "layers", MLPTrainable(network, X, y)
    if engine == "layers":
        raise InputError("engine is 'layers', but the network has two layers; 'auto' or another engine is expected.")
    if engine == "auto":
        frozen = network.outputs == "frozen" and batch is None
        if frozen and d == 2 and network.b is None:
            engine = "planar"
        elif d > n:
            engine = "gram" if frozen and not needs_lengths else "span"
        else:
            engine = "dense"
    if batch is not None and engine in ("planar", "gram"):
        raise InputError(f"engine is {engine!r}, which has no mini-batches; 'dense' or 'span' is expected.")
    if engine == "planar":
        return engine, PlanarTwoLayer(network, X, y)
    if engine == "gram":
        return engine, GramTwoLayer(network, X, y)
    return engine, DenseTwoLayer(network, X, y, reduce=engine == "span", capacity=batch)

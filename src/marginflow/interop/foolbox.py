r"""foolbox: our networks as foolbox models, so that its attacks can be run beside ours.

foolbox attacks classifiers with one logit per class; a network with one output N becomes the two logits
(-N / 2, N / 2), class 0 for label -1 and class 1 for label +1. Their difference is N, in value and gradient. Ties go to
class 0, that is sign(0) = -1.

Needs the extra `foolbox` (foolbox and torch); both are imported when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labelled_rows, matrix
from marginflow.errors import InputError
from marginflow.interop.torch import to_module
from marginflow.networks import MLP, TwoLayer

if TYPE_CHECKING:
    import foolbox
    import torch

# foolbox insists on a box around the inputs; ours is meant never to be felt. Some of its attacks measure their step
# sizes in widths of the box, so give `bounds` when you use one of those.
WIDE = (-1e6, 1e6)


def to_logits(network: TwoLayer | MLP, *, dtype: torch.dtype | None = None) -> torch.nn.Module:
    """The network with two logits (-N / 2, N / 2), shape (n, d) to (n, 2); float64 unless said otherwise."""
    import torch

    module = to_module(network, dtype=dtype)
    last = module[-1]
    assert isinstance(last, torch.nn.Linear)
    pair = torch.nn.Linear(last.in_features, 2, bias=last.bias is not None, dtype=last.weight.dtype)
    with torch.no_grad():
        for name, parameter in last.named_parameters():
            pair.get_parameter(name).copy_(torch.cat([-0.5 * parameter, 0.5 * parameter]))
    return torch.nn.Sequential(*list(module)[:-1], pair).eval()


def to_foolbox(
    network: TwoLayer | MLP, *, bounds: tuple[float, float] = WIDE, dtype: torch.dtype | None = None
) -> foolbox.PyTorchModel:
    """A `foolbox.PyTorchModel` of the network on the CPU.

    Parameters
    ----------
    network : TwoLayer or MLP
    bounds : pair of floats
        The box that foolbox asks for; the default is wide enough not to matter.
    dtype : torch.dtype or None
        None is `torch.float64`; inputs must have the same type.
    """
    import foolbox

    low, high = bounds
    if not low < high:
        raise InputError(f"bounds is ({low:g}, {high:g}); a lower and a larger upper bound are expected.")
    return foolbox.PyTorchModel(to_logits(network, dtype=dtype), bounds=(float(low), float(high)), device="cpu")


def to_inputs(X: ArrayLike, y: ArrayLike) -> tuple[torch.Tensor, torch.Tensor]:
    """Points and labels as foolbox wants them: a float64 tensor, and classes 0 (label -1) and 1 (label +1)."""
    import torch

    points, signs = labelled_rows("X", X, "y", y)
    return torch.tensor(points), torch.tensor((signs > 0).astype(np.int64))


def perturbations(adversarials: torch.Tensor, X: ArrayLike) -> FloatArray:
    """What an attack added to the points, shape (n, d), float64: judge it by evaluating the network again."""
    points = matrix("X", X)
    moved = np.asarray(adversarials.detach().cpu().numpy(), dtype=np.float64)
    if moved.shape != points.shape:
        raise InputError(f"The adversarials have shape {moved.shape}, but X has shape {points.shape}.")
    return moved - points

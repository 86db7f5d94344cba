"""A torch module in two parts: its last Linear, ReLU, Linear (or Linear), and what computes the features before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marginflow.errors import InputError
from marginflow.interop.folding import Piece
from marginflow.interop.torch_modules import node_pieces, traced, unwrapped

if TYPE_CHECKING:
    import torch

_RECTIFIERS = ("ReLU", "LeakyReLU", "relu", "relu_", "leaky_relu")


def split_head(module: object) -> tuple[list[Piece], list[str], torch.nn.Module, list[str]]:
    """Follow what a module computes, a `Sequential` or a class of somebody's own, and cut it before its head.

    The head as pieces and the names of its layers, the body as a module and the names of its layers.
    """
    import torch

    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        raise InputError(f"A head is taken from a torch.nn.Module, not from a {type(module).__name__}.")
    inner = unwrapped(module)
    # A layer alone would be traced into its parts.
    whole = inner if list(inner.children()) else torch.nn.Sequential(inner)
    graph = traced(whole, "give its layers as", of=module)
    modules: dict[str, Any] = dict(whole.named_modules())
    last = _before(next(node for node in graph.nodes if node.op == "output"), modules)
    if not _is_linear(last, modules):
        raise InputError(f"The module ends in {_name(last, modules)}; a Linear is expected.")
    bend = _before(last, modules)
    hidden = _before(bend, modules) if _name(bend, modules) in _RECTIFIERS else bend
    nodes = [hidden, bend, last] if hidden is not bend and _is_linear(hidden, modules) else [last]
    cut = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    for node in graph.nodes:
        if node is nodes[0]:
            break
        copies[node] = cut.node_copy(node, lambda argument: copies[argument])
    cut.output(copies[nodes[0].args[0]])
    body = torch.fx.GraphModule(whole, cut)
    cut = body.graph
    cut.eliminate_dead_code()
    body.recompile()
    head = [piece for node in nodes for piece in node_pieces(node, modules)]
    names = [_name(node, modules) for node in cut.nodes if node.op.startswith("call") and not _silent(node, modules)]
    return head, [_name(node, modules) for node in nodes], body, names


def _before(node: Any, modules: dict[str, Any]) -> Any:
    """What a node takes, past layers that do nothing in evaluation."""
    given: Any = node.args[0] if node.args else None
    while hasattr(given, "op") and _silent(given, modules):
        given = given.args[0]
    return given


def _silent(node: Any, modules: dict[str, Any]) -> bool:
    return _name(node, modules) in ("Dropout", "Identity", "dropout")


def _is_linear(node: Any, modules: dict[str, Any]) -> bool:
    import torch
    from torch.nn.utils.parametrize import type_before_parametrizations

    if getattr(node, "op", None) != "call_module":
        return False
    return type_before_parametrizations(modules[str(node.target)]) is torch.nn.Linear


def _name(node: Any, modules: dict[str, Any]) -> str:
    """A layer by its class, a function by its name."""
    if not hasattr(node, "op"):
        return "several outputs" if isinstance(node, tuple | list | dict) else "nothing"
    if node.op == "call_module":
        return type(modules[str(node.target)]).__name__
    if node.op == "placeholder":
        return "nothing"
    return node.target if isinstance(node.target, str) else str(getattr(node.target, "__name__", node.target))

"""The hot loop against torch's autograd, an outside truth."""

import numpy as np
import pytest

from marginflow.flow.kernel import TwoLayerKernel
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import Exponential, Logistic
from marginflow.networks.evaluation import augmented_samples

torch = pytest.importorskip("torch", reason="torch is an extra; its autograd is the oracle of this file")


@pytest.mark.parametrize("loss", [Exponential(), Logistic("mean", "2")], ids=repr)
def test_kernel_agrees_with_autograd(loss):
    rng = np.random.default_rng(0)
    n, d, k = 40, 7, 25
    X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    A, v = rng.standard_normal((k, d + 1)), rng.standard_normal(k)
    kernel = TwoLayerKernel(augmented_samples(X, bias=True), y, k, None)
    theta, out = ParameterVector(kernel.shapes).fill([A, v]), ParameterVector(kernel.shapes)
    log_loss = kernel.evaluate(theta, loss, out) + loss.log_scale(n)

    At, vt = torch.tensor(A, requires_grad=True), torch.tensor(v, requires_grad=True)
    margins = torch.tensor(y) * (torch.relu(torch.tensor(augmented_samples(X, bias=True)) @ At.T) @ vt)
    if isinstance(loss, Exponential):
        value = torch.exp(-margins).sum()
    else:
        # Not softplus, which torch replaces by its argument beyond 20.
        value = (torch.logaddexp(torch.zeros_like(margins), -margins) / np.log(2.0)).mean()
    torch.log(value).backward()
    assert log_loss == pytest.approx(float(torch.log(value.detach())), rel=1e-13)
    np.testing.assert_allclose(out.parts[0], -At.grad.numpy(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(out.parts[1], -vt.grad.numpy(), rtol=1e-10, atol=1e-12)

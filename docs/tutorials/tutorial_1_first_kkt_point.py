r"""
Your first KKT point
====================

Gradient descent on a homogeneous network heads for a KKT point of

.. math:: \min_\theta \tfrac12 \|\theta\|^2 \quad\text{s.t.}\quad y_i N_\theta(x_i) \ge 1 .

Training alone does not arrive there. Here are two moons, a trained network, the point it heads for, and the proof.
"""

# %%
# Sixty samples on two moons, and a network of 100 neurons trained to a loss of 1e-9.
import numpy as np

import marginflow as mf

rng = np.random.default_rng(0)
y = np.repeat([1.0, -1.0], 30)
t = np.pi * rng.random(60)
X = np.column_stack([np.where(y > 0, np.cos(t), 1 - np.cos(t)), np.where(y > 0, np.sin(t), 0.5 - np.sin(t))])
data = mf.data.Dataset(X=2 * (X + 0.08 * rng.standard_normal(X.shape) - [0.5, 0.25]), y=y)

start = mf.networks.TwoLayer.initialise(width=100, dimension=2, scale=0.01, seed=0)
run = mf.train(start, data, mf.flow.GradientFlow(stop=[mf.flow.LossBelow(1e-9)]))
trained = mf.certify(run.network, data)
print(f"relative KKT residual after training: {trained.stationarity:.2f}")

# %%
# The loss is tiny, the residual is not. `kkt_point` goes the rest of the way and certifies where it arrives: the
# certificate is computed by a judge that knows nothing of the solver.
limit = mf.kkt_point(data, width=100)
print(limit.status)
print(
    f"{limit.compact.width} of 100 neurons remain different; {(limit.certificate.margins < 1 + 1e-6).sum()} of 60 "
    "samples lie exactly on the margin"
)

# %%
# Orange and blue are the two answers, the thick line is where they meet, and every thin line is where a neuron switches
# on, as dark as the neuron is heavy. After training:
after_training = mf.plot.plane(run.network, data)

# %%
# At the KKT point few of the thin lines are left, and the ringed samples lie exactly on the margin: they hold the
# network in place, and no other sample matters.
at_the_point = mf.plot.plane(limit.network, data, certificate=limit.certificate)

# %%
# There are many KKT points. In the plane the one of least norm can be computed, with a proof that no network of any
# width has a smaller one.
best = mf.kkt_point(data, width=100, optimum="global")
print(best.status)
print(f"‖θ‖²: {limit.network.norm_squared():.4f} near the flow, {best.network.norm_squared():.4f} at best")

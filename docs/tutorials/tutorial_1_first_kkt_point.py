r"""
Your first KKT point
====================

Gradient descent on a homogeneous network heads for a KKT point of

.. math:: \min_\theta \tfrac12 \|\theta\|^2 \quad\text{s.t.}\quad y_i N_\theta(x_i) \ge 1 .

Training alone does not arrive there. Here are two moons, a trained network, the point it heads for, and the proof.
"""

# %%
# Sixty samples on two moons, and a network of 100 neurons trained to a loss of 1e-9.
import marginflow as mf

data = mf.data.moons(60, noise=0.08, seed=0)
start = mf.networks.TwoLayer.initialise(width=100, dimension=2, scale=0.01, seed=0)
run = mf.train(start, data, mf.flow.GradientFlow(stop=[mf.flow.LossBelow(1e-9)]))
trained = mf.certify(run.network, data)
print(f"relative KKT residual after training: {trained.stationarity:.2f}")

# %%
# The loss is tiny, the residual is not. `kkt_point` goes the rest of the way and certifies where it arrives: the
# certificate is computed by a judge that knows nothing of the solver.
limit = mf.kkt_point(data, start=run.network)
print(limit.status)
on_margin = (limit.certificate.margins < 1 + 1e-6).sum()
print(f"{limit.compact.width} of 100 neurons remain different")
print(f"{on_margin} of 60 samples lie exactly on the margin")

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
print(f"‖θ‖² near the flow: {limit.network.norm_squared():.4f}")
print(f"‖θ‖² at best: {best.network.norm_squared():.4f}")

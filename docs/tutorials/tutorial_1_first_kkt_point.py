r"""
Your first KKT point
====================

Gradient descent on a homogeneous network heads for a KKT point of

.. math:: \min_\theta \tfrac12 \|\theta\|^2 \quad\text{s.t.}\quad y_i N_\theta(x_i) \ge 1 .

Training alone does not arrive there. Here are two moons, a trained network, the point it heads for, and the proof.
"""

# %%
# Sixty samples on two moons, and a network of 100 neurons trained to a loss of 1e-9.
import altair as alt
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
# The regions of the two networks. Where the picture changes colour the network changes its mind.
grid = np.array([(a, b) for a in np.linspace(-4, 4, 61) for b in np.linspace(-3, 3, 46)])


def regions(network, title):
    """The sign of a network on a grid, and the samples."""
    values = [
        {"x": float(a), "y": float(b), "class": "+1" if v > 0 else "-1"} for (a, b), v in zip(grid, network(grid))
    ]
    samples = [{"x": float(a), "y": float(b), "class": "+1" if c > 0 else "-1"} for (a, b), c in zip(data.X, data.y)]
    colour = alt.Color("class:N", scale=alt.Scale(domain=["+1", "-1"], range=["#c25504", "#1b69b1"]), title="class")
    axes = {
        "x": alt.X("x:Q", title="x₁", scale=alt.Scale(domain=[-4, 4])),
        "y": alt.Y("y:Q", title="x₂", scale=alt.Scale(domain=[-3, 3])),
    }
    ground = alt.Chart(alt.Data(values=values)).mark_square(size=50, opacity=0.18).encode(color=colour, **axes)
    points = alt.Chart(alt.Data(values=samples)).mark_circle(size=35, opacity=1).encode(color=colour, **axes)
    return (ground + points).properties(width=300, height=220, title=title)


picture = regions(run.network, "after training") | regions(limit.network, "at the KKT point")

# %%
# There are many KKT points. In the plane the one of least norm can be computed, with a proof that no network of any
# width has a smaller one.
best = mf.kkt_point(data, width=100, optimum="global")
print(best.status)
print(f"‖θ‖²: {limit.network.norm_squared():.4f} near the flow, {best.network.norm_squared():.4f} at best")

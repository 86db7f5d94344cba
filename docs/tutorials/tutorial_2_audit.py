"""
Audit your own network
======================

Bring a network and its data: is it at a margin point, which one vector flips every sample, how far is the boundary?
"""

# %%
# Any two-layer ReLU network will do; here one that was trained by plain gradient descent. From torch, ONNX or a
# ``.safetensors`` file it is one call more, see :doc:`/interop`.
import marginflow as mf

data = mf.data.Sphere(dimension=30).sample(40, seed=0)
start = mf.networks.TwoLayer.initialise(width=50, dimension=30, seed=0)
network = mf.train(start, data, mf.flow.GradientFlow(stop=[mf.flow.LossBelow(1e-6)])).network

# %%
# One sample, its exact distance to the decision boundary, from both sides, with a proof that was checked.
radius = mf.robustness.exact_radius(network, data.X[0])
print(f"between {radius.lower:.6f} and {radius.upper:.6f}; proved: {radius.proved}")

# %%
# One vector for all samples: how long must it be to flip each of them?
flip = mf.robustness.minimal_step(network, data.X, data.y, mf.robustness.label_sum(data.X, data.y))
for share in (0.5, 0.9, 1.0):
    print(f"{share:4.0%} of the samples flip at length {flip.size_for_share(share):.3f}")
print(f"the samples themselves have length {30**0.5:.2f}")

# %%
# The whole audit in one call; ``marginflow audit network data --out audit.html`` writes it as a page.
audit = mf.audit(network, data)
print(audit)

# %%
# Its picture: how many samples one vector flips as it grows, and the share that no perturbation of a length can flip.
picture = audit.plot()

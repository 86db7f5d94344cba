"""
Add your own statement
======================

A statement is a judge, an example on which it holds, and a control on which it must not.
"""

# %%
# At a KKT point the multipliers add up to half the squared norm: Euler's theorem for homogeneous functions.
from marginflow import kkt_point
from marginflow.data import Sphere

data = Sphere(dimension=10).sample(8, seed=0)
limit = kkt_point(data, width=20)
left = float(limit.certificate.multipliers.sum())
right = limit.network.norm_squared() / 2
print(f"sum of multipliers {left:.12f}, half the squared norm {right:.12f}")

# %%
# As a statement it gets an id, hypotheses, an example and a control, is found by ``marginflow statements``, and is run
# by the conformance tests: :doc:`/add_a_statement` goes through the steps.

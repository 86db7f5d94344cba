"""
Check a theorem on your data
============================

A theorem has hypotheses, constants and a conclusion. Whether it says anything about *your* network is a question with
an answer.
"""

# %%
# Theorem 4.1 of VYS22: at every KKT point one small vector flips all samples. On nearly orthogonal samples it applies.
import marginflow as mf

theorem = mf.theory.statement("VYS22/Thm4.1")
print(theorem.meaning)
data = mf.data.Orthogonal(dimension=1000).sample(60, seed=0)
limit = mf.kkt_point(data, width=40)
verdict = theorem.check(limit.network, data)
print(verdict.sentence)

# %%
# How much room each hypothesis and each claim has; a bar that passes the line would break its bound.
room = verdict.plot()

# %%
# On a sphere of lower dimension it does not apply, and the verdict says which hypothesis fails, and by how much.
crowded = mf.data.Sphere(dimension=20).sample(20, seed=0)
print(theorem.check(mf.kkt_point(crowded, width=40).network, crowded).sentence)

# %%
# Where it applies and where it says something, over all sizes at once, is a map; ``--observe`` computes every cell too:
#
# .. code-block:: sh
#
#    marginflow map VYS22/Thm4.1 --grid d=100:1e6:60log m=2:2000:60log --out map.html

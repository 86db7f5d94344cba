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
# Your own data are two arrays, samples in rows and a label for each; labels may be any two kinds of thing.
import numpy as np

X = np.array([[0.0, 3.0, 0.5], [2.5, 0.0, 1.0], [0.2, 2.8, -1.0], [3.0, 0.3, 0.0]])
mine = mf.data.Dataset(X, ["cat", "dog", "cat", "dog"])
print(theorem.check(mf.kkt_point(mine, width=20).network, mine).sentence)

# %%
# Where it applies and where it says something, over all sizes at once, is a map: grey, it does not apply; yellow, it
# applies and its vector is longer than the samples; green, it says something. Crosses are experiments of the paper.
sizes = {
    "d": [round(d) for d in np.geomspace(100, 1e6, 40)],
    "m": [round(m) for m in np.geomspace(2, 2000, 40)],
}
atlas = mf.theory.map("VYS22/Thm4.1", sizes)
print(atlas.sentence())
picture = atlas.plot()

# %%
# On the command line ``--observe`` computes every cell too:
#
# .. code-block:: sh
#
#    marginflow map VYS22/Thm4.1 --grid d=100:1e6:40log m=2:2000:40log --out map.html

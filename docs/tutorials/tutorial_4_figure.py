"""
Reproduce a figure
==================

Every figure of the papers is a grid of cells, a picture and a judgement of the published claim. Here one runs at its
smallest size, in seconds; ``laptop`` takes minutes, ``paper`` is the published grid.
"""

# %%
# What the figure shows and what is claimed of it.
import marginflow as mf

figure = mf.experiments.figure("VYS22/Exact.ours")
print(figure.title)
print(figure.claim)

# %%
# Run it. With ``store="cells.sqlite"`` finished cells would survive an interruption.
result = figure.run("smoke")
print(result)

# %%
# What was measured is rows of plain values, one for each cell and seed; the picture is drawn from them.
for row in result.rows[:4]:
    print("{method}, width {width}, seed {seed}: residual {residual:.3f}".format(**row))

# %%
# The picture: how far from a KKT point each network is. The recipe ends far from one, exact points do not.
from marginflow.report.panels import chart_of

chart = chart_of(result.panels[0])

# %%
# Before a long run, ask what it costs. The estimate is fitted to measured cells, and says on how many it rests.
for size in mf.experiments.SIZES:
    cost = figure.cost(size)
    print(f"{size}: {cost.cells} cells, about {cost.hours:.3g} hours on one core", end="; ")
    print(f"{cost.measured} cells were measured")

# %%
# A part of the grid, kept in a store. The second call finds everything there and computes nothing.
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    store = Path(folder) / "cells.sqlite"
    first = figure.run("smoke", only={"width": 10}, store=store)
    again = figure.run("smoke", only={"width": 10}, store=store, only_stored=True)
    print(len(first.rows), "rows;", again.missing, "missing the second time")
    print("equal:", first.rows == again.rows)

# %%
# From the command line, with a page, rows and pictures; the same command again goes on where it was stopped:
#
# .. code-block:: sh
#
#    marginflow figure VYS22/Exact.ours --size laptop --out figures --images svg pdf

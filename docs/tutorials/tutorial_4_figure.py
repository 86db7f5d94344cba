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
# From the command line, with a page, rows and pictures; the same command again goes on where it was stopped:
#
# .. code-block:: sh
#
#    marginflow figure VYS22/Exact.ours --size laptop --out figures --images svg pdf

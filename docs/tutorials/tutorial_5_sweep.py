"""
Run a sweep and resume it
=========================

A sweep is a task on a grid with several seeds. Rows go into one SQLite file, and what is finished stays finished.
"""

# %%
# How long is the vector that flips every sample, over the dimension? Two seeds for each cell.
from pathlib import Path
from tempfile import TemporaryDirectory

from marginflow.sweeps import Sweep, run

sweep = Sweep(
    task="flip",
    grid={"dimension": [20, 40], "direction": ["label-sum", "dual"]},
    fixed={"law": "sphere", "n_samples": 20, "width": 50},
    seeds=2,
)
with TemporaryDirectory() as folder:
    store = Path(folder) / "flip.sqlite"
    first = run(sweep.some([0, 1, 2]), store=store)  # as if interrupted after three cells
    print(f"{len(first.done)} cells are done")
    results = run(sweep, store=store)  # goes on with the others
    print(f"{len(results.done)} of {len(results.rows)} cells are done")

# %%
# Rows are plain dictionaries, in the order of the grid.
for row in results.rows[:4]:
    print({name: row[name] for name in ("dimension", "direction", "seed")})
print(sorted(results.rows[0]))

# %%
# From the command line, with several processes: ``marginflow sweep docs/examples/flip.toml --workers 2``; see
# :doc:`/sweeps`.

"""The library without its face: no charts, no command line, no templates need be installed to compute."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys

FACE = {"cyclopts", "rich", "altair", "vl_convert", "jinja2", "latex2mathml"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FACE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import marginflow as mf

for module in pkgutil.walk_packages(mf.__path__, "marginflow."):
    if not module.name.startswith(("marginflow.cli", "marginflow.interop", "marginflow.report", "marginflow.plot")):
        importlib.import_module(module.name)
data = mf.data.Orthogonal(dimension=12).sample(5, seed=0)
limit = mf.kkt_point(data, width=10)
assert limit.exact
assert mf.robustness.exact_radius(limit.network, data.X[0]).proved
mf.theory.statement("VYS22/Thm4.1").check(limit.network, data)
assert not FACE & {name.partition(".")[0] for name in sys.modules}
print("computed")
"""


def test_points_radii_and_verdicts_need_no_charts_and_no_command_line():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "computed\n"


def test_a_worker_of_a_sweep_starts_without_solvers_and_statements():
    """They take longer to import than many a cell takes; a task that needs them imports them."""
    program = "import sys, marginflow.sweeps.worker; print(*(name for name in sys.modules if 'marginflow' in name))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    heavy = ("marginflow.limit", "marginflow.theory", "marginflow.robustness", "marginflow.experiments")
    assert "marginflow.sweeps.worker" in done.stdout.split()
    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []

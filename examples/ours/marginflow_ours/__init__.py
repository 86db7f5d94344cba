"""Results that were found with marginflow and are in no paper, executable: `marginflow statements --paper OURS`."""

from marginflow.theory import PAPERS, Paper

PAPER = Paper(
    key="OURS",
    title="KKT points on orthonormal samples, and the label noise that disarms a universal perturbation",
    authors="The marginflow developers",
    year=2026,
    kind="misc",
    venue="examples/ours of marginflow",
    room="marginflow_ours",
    kinds=("observation",),
    proofs={"OURS/Thm1": ("VYS22/Eq.kkt",)},
)
PAPERS.add(PAPER)  # for whoever imports this without installing it

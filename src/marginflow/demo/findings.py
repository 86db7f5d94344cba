"""What is wrong in print, in one sentence each; the whole list with counterexamples is docs/findings.md."""

from __future__ import annotations

from typing import Final

# The statement, whose control is the counterexample, and what is wrong with it as printed.
IN_PRINT: Final[dict[str, str]] = {
    "KYS23/PropA.4": "Five points refute it: a strict local minimum has N(x₅) = 4 where the proposition says 1.",
    "KYS23/Prop4.5": "Slepian’s inequality is used where correlations are negative, and the bound is broken.",
    "KYS23/Prop4.6": "The construction is not stationary once the outputs are trained: its layers are not balanced.",
    "KYS23/LemD.2": "Two letters are exchanged; points on a circle refute it for every constant.",
    "KYS23/LemB.3": "A factor 2 is lost: one negative sample has squared norm 10 where 9 is the bound.",
    "KYS23/LemB.4": "n log(1/δ) samples are too few: it fails with probability 0.365 whatever n is.",
    "FCB22/Eq6": "A factor 4 is lost; the proof needs n/8.",
    "FCB22/Rem.Linear": "“No linear classifier beats chance”: with a bias one is right on 74.5 % of the points.",
}

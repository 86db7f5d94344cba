"""What is false as printed, in one sentence each; docs/findings.md has all, with counterexamples."""

from __future__ import annotations

from typing import Final

# The statement, whose control is the counterexample, and what is wrong with it as printed.
IN_PRINT: Final[dict[str, str]] = {
    "KYS23/PropA.4": "Five points refute it: a strict local minimum has N(x₅) = 4 where the proposition says 1.",
    "KYS23/LemA.1": "No absolute m₀ is large enough for every δ; at m = 1000 and δ = 0.001 the bound fails.",
    "KYS23/Prop4.5": "|x₁|, two neurons, errs nowhere; the step behind the bound needs non-negative correlations.",
    "KYS23/LemD.2": "Two letters are exchanged; for every constant c some points contradict it.",
    "KYS23/LemB.4": "A number of samples of order log(1/δ) is too few: it must grow with n² as well.",
    "FCB22/Eq6": "A factor 4 on the share of noisy labels is lost; the bound n/8 survives for noise below 1/8.",
    "FCB22/Rem.Linear": "“No linear classifier beats chance”: on skewed clusters one is right on 56.6 %.",
}

"""[VYS22] The assumptions of Theorems 2.1, 3.1 and 4.1, each as a statement about given data or a given network."""

import math

import numpy as np

from marginflow.data import Dataset, Gaussian, Sphere
from marginflow.losses import Exponential, Logistic, Reduction
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Erratum,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    below,
    is_kkt_point,
    stated,
    value,
)
from marginflow.theory.instances import changed, gram_point, orthogonal_point
from marginflow.theory.vys22.presets import orthogonal_preset, random_samples, robust_control
from marginflow.theory.vys22.setting import Setting


@stated(
    id="VYS22/A.sphere",
    number="Theorem 3.1, Theorem 4.1",
    meaning="All samples have norm sqrt(d).",
    formula=r"\|x_i\| = \sqrt{d} \quad \text{for all } i \in I",
    needs=("data",),
    example=lambda: orthogonal_point(100, 32, design="hadamard").only("data", name="32 Hadamard rows in dimension 100"),
    control=lambda: Instance(name="10 Gaussian samples", data=Gaussian(dimension=100, variance=1).sample(10)),
    control_shows="Gaussian samples have norms near sqrt(d), not equal to it",
    remark="The proofs use ||x_i||^2 = d exactly in C.1, C.2 and C.4; VYS22/Rem.samenorm does without.",
)
def a_sphere(instance: Instance) -> Findings:
    """The squared norm of every sample against d."""
    setting = Setting.of(instance.the_data())
    off = float(np.abs(np.diag(setting.gram) - setting.d).max())
    return Findings(value("max | ||x_i||^2 - d |", off), value("d", setting.d), claims=(setting.equal_norms(),))


def _copies() -> Instance:
    data = random_samples(10, 200).the_data()
    again = Dataset(X=np.vstack([data.X, data.X[:1]]), y=np.append(data.y, data.y[0]))
    return Instance(name="10 random samples and a copy of the first", data=again)


@stated(
    id="VYS22/A.corr",
    number="Theorem 3.1",
    meaning="No two samples are nearly parallel: inner products are at most c d with c < 1.",
    formula=r"|\langle x_i, x_j \rangle| \le c\, d \quad (i \ne j), \qquad 0 < c < 1",
    needs=("data",),
    parameters={"c_corr": "the c of Theorem 3.1; by default the smallest that the data allow"},
    example=lambda: random_samples(300, 200),
    control=_copies,
    control_shows="a sample and its copy have correlation 1",
    printed=r"|\langle x_i, x_j \rangle| \le c\, d, \quad 0 < c < 1",
    proved=r"\langle x_i, x_j \rangle \le c\, d, \quad c < 1",
    remark="Only the one-sided bound is used, and c = 0 or less works too; the letter c means the class balance in "
    "Theorem 4.1.",
)
def a_corr(instance: Instance) -> Findings:
    """The largest inner product against c d, two-sided as printed; the proof uses one side."""
    setting = Setting.of(instance.the_data())
    c_corr = instance.number("c_corr", setting.p / setting.d)
    return Findings(
        value("c_corr", c_corr),
        value("largest <x_i, x_j> / d", setting.largest_cosine, "all that the proof uses"),
        claims=(
            at_most("max |<x_i, x_j>|", setting.p, c_corr * setting.d),
            at_least("c_corr, from below", c_corr, 0.0),
            below("c_corr, from above", c_corr, 1.0),
        ),
    )


@stated(
    id="VYS22/A.balance",
    number="Theorem 4.1",
    meaning="Both classes hold at least a share c > 0 of the samples.",
    formula=r"\min\left(\frac{|I^+|}{m}, \frac{|I^-|}{m}\right) \ge c > 0",
    needs=("data",),
    parameters={"c": "the c of Theorem 4.1; by default any positive one"},
    example=lambda: Instance(name="32 orthogonal samples", data=orthogonal_preset().data),
    control=lambda: Instance(name="samples of one class", data=Sphere(dimension=20, labels="positive").sample(5)),
    control_shows="random labels of few samples can leave a class empty",
)
def a_balance(instance: Instance) -> Findings:
    """The share of the smaller class, which is the largest c that the data allow."""
    setting = Setting.of(instance.the_data())
    return Findings(
        value("|I+|", setting.n_plus),
        value("|I-|", setting.n_minus),
        claims=(setting.balanced(), at_least("c against the c asked for", setting.c, instance.number("c", 0.0))),
    )


@stated(
    id="VYS22/A.msize",
    number="Theorem 4.1",
    meaning="There are at most (d + 1)/(3(p + 1)) samples, p the largest inner product of two of them.",
    formula=r"m \le \frac{d+1}{3 \left(\max_{i \ne j} |\langle x_i, x_j \rangle| + 1\right)}",
    needs=("data",),
    example=lambda: Instance(name="5 samples with p = 5 in dimension 100", data=gram_point(100, 5, 5.0).data),
    control=lambda: random_samples(10, 100),
    control_shows="sqrt(d) random samples are several times too many, as in every figure of the paper",
    errata=Erratum.wrong_constant(
        "Section 6 says that Theorem 4.1 and Lemma C.1 cover its random data with m = sqrt(d).",
        evidence="31 random samples in dimension 1000: the bound on m allows about 3",
        repair="m at most (d + 1)/(3 (p + 1)); VYS22/A.msize",
    ),
)
def a_msize(instance: Instance) -> Findings:
    """m against (d + 1) / (3 (p + 1)), and three facts about the Gram matrix that follow."""
    setting = Setting.of(instance.the_data())
    d = setting.d
    least = float(np.linalg.eigvalsh(setting.gram)[0])
    return Findings(
        value("p", setting.p),
        value("allowed m", setting.allowed),
        value("m / allowed", setting.m / setting.allowed),
        value("c_corr", setting.p / d, "Theorem 3.1 applies to the same data"),
        claims=(setting.few_samples(),),
        derived=(
            at_least("implied: d - m p", setting.D, (2 * d - 1) / 3),
            above("implied: smallest eigenvalue of the Gram matrix", least, 0.0, scale=d),
            at_most("implied: m <= d", setting.m, d),
        ),
    )


def _half_fitted() -> Instance:
    """One sample at N = 0 and another far beyond: the logistic loss is ln 2 < 1, and a sample is not classified."""
    network = TwoLayer(W=np.array([[1.0, 0.0]]), b=np.zeros(1), v=np.ones(1))
    data = Dataset(X=np.array([[40.0, 0.0], [-1.0, 0.0]]), y=np.ones(2))
    return Instance(name="a sample at N = 0", network=network, data=data, parameters={"loss": "logistic"})


@stated(
    id="VYS22/A.fit",
    number="Theorem 2.1",
    meaning="At some time the loss is so small that every sample is classified correctly.",
    formula=r"L(\theta(t_0)) < 1 \implies y_i N(x_i) > 0 \text{ for all } i",
    parameters={"loss": "exponential or logistic", "reduction": "sum or mean"},
    example=lambda: changed(
        orthogonal_preset(), "the orthogonal preset, scaled up", lambda network: network.scaled(3.0)
    ),
    control=_half_fitted,
    control_shows="the logistic loss is ln 2 < 1 although a sample has margin 0",
    printed=r"L(\theta(t_0)) < 1",
    proved=r"L(\theta(t_0)) < \ell(0)\ (= 1 \text{ exponential}, \ln 2 \text{ logistic}; / n \text{ for a mean})",
    remark="With the natural logarithm one sample at margin 0 costs ln 2 = 0.693 < 1, so the printed L < 1 does "
    "not imply correctness for the logistic loss.",
)
def a_fit(instance: Instance) -> Findings:
    """The printed condition L < 1 and the threshold l(0) below which every margin must be positive."""
    data = instance.the_data()
    word = instance.word("loss", "exponential", ("exponential", "logistic"))
    reduction: Reduction = instance.word("reduction", "sum", ("sum", "mean"))
    loss = Exponential(reduction) if word == "exponential" else Logistic(reduction=reduction)
    margins = instance.the_network().margins(data.X, data.y)
    log_loss, log_threshold = loss.log_value(margins), loss.log_threshold(margins.size)
    return Findings(
        hypotheses=(below("ln L against ln 1, as printed", log_loss, 0.0, tolerance=0.0),),
        constants=(
            value("ln L", log_loss),
            below("ln L, repaired", log_loss, log_threshold, tolerance=0.0, note="ln l(0), or ln l(0)/n for a mean"),
        ),
        claims=(above("smallest margin", float(margins.min()), 0.0),),
    )


@stated(
    id="VYS22/A.KKT",
    number="Theorem 4.1",
    meaning="The parameters are a KKT point of the max-margin problem.",
    formula=r"\theta \text{ is a KKT point of } \min \tfrac12 \|\theta\|^2 \text{ s.t. } y_i N_\theta(x_i) \ge 1",
    example=orthogonal_preset,
    control=robust_control,
    control_shows="the biases of the robust network have the wrong sign, and its neurons are not balanced",
)
def a_kkt(instance: Instance) -> Findings:
    """Every residual of the certificate, and the largest of them against the tolerance."""
    certificate = instance.certificate
    hard = certificate.kink_report.hard_residual
    return Findings(
        value("stationarity", certificate.stationarity),
        value("complementarity", certificate.complementarity),
        value("feasibility", certificate.feasibility),
        value("dual feasibility", certificate.dual_feasibility),
        value("no multipliers reach", certificate.total_lower_bound),
        value("kinks", certificate.kink_report.count),
        value("stationarity with hard patterns", math.nan if hard is None else hard),
        claims=(is_kkt_point(instance),),
    )

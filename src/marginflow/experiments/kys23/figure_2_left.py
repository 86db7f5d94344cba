"""[KYS23, Figure 2, left]: clean test error against the noise for a narrow and a wide network."""

from marginflow.experiments.kys23.profile import compared, little_change
from marginflow.experiments.kys23.setting import DEVIATIONS_WITH_KKT, NOISES, brief, figure, published

# "Almost the same" is not a number in the paper; this difference of the mean errors is ours.
ALMOST = 0.05
METHODS = ("recipe", "KKT point")


FIGURE = figure(
    id="KYS23/Fig2L",
    title="clean test error against the noise for a narrow and a wide network",
    claim="The width has little effect: the curves of 50 and of 3000 neurons are almost the same.",
    panels=compared(lambda row: f"{row['method']}, {row['width']} neurons", "Network"),
    judge=little_change("width", ALMOST),
    sizes={
        "smoke": brief(
            method=METHODS,
            width=(30, 120),
            dimension=(50,),
            noise=(0.1, 0.3),
            samples=(20,),
            time=(400.0,),
            test_points=(1000,),
            seeds=2,
        ),
        "laptop": brief(
            method=METHODS, width=(50, 1500), dimension=(50, 400, 2000), noise=(0.1, 0.3, 0.5), samples=(100,), seeds=3
        ),
        "paper": published(width=(50, 3000), dimension=(250, 2000, 10_000), noise=NOISES, samples=(500,), seeds=10),
    },
    deviations=DEVIATIONS_WITH_KKT,
)

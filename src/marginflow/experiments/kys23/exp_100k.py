"""[KYS23, section 5]: training for 100k epochs instead of 20k changes nothing."""

from marginflow.experiments.frame import Grid
from marginflow.experiments.kys23.profile import compared, little_change
from marginflow.experiments.kys23.setting import DEVIATIONS, DIMENSIONS, NOISES, brief, figure
from marginflow.experiments.kys23.sphere import PUBLISHED_TIME
from marginflow.experiments.outcome import number

# "Unaffected" is not a number in the paper; this mean change of the error is ours.
UNAFFECTED = 0.02
TIMES = (PUBLISHED_TIME, 5 * PUBLISHED_TIME)


FIGURE = figure(
    id="KYS23/Exp.100k",
    title="clean test error after 20k and after 100k epochs",
    claim="Training for 100k epochs instead of 20k leaves the results unaffected.",
    panels=compared(lambda row: f"{number(row, 'time') * 10 / 1000:g}k epochs", "Training"),
    judge=little_change("time", UNAFFECTED),
    sizes={
        "smoke": brief(
            time=(PUBLISHED_TIME / 5, PUBLISHED_TIME),
            dimension=(40,),
            noise=(0.1, 0.3),
            samples=(20,),
            width=(40,),
            test_points=(1000,),
        ),
        "laptop": brief(time=TIMES, dimension=(30, 300), noise=(0.1, 0.3, 0.5), samples=(60,), width=(200,), seeds=4),
        "paper": Grid.product(time=TIMES, dimension=DIMENSIONS, noise=NOISES, samples=(500,), seeds=10),
    },
    deviations=DEVIATIONS,
)

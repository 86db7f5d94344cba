"""The papers' recipes do what the papers say of them."""

import math

import numpy as np
import pytest

from marginflow.data import Dataset, ExactCountNoise, NoisySphere, Sphere, UniformNoise, XorClusters
from marginflow.errors import InputError
from marginflow.flow import Descent, LossBelow, LossNormalised, Recording, Steps, recipes, train
from marginflow.losses import Exponential, Logistic
from marginflow.networks import MLP, TwoLayer


def on_margin(margins):
    """Number of samples within 10% of the smallest margin, the paper's "on the margin"."""
    return int((margins <= 1.1 * margins.min()).sum())


# VYS22 --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_vys22_ends_below_1e_30_after_about_72_thousand_steps():
    data = Sphere(dimension=50).sample(50, seed=0)
    recipe = recipes.VYS22()
    run = train(recipe.network(50, 50, seed=0), data, recipe)
    assert run.status == "loss reached"
    assert run.log_loss < math.log(1e-30)
    assert 71_000 <= run.steps <= 73_500
    margins = run.trajectory.margins[-1]
    assert margins.min() == pytest.approx(72.0, abs=1.0)  # e^{-q} summed over 50 samples is 1e-30
    assert on_margin(margins) >= 0.92 * 50
    # The catalogue's estimate of the number of steps, from the end point alone.
    norm_squared = run.network.norm_squared()
    growth = math.log(1.1) / 100
    predicted = math.log(growth * norm_squared / (4 * margins.min() ** 2 * 1e-30 * 1e-5)) / growth
    assert run.steps == pytest.approx(predicted, rel=0.01)


def test_faster_growth_and_loss_normalised_steps_reach_the_same_margins():
    data = Sphere(dimension=50).sample(50, seed=0)
    net = recipes.VYS22().network(50, 50, seed=0)
    quick = train(net, data, recipes.VYS22(every=5))
    quicker = train(net, data, recipes.VYS22(every=2))
    kappa = train(net, data, Descent(loss=Exponential(), schedule=LossNormalised(0.02), stop=[LossBelow(1e-30)]))
    assert quick.steps == pytest.approx(72_761 / 20, rel=0.06)
    assert quicker.steps < 1700
    assert 3000 < kappa.steps < 5000
    for other in (quicker, kappa):
        np.testing.assert_allclose(other.trajectory.margins[-1], quick.trajectory.margins[-1], rtol=2e-3)
        assert on_margin(other.trajectory.margins[-1]) == on_margin(quick.trajectory.margins[-1])


def test_vys22_is_a_rate_that_grows_on_the_exponential_sum():
    recipe = recipes.VYS22()
    plan = recipe.plan(recipe.network(6, 2), 50)
    assert (plan.loss, plan.batch, plan.stop) == (Exponential("sum"), 5000, (LossBelow(1e-30),))
    assert (plan.schedule.rate, plan.schedule.factor, plan.schedule.every) == (1e-5, 1.1, 100)


def test_vys22_counts_iterations_as_steps_or_epochs_and_takes_either_loss():
    data = Sphere(dimension=20).sample(11, seed=0)
    recipe = recipes.VYS22(batch=4, iteration="epoch", every=10)
    assert recipe.plan(recipe.network(5, 20), data.n_samples).schedule.every == 30
    assert recipes.VYS22(batch=4).plan(recipe.network(5, 20), 11).schedule.every == 100
    plan = recipes.VYS22(loss="logistic", reduction="mean").plan(recipe.network(5, 20), 11)
    assert plan.loss == Logistic("mean")
    run = train(recipe.network(40, 20), data, recipes.VYS22(batch=4, every=5, loss="logistic"))
    assert run.status == "loss reached"
    assert run.log_loss < math.log(1e-30)
    assert run.epochs == run.steps // 3
    bounded = train(recipe.network(40, 20), data, recipes.VYS22(max_steps=7))
    assert (bounded.status, bounded.steps) == ("steps done", 7)


def test_mean_loss_lowers_the_margins_at_the_end_by_log_n():
    data = Sphere(dimension=50).sample(50, seed=0)
    net = recipes.VYS22().network(50, 50, seed=0)
    total, mean = (train(net, data, recipes.VYS22(every=5, reduction=word)) for word in ("sum", "mean"))
    gap = total.trajectory.least_margin[-1] - mean.trajectory.least_margin[-1]
    assert gap == pytest.approx(math.log(50.0), abs=0.15)


# KYS23 --------------------------------------------------------------------------------------------


def test_kys23_is_a_constant_rate_of_a_tenth_on_the_mean_logistic_loss_for_20_000_epochs():
    recipe = recipes.KYS23()
    plan = recipe.plan(recipe.network(10, 3), 50)
    assert (plan.loss, plan.schedule.rate, plan.stop[0].count, plan.batch) == (Logistic("mean"), 0.1, 20_000, None)
    net = recipe.network(7, 3, seed=5)
    assert np.abs(net.W).max() <= 1 / math.sqrt(3)
    assert net.b is not None


def test_kys23_interpolates_noisy_labels():
    data = NoisySphere(dimension=30, p=0.3).sample(40, seed=0)
    recipe = recipes.KYS23(epochs=3000)
    run = train(recipe.network(100, 30, seed=0), data, recipe)
    assert (run.status, run.epochs) == ("epochs done", 3000)
    assert run.separated
    assert (data.y < 0).any()


def test_kys23_trains_three_layers_and_mini_batches():
    data = Sphere(dimension=6).sample(12, seed=0)
    recipe = recipes.KYS23(epochs=10, batch=5)
    net = MLP.initialise(widths=[9, 7], dimension=6, bias="all", seed=0)
    run = train(net, data, recipe)
    assert (run.steps, run.epochs) == (30, 10)
    assert run.log_loss < run.trajectory.log_loss[0]


# FCB22 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [ExactCountNoise(rate=0.15), UniformNoise(rate=0.15)], ids=["count", "Bernoulli"])
def test_fcb22_figure_fits_every_clean_point_and_misfits_every_noisy_one(noise):
    data = XorClusters(dimension=2, sigma=math.sqrt(1 / 50), noise=noise).sample(5000, seed=0)
    recipe = recipes.FCB22()
    net = recipe.network(500, 2, seed=0)
    assert net.W.std() == pytest.approx(1 / math.sqrt(16 * 500 * 2), rel=0.05)
    run = train(net, data, recipe, recording=Recording(ratio=3.0, margins=False))
    assert (run.status, run.steps, run.engine) == ("steps done", 3000, "planar")
    assert data.noisy.sum() > 600
    clean_margins = data.clean_labels * run.network(data.X)
    assert (clean_margins > 0).all()
    np.testing.assert_array_equal(run.network.v, net.v)


def test_fcb22_is_a_constant_rate_on_the_mean_logistic_loss():
    recipe = recipes.FCB22()
    plan = recipe.plan(recipe.network(6, 2), 50)
    assert (plan.loss, plan.schedule.rate, plan.stop[0].count, plan.batch) == (Logistic("mean"), 0.05, 3000, None)


def test_fcb22_theorem_runs_through_the_gram_matrix_where_d_exceeds_n():
    data = XorClusters(dimension=1200, sigma=1 / (16 * math.sqrt(1200)), noise=ExactCountNoise(rate=1 / 16)).sample(
        200, seed=0
    )
    recipe = recipes.FCB22.theorem(1)
    assert (recipe.rate, recipe.steps) == (0.25, 2)
    net = recipe.network(100, 1200, omega=1 / (256 * math.sqrt(100 * 1200)), seed=0)
    gram, dense = train(net, data, recipe), train(net, data, recipe, engine="dense")
    assert (gram.engine, dense.engine) == ("gram", "dense")
    np.testing.assert_allclose(gram.network.W, dense.network.W, atol=1e-14)
    assert (data.clean_labels * gram.network(data.X) > 0).all()


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: recipes.VYS22(rate=-1e-5), "rate is -1e-05"),
        (lambda: recipes.VYS22(every=0), "every is 0"),
        (lambda: recipes.VYS22(stop_loss=0.0), "stop_loss is 0"),
        (lambda: recipes.VYS22(iteration="year"), "iteration is 'year'"),
        (lambda: recipes.VYS22(loss="hinge"), "loss is 'hinge'"),
        (lambda: recipes.KYS23(rate=0.0), "rate is 0"),
        (lambda: recipes.KYS23(epochs=-1), "epochs is -1"),
        (lambda: recipes.FCB22(rate=-0.05), "rate is -0.05"),
        (lambda: recipes.FCB22(steps=2.5), "steps is 2.5"),
    ],
)
def test_bad_recipes_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("recipe", "network", "sentence"),
    [
        (recipes.VYS22(), TwoLayer.initialise(4, 2, outputs="frozen"), "VYS22 trains both layers"),
        (recipes.VYS22(), MLP.initialise([3, 3], 2), "VYS22 trains both layers"),
        (recipes.FCB22(), TwoLayer.initialise(4, 2, bias=False), "outputs frozen"),
        (recipes.FCB22(), TwoLayer.initialise(4, 2, outputs="frozen"), "without bias"),
        (recipes.FCB22(), TwoLayer(W=np.eye(2), v=[1.0, -1.0], outputs="frozen"), r"\+-1/sqrt\(m\)"),
    ],
)
def test_a_network_that_the_paper_does_not_train_is_refused(recipe, network, sentence):
    with pytest.raises(InputError, match=sentence):
        train(network, Dataset(X=np.eye(2), y=[1, -1]), recipe, stop=[Steps(1)])

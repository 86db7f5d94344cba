"""The max-margin ReLU network as a scikit-learn classifier: their checks, our certificate."""

import warnings

import numpy as np
import pytest

from marginflow import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import Classifier
from marginflow.robustness import exact_radius

pytest.importorskip("sklearn", reason="a scikit-learn classifier, an optional extra")

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from marginflow.interop.sklearn import MaxMarginReLUClassifier

# The two checks that scikit-learn itself leaves out here: one wants pandas, which is nobody's extra, the other a
# variable of the environment that must be set before scipy is imported.
LEFT_OUT = {"check_classifier_data_not_an_array", "check_array_api_input"}


@pytest.mark.parametrize("C", [None, 1.0], ids=["hard", "soft"])
def test_every_check_of_scikit_learn_passes(C):
    # Labels of several checks are noise, on which no margin is reached; a bound on the work keeps them short.
    classifier = MaxMarginReLUClassifier(width=6, C=C, max_iter=30 if C is None else 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = check_estimator(classifier, on_fail=None, on_skip=None)
    assert [(row["check_name"], row["exception"]) for row in rows if row["status"] == "failed"] == []
    assert {row["check_name"] for row in rows if row["status"] == "skipped"} <= LEFT_OUT
    assert sum(row["status"] == "passed" for row in rows) >= 45


def xor():
    """Four clusters in the plane of the first two features, opposite ones of one class; the rest is noise."""
    rng = np.random.default_rng(0)
    signs = np.where(rng.normal(size=(40, 2)) > 0, 1.0, -1.0)
    X = rng.normal(size=(40, 6))
    X[:, :2] = 3.0 * signs + 0.3 * rng.normal(size=(40, 2))
    return X, (signs.prod(axis=1) > 0).astype(int)


def test_few_neurons_that_are_drawn_with_one_sign_still_fit_two_classes():
    # Of 2 neurons half of the draws have one sign, with which no network separates two classes.
    X, y = np.array([[-2.0, 0.1], [-1.0, -0.2], [1.0, 0.3], [2.0, 0.0]]), np.array([0, 0, 1, 1])
    for seed in range(8):
        fitted = MaxMarginReLUClassifier(width=2, C=None, random_state=seed).fit(X, y)
        np.testing.assert_array_equal(fitted.predict(X), y)


def test_hard_margin_is_a_certified_kkt_point_of_the_normalised_samples():
    X, y = xor()
    fitted = MaxMarginReLUClassifier(width=50, C=None, random_state=0).fit(X, y)
    assert fitted.limit_.exact
    data = Dataset(X=(X - fitted.centre_) / fitted.scale_, y=np.where(y == 1, 1.0, -1.0))
    assert certify(fitted.limit_.network, data).holds(1e-8)
    assert (data.y * fitted.decision_function(X)).min() == pytest.approx(1.0, abs=1e-9)
    assert fitted.n_neurons_ == fitted.network_.width < 50


def test_soft_margin_is_a_certified_kkt_point_with_capped_multipliers():
    X, y = make_blobs(80, centers=2, cluster_std=2.5, random_state=3)
    fitted = MaxMarginReLUClassifier(C=1.0, random_state=0).fit(X, y)
    assert fitted.limit_.exact
    data = Dataset(X=(X - fitted.centre_) / fitted.scale_, y=np.where(y == 1, 1.0, -1.0))
    certificate = certify(fitted.limit_.network, data, penalty=1.0)
    assert certificate.holds(1e-8)
    assert certificate.multipliers.max() <= 1.0 + 1e-9
    assert (certificate.margins < 1.0 - 1e-6).any()


def test_without_normalisation_the_samples_are_taken_as_they_are():
    X, y = xor()
    fitted = MaxMarginReLUClassifier(C=None, normalise=False, random_state=0).fit(X, y)
    assert certify(fitted.network_, Dataset(X=X, y=np.where(y == 1, 1.0, -1.0))).holds(1e-8)


def test_network_and_decision_function_are_the_same_function():
    X, y = xor()
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    fresh = np.random.default_rng(0).standard_normal((40, 6))
    np.testing.assert_allclose(fitted.network_(fresh), fitted.decision_function(fresh), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("shift", "factor"), [(1024.0, 1.0), (0.0, 2.0**-20), (-64.0, 2.0**13)])
def test_origin_and_unit_do_not_matter(shift, factor):
    # Numbers of few bits and powers of two round nothing: a descent from other bits may end at another point.
    X, y = xor()
    X, y = np.round(1024 * X[:32]) / 1024, y[:32]
    first = MaxMarginReLUClassifier(C=10.0, random_state=0).fit(X, y)
    second = MaxMarginReLUClassifier(C=10.0, random_state=0).fit(factor * (X + shift), y)
    np.testing.assert_array_equal(second.decision_function(factor * (X + shift)), first.decision_function(X))


def test_any_two_classes_will_do():
    X, y = xor()
    words = np.array(["no", "yes"])[y]
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, words)
    assert list(fitted.classes_) == ["no", "yes"]
    assert (fitted.predict(X) == words).all()


def test_more_classes_are_one_against_the_rest_each_a_certified_point_of_its_own_problem():
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, words)
    Z = (X - fitted.centre_) / fitted.scale_
    values = fitted.decision_function(X)
    assert values.shape == (150, 3)
    for t, limit in enumerate(fitted.limits_):
        data = Dataset(X=Z, y=np.where(y == t, 1.0, -1.0))
        assert certify(limit.network, data, penalty=fitted.C_).holds(1e-8)
        np.testing.assert_allclose(values[:, t], limit.network(Z), rtol=1e-9, atol=1e-12)
    assert (fitted.predict(X) == fitted.classes_[values.argmax(axis=1)]).all()
    assert fitted.score(X, words) > 0.95
    assert not hasattr(fitted, "limit_")


def test_the_network_of_more_classes_is_a_classifier_whose_logits_are_the_decision_function():
    X, y = load_iris(return_X_y=True)
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    assert isinstance(fitted.network_, Classifier)
    np.testing.assert_allclose(fitted.network_(X), fitted.decision_function(X), rtol=1e-9, atol=1e-10)
    radius = exact_radius(fitted.network_, X[0])
    assert radius.proved
    assert radius.rival in (1, 2)


def test_probabilities_are_refused_with_the_way_to_calibrate_and_that_way_works():
    X, y = xor()
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError, match=r"margins, which are not probabilities.*CalibratedClassifierCV"):
        fitted.predict_proba(X)
    calibrated = CalibratedClassifierCV(MaxMarginReLUClassifier(random_state=0), cv=2).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)


def test_a_warm_start_begins_at_the_last_network_and_stays_there():
    X, y = xor()
    warm = MaxMarginReLUClassifier(warm_start=True, random_state=0).fit(X, y)
    first = warm.decision_function(X)
    np.testing.assert_allclose(warm.set_params(random_state=5).fit(X, y).decision_function(X), first, atol=1e-6)
    few = X[:, :3]
    assert warm.fit(few, y).network_.dimension == 3  # other features: it begins anew


def test_a_sparse_matrix_is_refused_in_a_sentence():
    X, y = xor()
    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        MaxMarginReLUClassifier().fit(csr_matrix(X), y)


def test_names_of_features_are_kept_and_compared():
    pandas = pytest.importorskip("pandas", reason="a table, an optional extra")
    X, y = xor()
    table = pandas.DataFrame(X, columns=list("abcdef"))
    fitted = MaxMarginReLUClassifier(random_state=0).fit(table, y)
    assert list(fitted.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table.rename(columns={"a": "z"}))


def test_neither_the_origin_nor_the_unit_of_a_feature_matters():
    X, y = load_iris(return_X_y=True)
    units = np.array([1.0, 2.0**20, 2.0**-20, 0.125])
    first = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    other = MaxMarginReLUClassifier(random_state=0).fit(units * X, y)
    assert (other.scale_ == units * first.scale_).all()
    np.testing.assert_array_equal(first.decision_function(X), other.decision_function(units * X))
    np.testing.assert_allclose(first.network_(X), first.decision_function(X), atol=1e-9)


def test_leave_one_out_is_for_two_classes():
    with pytest.raises(ValueError, match="loo_score is for two classes, but y has 3"):
        MaxMarginReLUClassifier(loo_score=True).fit(*load_iris(return_X_y=True))


def test_it_works_in_a_pipeline_in_cross_validation_and_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MaxMarginReLUClassifier(C=1.0, random_state=0))
    two = y < 2
    assert cross_val_score(pipeline, X[two], y[two], cv=2).min() == 1.0
    search = GridSearchCV(pipeline, {"maxmarginreluclassifier__C": [0.1, 1.0]}, cv=2).fit(X[two], y[two])
    assert search.best_score_ == 1.0
    assert OneVsRestClassifier(clone(pipeline)).fit(X[::3], y[::3]).score(X, y) > 0.9


def test_it_separates_what_a_line_cannot():
    X, y = xor()
    assert SVC(kernel="linear").fit(X, y).score(X, y) < 1.0
    assert MaxMarginReLUClassifier(random_state=0).fit(X, y).score(X, y) == 1.0


def test_same_seed_same_bits():
    X, y = xor()
    first, second = (MaxMarginReLUClassifier(random_state=7).fit(X, y) for _ in range(2))
    assert first.network_.W.tobytes() == second.network_.W.tobytes()


def test_the_bound_on_iterations_is_kept():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.random.default_rng(1).integers(0, 2, 60)
    with pytest.warns(ConvergenceWarning):
        fitted = MaxMarginReLUClassifier(width=20, C=None, max_iter=50, random_state=0).fit(X, y)
    assert fitted.limit_.history[-1].iteration < 200  # a round is finished before it is looked at


def test_giving_up_is_a_convergence_warning():
    X, y = make_blobs(80, centers=2, cluster_std=5.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"Not separated|Not exact"):
        MaxMarginReLUClassifier(width=4, C=None, max_iter=20, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"width": 0}, "width is 0"),
        ({"C": -1.0}, "C is -1"),
        ({"C": "hard"}, 'C is .hard.; .*"auto" or None'),
        ({"max_iter": 2.5}, "max_iter is 2.5"),
    ],
    ids=str,
)
def test_bad_parameters_are_one_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        MaxMarginReLUClassifier(**parameters).fit(*xor())


def test_contradicting_samples_need_a_soft_margin():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 0])
    with pytest.raises(InputError, match="identical but have opposite labels"):
        MaxMarginReLUClassifier(C=None).fit(X, y)


def test_the_leave_one_out_score_is_that_of_fits_without_each_sample_where_the_point_is_unique() -> None:
    """Two tight clusters far apart: every fit without a sample classifies it rightly, and so says the exact score."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(3.0, 0.3, (8, 2)), rng.normal(-3.0, 0.3, (8, 2))])
    y = np.repeat([1, 0], 8)
    classifier = MaxMarginReLUClassifier(width=20, loo_score=True, random_state=0).fit(X, y)
    right = [
        MaxMarginReLUClassifier(width=20, random_state=0).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])
        == y[i]
        for i in range(16)
    ]
    assert classifier.loo_score_ == np.mean(right)
    assert not hasattr(MaxMarginReLUClassifier(width=20, random_state=0).fit(X, y), "loo_score_")


def test_the_default_width_is_ten_neurons_for_each_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    two = MaxMarginReLUClassifier(random_state=0).fit(X, X[:, 0] > 0)
    three = MaxMarginReLUClassifier(random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert [limit.network.width for limit in two.limits_] == [20]
    assert [limit.network.width for limit in three.limits_] == [10, 10, 10]


def test_a_class_around_another_is_learnt_by_default() -> None:
    # Ten neurons at the start, the default once, got 70 % of such points right.
    from sklearn.datasets import make_gaussian_quantiles

    X, y = make_gaussian_quantiles(n_samples=300, n_features=4, n_classes=2, random_state=21)
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X[:200], y[:200])
    assert fitted.score(X[200:], y[200:]) > 0.8


@pytest.mark.parametrize(("features", "price"), [(1, 4.0), (2, 2.0), (5, 0.8), (8, 0.5), (30, 0.5)])
def test_the_price_of_a_missed_margin_is_larger_in_few_dimensions(features: int, price: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, features))
    y = (X[:, 0] + 0.3 * rng.standard_normal(40) > 0).astype(int)
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, y)
    assert fitted.C_ == price
    given = MaxMarginReLUClassifier(C=price, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), given.decision_function(X))
    assert MaxMarginReLUClassifier(C=3.0, random_state=0).fit(X, y).C_ == 3.0

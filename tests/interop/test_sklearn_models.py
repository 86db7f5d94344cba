"""Affine steps of scikit-learn in front of an MLPClassifier are folded; others are refused by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import marginflow as mf
from marginflow.errors import InputError
from marginflow.interop.models import read_model

pytest.importorskip("sklearn", reason="reads models of scikit-learn, an optional extra")

from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

X = 3.0 + 2.0 * np.random.default_rng(0).standard_normal((60, 4))
Y = np.where(X[:, 0] > X[:, 1], "yes", "no")


def network(**options: object) -> MLPClassifier:
    return MLPClassifier((6,), max_iter=200, tol=0.01, random_state=0, **options)


def fitted(model: object, y: np.ndarray = Y, points: np.ndarray = X) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few iterations
        return model.fit(points, y)


STEPS = {
    "PCA": PCA(3),
    "PCA that whitens": PCA(2, whiten=True),
    "TruncatedSVD": TruncatedSVD(2, random_state=0),
    "best columns": SelectKBest(k=2),
    "columns that vary": VarianceThreshold(),
    "scaler and PCA": make_pipeline(StandardScaler(), PCA(3)),
    "nothing": FunctionTransformer(),
    "two parts": ColumnTransformer([("a", StandardScaler(), [2]), ("b", MinMaxScaler(), slice(0, 2))]),
    "the rest passes": ColumnTransformer([("a", PCA(1), [0, 2])], remainder="passthrough"),
    "a mask and a column left out": ColumnTransformer(
        [("a", make_pipeline(StandardScaler(), PCA(2)), [True, False, True, False]), ("b", "drop", [1])],
        remainder=MinMaxScaler(),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_affine_steps_are_folded(name: str) -> None:
    model = fitted(make_pipeline(STEPS[name], network()))
    p = model.predict_proba(X)[:, 1]
    found = read_model(model)
    np.testing.assert_allclose(found.two_classes()(X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)
    assert any("folded into the first layer" in remark for remark in found.remarks) == (name != "nothing")


def test_columns_are_found_by_their_names() -> None:
    pandas = pytest.importorskip("pandas", reason="names of columns come with a table")
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    parts = ColumnTransformer([("one", StandardScaler(), ["d", "a"]), ("two", "passthrough", ["b"])])
    model = make_pipeline(parts, network()).fit(table, Y)
    p = model.predict_proba(table)[:, 1]
    np.testing.assert_allclose(read_model(model).two_classes()(X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)


def test_the_best_of_a_search_is_read() -> None:
    search = GridSearchCV(Pipeline([("scale", "passthrough"), ("net", network())]), {"net__alpha": [1e-4, 1.0]}, cv=2)
    with pytest.raises(InputError, match="GridSearchCV has no best_estimator_; call fit"):
        read_model(search)
    model = fitted(search)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(read_model(model).two_classes()(X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)


def test_several_labels_for_a_sample_are_not_taken_for_classes() -> None:
    y = np.stack([X[:, 0] > 3, X[:, 1] > 3, X[:, 2] > 3], axis=1)
    with pytest.raises(InputError, match="answers 3 questions at once"):
        read_model(fitted(network(), y))


@pytest.mark.parametrize(
    ("step", "named"),
    [
        (SimpleImputer(), "SimpleImputer"),
        (ColumnTransformer([("a", OneHotEncoder(handle_unknown="ignore"), [0])], sparse_threshold=0), "OneHotEncoder"),
        (FunctionTransformer(np.abs), "FunctionTransformer"),
    ],
)
def test_what_is_not_affine_is_named_and_told_how_to_go_on(step: object, named: str) -> None:
    model = fitted(make_pipeline(step, network()))
    with pytest.raises(InputError, match=rf"step {named}; .*mf\.audit\(pipeline\[-1\], pipeline\[:-1\]\.transform"):
        read_model(model)
    assert read_model(model[-1]).network.dimension == model[:-1].transform(X).shape[1]  # the way that it names is open


def test_a_regression_is_refused() -> None:
    model = fitted(MLPRegressor(hidden_layer_sizes=(6,), max_iter=50, random_state=0), (Y == "yes").astype(float))
    with pytest.raises(
        InputError,
        match=r"step MLPRegressor, which is not a network .*; MLPClassifier .* expected\.$",
    ):
        read_model(model)


def test_early_stopping_and_words_as_labels_change_nothing() -> None:
    model = fitted(network(early_stopping=True))
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(read_model(model).two_classes()(X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)


def test_whitening_of_a_direction_in_which_nothing_differs_is_refused() -> None:
    twice = np.column_stack([X, X[:, 0] + X[:, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(PCA(5, whiten=True), network()).fit(twice, Y)
    with pytest.raises(InputError, match=r"in 1 of which the samples differ by less.* PCA\(4, whiten=True\)"):
        read_model(model)


def three() -> tuple[np.ndarray, np.ndarray]:
    """Three classes around points of a plane, not all of them apart."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 90)
    return rng.standard_normal((90, 4)) + np.eye(4)[y] * 2.0, y


LINES = {
    "logistic regression": lambda: LogisticRegression(),
    "linear SVC": lambda: LinearSVC(),
    "ridge": lambda: RidgeClassifier(),
    "gradient descent without intercept": lambda: SGDClassifier(fit_intercept=False, random_state=0),
    "discriminants": lambda: LinearDiscriminantAnalysis(),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_classifier_is_a_network_of_two_neurons_for_each_output(name: str, classes: int) -> None:
    X, y = three()
    X, y = X[y < classes], y[y < classes]
    for model in (LINES[name]().fit(X, y), make_pipeline(StandardScaler(), LINES[name]()).fit(X, y)):
        read = read_model(model)
        np.testing.assert_allclose(read.network(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
        assert any("linear" in remark for remark in read.remarks)
        assert read.classes == tuple(range(classes))


def test_the_radius_of_a_linear_classifier_is_the_distance_to_its_plane() -> None:
    X, y = three()
    model = LogisticRegression().fit(X[y < 2], y[y < 2])
    found = mf.audit(model, X[y < 2], y[y < 2], points=3)
    for checked in found.radii:
        radius = checked.radius
        plane = abs(model.decision_function(radius.point[None, :])[0]) / np.linalg.norm(model.coef_)
        assert radius.upper == pytest.approx(plane, rel=1e-5)


def test_labels_are_those_that_the_model_was_fitted_to() -> None:
    X, y = three()
    words = np.array(["b", "a", "c"])[y]
    model = fitted(network(), words, X)
    missed = model.predict(X) != words
    assert mf.audit(model, X, words, points=0).wrong == missed.sum()
    some = words != "a"  # the numbers of the others do not move up
    assert mf.audit(model, X[some], words[some], points=0).wrong == missed[some].sum()
    with pytest.raises(InputError, match="labels 0, 1, 2, but the model was fitted to 'a', 'b', 'c'"):
        mf.audit(model, X, y, points=0)


def test_two_classes_of_a_model_are_not_two_others() -> None:
    X, y = three()
    model = fitted(network(), y[y > 0], X[y > 0])
    missed = model.predict(X[y > 0]) != y[y > 0]
    assert mf.audit(model, X[y > 0], y[y > 0], points=0).wrong == missed.sum()
    signs = np.where(y[y > 0] == 2, 1, -1)  # -1 and +1 are the first and the second class, whatever they are called
    assert mf.audit(model, X[y > 0], signs, points=0).wrong == missed.sum()
    with pytest.raises(InputError, match="the label 0, but the model was fitted to 1, 2"):
        mf.audit(model, X[y < 2], y[y < 2], points=0)


def test_a_model_that_was_fitted_to_the_numbers_of_a_data_set_is_audited_with_it() -> None:
    X, y = three()
    for chosen in (y >= 0, y > 0):
        data = mf.data.Dataset(X[chosen], np.array(["b", "a", "c"])[y[chosen]])
        model = fitted(network(), data.y, data.X)
        assert mf.audit(model, data, points=0).wrong == (model.predict(data.X) != data.y).sum()

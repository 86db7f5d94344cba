"""Sentences that several rooms share say what was computed and no more."""

import math

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset
from marginflow.display import none_shorter, shortest_sentence
from marginflow.networks import Classifier, TwoLayer
from marginflow.report.results.kinds import summarise
from marginflow.report.results.summary import NamedResult


@pytest.mark.parametrize(
    ("upper", "lower", "options", "sentence"),
    [
        (2.0, 1.9999999, {}, "one vector of norm 2 flips all 9 samples, and none shorter does"),
        (2.0, 1.23456, {"digits": 3}, "one vector of norm 2 flips all 9 samples, and none shorter than 1.23 does"),
        (2.0, 0.0, {}, "one vector of norm 2 flips all 9 samples, and a shorter one may"),
        (math.inf, 0.0, {}, "no vector was found that flips all 9 samples; one may exist"),
        (math.nan, 1.0, {"share": 0.9}, "no vector was found that flips 90 % of 9 samples; none shorter than 1 does"),
        (math.inf, math.inf, {}, "no vector, however long, flips all 9 samples"),
        (math.nan, math.nan, {}, "no vector, however long, flips all 9 samples"),
        (0.0, 0.0, {}, "every one of the 9 samples is on the wrong side already"),
        (0.0, 0.0, {"share": 0.5}, "50 % of 9 samples are on the wrong side already"),
    ],
)
def test_shortest_vector_is_said_as_far_as_it_is_known(upper, lower, options, sentence):
    assert shortest_sentence(upper, lower, **{"samples": 9, **options}) == sentence


def test_bounds_agree_to_a_millionth_everywhere():
    assert none_shorter(1.0, 1.0 - 5e-7) == "none shorter does"
    assert none_shorter(1.0, 1.0 - 5e-6) == "none shorter than 1 does"


def test_a_sign_that_nothing_changes_is_said_wherever_one_vector_is():
    network = TwoLayer(W=[[0.0, 0.0], [1.0, 0.0]], v=[1.0, 1.0], b=[1.0, 0.0])  # N >= 1 everywhere
    data = Dataset(X=np.eye(2), y=[1, -1])
    found = mf.robustness.universal_perturbation(network, data.X, data.y)
    assert (found.upper, found.lower) == (math.inf, math.inf)
    assert found.sentence == "no vector, however long, as x_i - y_i z, flips all 2 samples"
    record = mf.audit(network, data, points=2).to_dict()
    assert record["headline"] == "No vector, however long, flips all 2 samples."
    assert "; no vector, however long, flips all 2 samples; " in record["verdict"]
    assert "is infinitely far from the boundary" in record["verdict"]
    how = "subtracted from the positive samples and added to the negative samples"
    page = summarise(NamedResult(name="audit", content=record))
    assert f"No vector, however long, {how}, flips all 2 samples. " in page.sections[0].paragraphs[0]


def test_a_class_that_nothing_changes_is_said_wherever_one_vector_is():
    network = Classifier(W=[[1.0, 0.0]], V=[[0.0], [0.0], [0.0]], c=[2.0, 1.0, 0.0])
    record = mf.audit(network, Dataset(X=np.eye(3, 2), y=[0, 0, 0], classes=(0, 1, 2)), points=3).to_dict()
    sentence = "o vector, however long, changes the class of all 3 samples"
    assert sentence in record["verdict"]
    assert sentence in record["standing"] + record["headline"]
    page = summarise(NamedResult(name="audit", content=record))
    assert any(
        "however long, added to every sample, changes" in paragraph
        for section in page.sections
        for paragraph in section.paragraphs
    )

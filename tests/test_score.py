from __future__ import annotations

import numpy as np
import pytest

from templatediff import evidence, lessons
from templatediff.errors import TemplateError
from templatediff.score import columns, forest, shipped

STUMP = {"feature": [0, -1, -1], "threshold": [0.5, 0, 0], "left": [1, 0, 0], "right": [2, 0, 0],
         "missing_left": [0, 0, 0], "value": [0, -1.0, 2.0]}  # fmt: skip


def test_a_row_goes_left_at_most_threshold_and_missing_as_told() -> None:
    made = forest({"columns": ["a"], "baseline": 0.25, "trees": [STUMP, {**STUMP, "missing_left": [1, 0, 0]}]})
    rows = np.array([[0.5], [0.6], [np.nan]], np.float32)
    assert made.raw(rows).tolist() == [-1.75, 4.25, 1.25]
    assert made.raw(rows[:0]).tolist() == []


def test_trees_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(TemplateError):
        forest({"columns": ["a"], "baseline": 0, "trees": [{**STUMP, "value": [0]}]})


def test_columns_are_found_by_name_and_unknown_where_missing() -> None:
    found = columns(np.array([[1.0, 2.0]], np.float32), ("a", "b"), ("b", "c"))
    assert found[0, 0] == 2.0 and np.isnan(found[0, 1])


def test_the_same_as_scikit_learn_predicts() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    train = pytest.importorskip("benchmarks.train")
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 5)).round(4).astype(np.float32)
    rows[random.random(rows.shape) < 0.2] = np.nan
    truth = (np.nan_to_num(rows[:, 0]) + np.nan_to_num(rows[:, 1]) ** 2 > 0.5).astype(int)
    model = ensemble.HistGradientBoostingClassifier(max_iter=12, early_stopping=False, random_state=0).fit(rows, truth)
    made = forest(train.document(model, tuple("abcde")))
    assert np.abs(made.probability(rows) - model.predict_proba(rows)[:, 1]).max() < 2e-4


@pytest.mark.parametrize("n", [31, 32, 64, 65, 150, 700])
def test_many_rows_get_bit_for_bit_what_few_rows_get(n: int) -> None:
    random = np.random.default_rng(n)
    model = shipped().second
    asked = model.left != np.arange(len(model.left))
    rows = random.choice(model.threshold[asked], (n, len(model.columns)))  # at thresholds, where <= and < differ
    rows = np.round(rows + random.choice([0.0, 0.5, -0.5], rows.shape), 4).astype(np.float32)
    rows[random.random(rows.shape) < 0.15] = np.nan
    one_by_one = np.concatenate([model.raw(row[None, :]) for row in rows])
    assert model.raw(rows).tolist() == one_by_one.tolist() == model.raw(np.asfortranarray(rows)).tolist()


def test_shipped_weights_know_their_columns_and_say_where_they_come_from() -> None:
    weights = shipped()
    assert set(weights.first.columns) <= set(evidence.NAMES)
    assert set(weights.second.columns) <= set(evidence.NAMES + lessons.NAMES)
    assert {"command", "corpus", "folds", "out_of_fold_f1", "settings"} <= set(weights.provenance)

"""wmcc for scikit-learn: a drop-in ``matthews_corrcoef``, and scorers.

Examples
--------
A search for the best model, in which each row counts by its area, in the fit as in the score. Scikit-learn hands the
weights on if metadata routing is enabled and each part says that it takes them:

>>> import numpy as np, sklearn
>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.model_selection import GridSearchCV
>>> from wmcc.adapters.sklearn import scorers
>>> X, y = load_iris(return_X_y=True)
>>> area = np.random.default_rng(0).lognormal(0, 1, len(y))
>>> with sklearn.config_context(enable_metadata_routing=True):
...     search = GridSearchCV(
...         LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True),
...         {"C": [0.001, 0.01, 1.0]},
...         scoring={name: scorer.set_score_request(sample_weight=True) for name, scorer in scorers().items()},
...         refit="ecc",
...     )
...     search = search.fit(X, y, sample_weight=area)
>>> search.best_params_
{'C': 1.0}
>>> search.cv_results_["mean_test_ecc"].round(2)
array([0.53, 0.88, 0.92])
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.table import Margins, Table
from ..errors import InputError, MissingDependencyError, UndefinedMeasureWarning
from ..inference.scores.grid import exact_value
from ..measures import MEASURES, ExpectedGain
from ..measures.base import Measure, MeasureName, check_scorable
from ..measures.checks import named_measure
from ..optional import pip_install
from ..sources import tabulate

try:
    from sklearn.metrics import make_scorer
except ModuleNotFoundError:
    raise MissingDependencyError(
        "wmcc.adapters.sklearn needs scikit-learn, which is not installed.", pip_install("sklearn")
    ) from None
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target, unique_labels


class Scorer(Protocol):
    """What scikit-learn takes as ``scoring``."""

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """Score an estimator's predictions of X."""
        ...

    def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Scorer:
        """Say whether weights are handed on to this scorer; it changes the scorer itself."""
        ...


def scorer(measure: MeasureName | Measure | ExpectedGain = "ecc") -> Scorer:
    """Make a scorer of a measure, new at each call: what is requested of one does not change another.

    A score that is undefined is 0, as for the measure itself. Rows that cannot be scored at all (their weights are all
    zero, or MCC is asked of more than two classes) give NaN, as scikit-learn's ``error_score`` does, and an
    `UndefinedMeasureWarning` that says why. It is of predicted labels, and ``TunedThresholdClassifierCV`` makes these
    at each threshold that it tries.

    Parameters
    ----------
    measure
        A measure of wmcc, or its name; or an `ExpectedGain`, whose positive class is the larger label.

    Returns
    -------
    Scorer

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from wmcc.adapters.sklearn import scorer
    >>> scorer("mpc2")
    make_scorer(mpc2, response_method='predict')
    >>> cross_val_score(DummyClassifier(), [[0]] * 6, [0, 1, 0, 1, 0, 1], cv=2, scoring=scorer("balanced_accuracy"))
    array([0.5, 0.5])
    """
    gains = measure if isinstance(measure, ExpectedGain) else None
    name = "expected_gain" if isinstance(measure, ExpectedGain) else named_measure(measure).name
    made: Scorer = make_scorer(_Metric(name, gains))
    return made


def scorers(measures: Iterable[MeasureName | Measure] = ("ecc", "mpc1", "mpc2")) -> dict[str, Scorer]:
    """Make scorers of several measures, by name: what ``scoring`` of `cross_validate` and `GridSearchCV` takes.

    Those by default are for any number of classes. For two classes each of them is the MCC.

    Examples
    --------
    >>> from wmcc.adapters.sklearn import scorers
    >>> list(scorers())
    ['ecc', 'mpc1', 'mpc2']
    >>> list(scorers(["mcc", "kappa"]))
    ['mcc', 'kappa']
    """
    named = [named_measure(measure) for measure in measures]
    return {measure.name: scorer(measure) for measure in named}


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Matthews correlation coefficient, multiclass included (there it is `wmcc.ecc`).

    The signature, the checks and the answers of ``sklearn.metrics.matthews_corrcoef``, but exact where that one loses
    digits, overflows or returns 0.0 or NaN for very small or large weights. Negative weights are refused. Most of its
    time goes into scikit-learn's own checks: `wmcc.ecc` does without them.

    Parameters
    ----------
    y_true, y_pred
        Labels, one per sample.
    sample_weight
        Weights, one per sample.

    Returns
    -------
    float

    Examples
    --------
    >>> from wmcc.adapters.sklearn import matthews_corrcoef
    >>> matthews_corrcoef([+1, +1, +1, -1], [+1, -1, +1, +1])
    -0.3333333333333333
    """
    return MEASURES["ecc"](_table(y_true, y_pred, sample_weight))


@dataclass(frozen=True)
class _Metric:
    """A measure with scikit-learn's signature; unlike a closure it can be sent to worker processes."""

    __name__: str
    gains: ExpectedGain | None = None

    def __call__(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
        table = _table(y_true, y_pred, sample_weight)
        try:
            return MEASURES[self.__name__](table) if self.gains is None else _mean_gain(table, self.gains)
        except InputError as problem:  # of a table that was made: it has no weight, or too many classes for MCC
            warnings.warn(f"the score is NaN: {problem.message}", UndefinedMeasureWarning, stacklevel=2)
            return float("nan")


def _mean_gain(table: Table, gains: ExpectedGain) -> float:
    """Return the expected gain of labels of two classes, the larger of which is the positive one."""
    classes = len(table.labels)
    if classes != 2:
        which = ", and it is not known whether it is the positive one" if classes == 1 else ""
        raise InputError(f"expected gain is for two classes; this table has {classes}{which}.")
    check_scorable(table)
    m = table.margins
    return exact_value(gains.measure, Margins.of(m.r[::-1], m.q[::-1], m.d[::-1], 2))


def _table(y_true: Any, y_pred: Any, sample_weight: Any) -> Table:
    """Tabulate what scikit-learn's own checks let through."""
    check_consistent_length(y_true, y_pred, sample_weight)
    kinds = [type_of_target(y, input_name=name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))]
    if not set(kinds) <= {"binary", "multiclass"}:
        if kinds[0] != kinds[1]:
            raise ValueError("Classification metrics can't handle a mix of {} and {} targets".format(*kinds))
        raise ValueError(f"{kinds[0]} is not supported")
    if len(y_true) < 1:
        raise ValueError(
            "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required."
        )
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    labels = unique_labels(y_true, y_pred)
    if sample_weight is not None:
        sample_weight = check_array(sample_weight, ensure_2d=False, dtype=None, input_name="sample_weight")
        if sample_weight.ndim != 1:
            raise ValueError("Sample weights must be 1D array or scalar")
    table: Table = tabulate(y_true, y_pred, sample_weight, labels=labels)
    return table

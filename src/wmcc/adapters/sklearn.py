"""wmcc for scikit-learn: a drop-in ``matthews_corrcoef`` and scorers for the four correlations.

Examples
--------
>>> from wmcc.adapters.sklearn import matthews_corrcoef, SCORERS
>>> matthews_corrcoef([+1, +1, +1, -1], [+1, -1, +1, +1])
-0.3333333333333333
>>> SCORERS["mpc2"]
make_scorer(mpc2, response_method='predict')

A scorer takes ``sample_weight`` through metadata routing, in ``cross_validate`` as in ``GridSearchCV``:

>>> import numpy as np, sklearn
>>> from sklearn.dummy import DummyClassifier
>>> from sklearn.model_selection import cross_validate
>>> X, y, area = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1]), np.array([1.0, 2, 3, 4, 5, 6])
>>> with sklearn.config_context(enable_metadata_routing=True):
...     scorer = SCORERS["ecc"].set_score_request(sample_weight=True)
...     model = DummyClassifier().set_fit_request(sample_weight=False)
...     fits = cross_validate(model, X, y, cv=2, scoring=scorer, params={"sample_weight": area})
>>> fits["test_score"]
array([0., 0.])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.table import Table
from ..errors import MissingDependencyError
from ..measures import MEASURES
from ..sources import tabulate

try:
    from sklearn.metrics import make_scorer
except ModuleNotFoundError:
    raise MissingDependencyError(
        "wmcc.adapters.sklearn needs scikit-learn, which is not installed.", "pip install 'wmcc[sklearn]'"
    ) from None
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target, unique_labels


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
    return tabulate(y_true, y_pred, sample_weight, labels=labels)


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Matthews correlation coefficient, multiclass included (there it is `wmcc.ecc`).

    The signature, the checks and the answers of ``sklearn.metrics.matthews_corrcoef``, but exact where that
    one loses digits, overflows or returns 0.0 or NaN for very small or large weights. It refuses negative weights
    and more than 2,048 classes. Most of its time goes into scikit-learn's own checks: `wmcc.ecc` does without.

    Parameters
    ----------
    y_true, y_pred
        Labels, one per sample.
    sample_weight
        Weights, one per sample.

    Returns
    -------
    float
    """
    return MEASURES["ecc"](_table(y_true, y_pred, sample_weight))


@dataclass(frozen=True)
class _Metric:
    """A measure with scikit-learn's signature; unlike a closure it can be sent to worker processes."""

    __name__: str

    def __call__(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
        return MEASURES[self.__name__](_table(y_true, y_pred, sample_weight))


SCORERS: dict[str, Any] = {name: make_scorer(_Metric(name)) for name in ("mcc", "ecc", "mpc1", "mpc2")}
"""Scorers by the names of the measures."""

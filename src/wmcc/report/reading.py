"""What a report may be given, and the scores and pairs that come of it: from here on there are only tables."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..core.joint import JointTable
from ..core.labels import merged
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..inference.interval import clustered, is_of, with_cluster
from ..measures.base import refuse_after_table
from ..results.score import Score, score
from ..sources.files import find, is_path
from ..sources.options import names_a_column
from ..sources.predictions import checked_names, predictions

Pair = tuple[str, str]
Joints = dict[Pair, JointTable]
"""The joint table of each pair of predictions."""

ALONE = "prediction"
"""What a prediction is called that has no name and needs none."""


def read(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    weight: Any,
    confidence_level: float,
    cluster: Any,
    names: Any,
    options: dict[str, Any],
) -> tuple[Joints, dict[str, Score]]:
    """Return the pairs of predictions, if there are several, and the score of each by its name."""
    if is_of(y_true, JointTable):
        joint = clustered(y_true, JointTable)
        given = {"y_pred": y_pred, "sample_weight": sample_weight, "weight": weight, "cluster": cluster}
        refuse_after_table({name: x for name, x in given.items() if x is not None} | options)
        pair = checked_names(names, None, 2)
        return _scored({(pair[0], pair[1]): joint}, pair, confidence_level)
    columns = y_pred is not None and names_a_column(y_true, y_pred)
    given = sample_weight if columns else y_pred
    if _are_several(given, columns):
        a, b, w = (y_pred, given, None) if columns else (given, None, sample_weight)
        several = predictions(y_true, a, b, w, weight, with_cluster(options, cluster), names)
        joints = {(several.names[i], several.names[j]): joint for (i, j), joint in several.joints().items()}
        return _scored(_aligned(joints), several.names, confidence_level)
    if names is not None:
        raise InputTypeError("names= are those of several predictions, and there is one.")
    name = given if columns and isinstance(given, str) else ALONE
    if isinstance(given, dict):
        if not given:
            raise InputError("the dict of predictions is empty; expected at least one.")
        ((name, given),) = given.items()
    asked = {"confidence_level": confidence_level, "cluster": cluster, **options}
    if columns:
        return {}, {str(name): score(y_true, y_pred, given, weight, **asked)}
    return {}, {str(name): score(y_true, given, sample_weight, weight, **asked)}


def files(y_true: Any, y_pred: Any, options: dict[str, Any]) -> list[str]:
    """Names of the files that hold the data; none if they are in memory, where a list of texts is one of labels."""
    named = any(options.get(name) is not None for name in ("true", "pred", "on"))
    if not named and not names_a_column(y_true, y_pred):
        return []
    sides = (y_true,) if options.get("on") is None else (y_true, y_pred)
    return sorted(path for side in sides if is_path(side) for path in find(side).paths)


def _are_several(given: Any, columns: bool) -> bool:
    """Whether these are predictions, rather than one: a dict or a list of them, or of columns."""
    if isinstance(given, dict):
        return len(given) > 1
    if not isinstance(given, (list, tuple)) or len(given) < 2:
        return False
    return columns or not any(isinstance(x, (str, bytes, bool, int)) or not hasattr(x, "__len__") for x in given)


def _aligned(joints: Joints) -> Joints:
    """Give every pair the classes of all: one prediction may name a class that no other does, and MPC2 counts it."""
    union = reduce(merged, (joint.labels for joint in joints.values()))
    return {pair: joint + JointTable.empty(union) for pair, joint in joints.items()}


def _scored(joints: Joints, names: tuple[str, ...], level: float) -> tuple[Joints, dict[str, Score]]:
    tables: dict[str, Table] = {}
    for (a, b), joint in joints.items():
        for name, side in ((a, "first"), (b, "second")):
            if name not in tables:
                tables[name] = getattr(joint, side)
    return joints, {name: score(tables[name], confidence_level=level) for name in names}

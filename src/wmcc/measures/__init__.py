"""The registry: every measure there is. Reports, adapters, certificates and tests read it."""

from __future__ import annotations

from .base import ClassMeasureName, Measure, MeasureName, ScoreMeasureName
from .companions import (
    ClassMeasure,
    accuracy,
    balanced_accuracy,
    class_mcc,
    f1,
    iou,
    kappa,
    mean_f1,
    mean_iou,
    mean_recall,
    precision,
    recall,
)
from .correlation import ecc, mcc, mpc1, mpc2
from .gains import ExpectedGain

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (mcc, ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa, mean_iou, mean_f1, mean_recall)
}
"""One number per table, by name."""

CLASS_MEASURES: dict[str, ClassMeasure] = {measure.name: measure for measure in (precision, recall, f1, iou, class_mcc)}
"""One number per class, by name."""

__all__ = [
    "accuracy", "balanced_accuracy", "CLASS_MEASURES", "ClassMeasure", "ClassMeasureName", "ecc", "ExpectedGain",
    "kappa", "mcc", "mean_f1", "mean_iou", "mean_recall", "Measure", "MeasureName", "MEASURES", "mpc1", "mpc2",
    "ScoreMeasureName",
]  # fmt: skip

"""wmcc: scores for classifiers whose observations do not count equally."""

from .errors import (
    InputError,
    InputTypeError,
    LabelError,
    MissingDependencyError,
    SchemaError,
    TooManyClassesError,
    UndefinedMeasureError,
    UndefinedMeasureWarning,
    WeightError,
    WmccError,
)
from .inference import effective_sample_size
from .measures import CLASS_MEASURES, MEASURES, accuracy, balanced_accuracy, ecc, kappa, mcc, mpc1, mpc2
from .measures.base import Measure
from .report import Score, score
from .robustness import Certificate, Curve, Radius, Sensitivity, certify, radius, sensitivity
from .sources import Accumulator, tabulate
from .table import Table
from .tally import kernel

__all__ = [
    "Accumulator",
    "accuracy",
    "balanced_accuracy",
    "Certificate",
    "certify",
    "CLASS_MEASURES",
    "Curve",
    "ecc",
    "effective_sample_size",
    "InputError",
    "InputTypeError",
    "kappa",
    "kernel",
    "LabelError",
    "mcc",
    "Measure",
    "MEASURES",
    "MissingDependencyError",
    "mpc1",
    "mpc2",
    "Radius",
    "radius",
    "SchemaError",
    "Score",
    "score",
    "Sensitivity",
    "sensitivity",
    "Table",
    "tabulate",
    "TooManyClassesError",
    "UndefinedMeasureError",
    "UndefinedMeasureWarning",
    "WeightError",
    "WmccError",
]

"""wmcc: scores for classifiers whose observations do not count equally."""

from . import published
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
from .inference import (
    Comparison,
    Comparisons,
    Diagnosis,
    Interval,
    compare,
    diagnose,
    effective_sample_size,
    interval,
)
from .joint import JointTable
from .measures import CLASS_MEASURES, MEASURES, accuracy, balanced_accuracy, ecc, kappa, mcc, mpc1, mpc2
from .measures.base import Measure
from .report import Score, Uncertainty, score, uncertainty
from .robustness import (
    Certificate,
    Curve,
    Radius,
    Ranking,
    Rankings,
    Sensitivity,
    certify,
    certify_ranking,
    radius,
    sensitivity,
)
from .sources import Accumulator, joint_table, tabulate
from .table import Table
from .tally import kernel

__all__ = [
    "Accumulator",
    "accuracy",
    "balanced_accuracy",
    "Certificate",
    "certify",
    "certify_ranking",
    "CLASS_MEASURES",
    "compare",
    "Comparison",
    "Comparisons",
    "Curve",
    "diagnose",
    "Diagnosis",
    "ecc",
    "effective_sample_size",
    "InputError",
    "InputTypeError",
    "Interval",
    "interval",
    "joint_table",
    "JointTable",
    "kappa",
    "kernel",
    "LabelError",
    "mcc",
    "Measure",
    "MEASURES",
    "MissingDependencyError",
    "mpc1",
    "mpc2",
    "published",
    "Radius",
    "radius",
    "Ranking",
    "Rankings",
    "SchemaError",
    "Score",
    "score",
    "Sensitivity",
    "sensitivity",
    "Table",
    "tabulate",
    "TooManyClassesError",
    "Uncertainty",
    "uncertainty",
    "UndefinedMeasureError",
    "UndefinedMeasureWarning",
    "WeightError",
    "WmccError",
]

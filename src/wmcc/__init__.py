"""wmcc: scores for classifiers whose observations do not count equally."""

TYPE_CHECKING = False  # as type checkers know it; to import it from typing takes longer than all the rest here

if TYPE_CHECKING:
    from . import experiments, plot, published
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
    from .inference.compare import compare
    from .inference.comparison import Comparison, Comparisons
    from .inference.diagnostics import Diagnosis, diagnose, effective_sample_size
    from .inference.interval import Interval, interval
    from .joint import JointTable
    from .measures import CLASS_MEASURES, MEASURES, accuracy, balanced_accuracy, ecc, kappa, mcc, mpc1, mpc2
    from .measures.base import Measure
    from .report.score import Score, score
    from .report.uncertainty import Uncertainty, uncertainty
    from .report.write import write_report
    from .robustness.certificate import Certificate, Curve
    from .robustness.certify import certify
    from .robustness.radius import Radius, radius
    from .robustness.ranking import Ranking, Rankings, certify_ranking
    from .robustness.sensitivity import Sensitivity, sensitivity
    from .sources import Accumulator, joint_table, tabulate
    from .table import Table
    from .tables import Tables
    from .tally import kernel
else:
    # All is loaded when it is first asked for: who only scores does not wait for certificates, and the command line,
    # which imports this first, can answer Ctrl-C and --help before NumPy is here.
    _MODULES = {
        "arraytypes", "errors", "exact", "experiments", "inference", "joint", "labels", "measures", "plot", "published",
        "report", "robustness", "sources", "stack", "storage", "sums", "table", "tables", "tally", "text",
    }  # fmt: skip
    _NAMES = {
        "errors": {
            "InputError", "InputTypeError", "LabelError", "MissingDependencyError", "SchemaError",
            "TooManyClassesError", "UndefinedMeasureError", "UndefinedMeasureWarning", "WeightError", "WmccError",
        },
        "inference.compare": {"compare"},
        "inference.comparison": {"Comparison", "Comparisons"},
        "inference.diagnostics": {"Diagnosis", "diagnose", "effective_sample_size"},
        "inference.interval": {"Interval", "interval"},
        "joint": {"JointTable"},
        "measures": {
            "accuracy", "balanced_accuracy", "CLASS_MEASURES", "ecc", "kappa", "mcc", "MEASURES", "mpc1", "mpc2",
        },
        "measures.base": {"Measure"},
        "report.score": {"Score", "score"},
        "report.uncertainty": {"Uncertainty", "uncertainty"},
        "report.write": {"write_report"},
        "robustness.certificate": {"Certificate", "Curve"},
        "robustness.certify": {"certify"},
        "robustness.radius": {"Radius", "radius"},
        "robustness.ranking": {"Ranking", "Rankings", "certify_ranking"},
        "robustness.sensitivity": {"Sensitivity", "sensitivity"},
        "sources": {"Accumulator", "joint_table", "tabulate"},
        "table": {"Table"},
        "tables": {"Tables"},
        "tally": {"kernel"},
    }  # fmt: skip

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        for home, names in _NAMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


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
    "experiments",
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
    "plot",
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
    "Tables",
    "tabulate",
    "TooManyClassesError",
    "Uncertainty",
    "uncertainty",
    "UndefinedMeasureError",
    "UndefinedMeasureWarning",
    "WeightError",
    "WmccError",
    "write_report",
]

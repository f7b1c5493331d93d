"""A result of every kind, whose labels and names are markup."""

from functools import cache

import numpy as np

import wmcc
import wmcc.experiments
import wmcc.matrices
import wmcc.published

LABELS = ["<script>alert(1)</script>", 'a & b "c"', "oak"]
NAMES = ("<b>A</b>", "B&amp;", "C")


def rows(classes, n):
    """True classes, three guesses, and weights."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, classes, n)
    guesses = [np.where(rng.random(n) < share, truth, rng.integers(0, classes, n)) for share in (0.9, 0.6, 0.5)]
    return truth, guesses, np.round(rng.lognormal(1, 1, n), 2)


CODES, GUESSES, W = rows(3, 300)
T, A, B, C = (np.array(LABELS)[codes] for codes in (CODES, *GUESSES))
TABLE, JOINT = wmcc.tabulate(T, A, W), wmcc.tabulate(T, dict(zip(NAMES[:2], (A, B), strict=True)), W)
TWO = wmcc.Table.from_counts([[40, 3], [4, 30]], labels=LABELS[:2])
TWO_JOINT = wmcc.tabulate(CODES < 1, dict(zip(NAMES[:2], (x < 1 for x in GUESSES), strict=False)))
SEVERAL = wmcc.tabulate(T, dict(zip(NAMES, (A, B, C), strict=True)), W)
FEW = wmcc.tabulate(T[:40], {k: y[:40] for k, y in zip(NAMES, (A, B, C), strict=True)}, W[:40])
IMAGES = wmcc.tabulate(T, dict(zip(NAMES, (A, B, C), strict=True)), W, cluster=np.arange(len(T)) % 7)
SCORES = wmcc.tabulate(
    np.array(LABELS[:2])[(CODES < 1).astype(int)], score=(CODES < 1) + W.round(0) / 5, sample_weight=W
)
BOTH_SCORES = wmcc.tabulate(
    np.array(LABELS[:2])[(CODES[:90] < 1).astype(int)],
    score=dict(zip(NAMES[:2], (x[:90] + W[:90].round(-1) for x in GUESSES), strict=False)),
    sample_weight=W[:90],
)
NOTHING = wmcc.Table.from_counts([[3, 0], [0, 0]], labels=LABELS[:2])


def drawn_sample():
    """Points in polygons; one class has none, which is warned of."""
    import geopandas
    import shapely

    squares = [shapely.box(10 + k, 50, 11 + k, 51) for k in range(3)]
    land = geopandas.GeoDataFrame({"map": LABELS}, geometry=squares, crs=4326)
    return wmcc.draw_sample(land, dict(zip(LABELS, (3, 0, 2), strict=True)), pred="map", min_distance=10)


RESULTS = {
    "Table": lambda: TABLE,
    "Table, empty": lambda: wmcc.Table.empty(),
    "Tables": lambda: wmcc.tabulate(T, A, W, by=T),
    "JointTable": lambda: wmcc.tabulate(T[:9], {"A": A[:9], NAMES[0]: B[:9]}, W[:9]),
    "Score": lambda: wmcc.score(TABLE),
    "Score, clusters": lambda: wmcc.score(wmcc.tabulate(T, A, W, cluster=np.arange(len(T)) % 4)),
    "Score, two classes": lambda: wmcc.score(TWO),
    "Score, ranges": lambda: wmcc.score(TWO).with_ranges(0.2),
    "Groups": lambda: wmcc.score(wmcc.tabulate(T, A, W, by=T)),
    "Score, undefined": lambda: wmcc.score(NOTHING, zero_division=float("nan")),
    "Score, images": lambda: wmcc.score(IMAGES["C"]).with_image_means(),
    "ImageScores": lambda: wmcc.image_scores(wmcc.tabulate(T, A, W, cluster=T)),
    "ImageScores, two": lambda: wmcc.image_scores(IMAGES, "mpc2", worst=2),
    "Interval": lambda: wmcc.interval(TABLE, "mpc2"),
    "Interval, unreliable": lambda: wmcc.interval(wmcc.tabulate(T[:9], A[:9], W[:9])),
    "Interval, none": lambda: wmcc.interval(NOTHING),
    "Comparison": lambda: wmcc.compare(JOINT, margin=0.1),
    "Comparison, three": lambda: wmcc.compare(FEW),
    "Comparison, samples": lambda: wmcc.compare({"before": TABLE, NAMES[0]: TABLE}, sample="independent"),
    "Diagnosis": lambda: wmcc.diagnose(TABLE, n_eff=1e6),
    "Certificate": lambda: wmcc.certify(TABLE, "ecc", eps=0.1, nodes=3),
    "Certificate, undefined": lambda: wmcc.certify(NOTHING, "mcc"),
    "Certificate, unmet": lambda: wmcc.certify(
        wmcc.Table.from_counts([[5, 1], [1, 1]]), "mcc", eps=3, model="absolute"
    ),
    "Curve": lambda: wmcc.certify(TWO, "mcc", eps=[0.1, 0.2]),
    "TrimmingCurve": lambda: wmcc.certify_trimming(TABLE, caps=[20.0, 3.0], nodes=3),
    "TrimmingCurve, undefined": lambda: wmcc.certify_trimming(NOTHING, "mcc", caps=[0.5]),
    "Radius": lambda: wmcc.radius(TWO, "mcc", at_least=0.7),
    "Radius, none": lambda: wmcc.radius(TWO, "mcc", at_least=0.99),
    "Radius, ranking": lambda: wmcc.certify_ranking(TWO_JOINT, "mcc", nodes=3).radius,
    "Ranking": lambda: wmcc.certify_ranking(JOINT, nodes=3),
    "Ranking, three": lambda: wmcc.certify_ranking(SEVERAL, nodes=3),
    "Ranking, bounds": lambda: wmcc.certify_ranking(JOINT, nodes=3, lower=JOINT),
    "Ranking, radii": lambda: wmcc.certify_ranking(TWO_JOINT, "mcc", nodes=3).with_radii(),
    "Sensitivity": lambda: wmcc.sensitivity(TABLE),
    "Sensitivity, undefined": lambda: wmcc.sensitivity(NOTHING),
    "Uncertainty": lambda: wmcc.results.uncertainty(TWO, "mcc"),
    "Uncertainty, two": lambda: wmcc.results.uncertainty(TWO_JOINT, "mcc"),
    "MapAccuracy": lambda: wmcc.map_accuracy(
        wmcc.tabulate(T, A, design=wmcc.Strata(A, population=dict.fromkeys(LABELS, 500))), unit="ha"
    ),
    "MapAccuracy, undefined": lambda: wmcc.map_accuracy(NOTHING),
    "Estimate": lambda: wmcc.map_accuracy(TABLE)[LABELS[0]].area,
    "DrawnSample": lambda: drawn_sample(),
    "SamplePlan": lambda: wmcc.plan_sample(dict.fromkeys(LABELS, 0.9), dict.fromkeys(LABELS, 500), se=0.02),
    "Uncertainty, bounds": lambda: wmcc.results.uncertainty(TWO_JOINT, "mcc", upper=TWO_JOINT),
    "PublishedBound": lambda: wmcc.published.binary(TWO, 0.01),
    "MatrixScore": lambda: wmcc.matrices.score([0, 0, 1, 1], [0, 0, 0, 1], wmcc.matrices.grid((1, 4))),
    "MatrixCheck": lambda: wmcc.matrices.check([[1, 2], [2, 1]]),
    "ErrorMap": lambda: wmcc.error_map(T[:90].reshape(9, 10), A[:90].reshape(9, 10), of=LABELS[0]),
    "ScoreTable": lambda: SCORES,
    "ScoreTable, edges": lambda: SCORES.binned([0.5, 1.5]),
    "ScoreTable, two": lambda: BOTH_SCORES,
    "ClassScores": lambda: wmcc.tabulate(T, score=np.eye(3)[GUESSES[0]] + 0.1 * np.eye(3)[GUESSES[1]], labels=LABELS),
    "ThresholdCurve": lambda: wmcc.curve(SCORES),
    "BestThreshold": lambda: wmcc.best_threshold(SCORES, "f1", at_least={"recall": 0.5}),
    "BestThreshold, certified": lambda: wmcc.best_threshold(SCORES.binned([0.5, 1.5]), eps=0.1),
    "BestThreshold, unreliable": lambda: wmcc.best_threshold(BOTH_SCORES[NAMES[0]], "accuracy"),
    "Interval, scores": lambda: wmcc.interval(SCORES, "roc_auc"),
    "ScoreInterval": lambda: wmcc.interval(SCORES.binned([0.5, 1.5]), "roc_auc"),
    "Comparison, scores": lambda: wmcc.compare(BOTH_SCORES, threshold="best"),
    "Separation": lambda: wmcc.experiments.separation(3, n=12, repetitions=2),
}
"""One of every kind, with markup in labels and names, and with warnings."""


@cache
def made(name):
    return RESULTS[name]()

"""What users write, for type checkers: mypy and pyright read it, and a test runs it.

Every result has a type that is known (`assert_type`), and a keyword that does not exist is refused: the comments
that silence a refusal are themselves an error where there is none.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import wmcc
import wmcc.measures

y_true = np.array([0, 0, 1, 1, 2, 2] * 20)
a, b = np.array([0, 1, 1, 1, 2, 2] * 20), np.array([0, 0, 1, 2, 2, 0] * 20)
area = np.linspace(1.0, 3.0, 120)
frame = pd.DataFrame({"label": y_true, "pred": a, "other": b, "ha": area, "tile": y_true // 2})

# ---- data go in through one door ----------------------------------------------------------------------

table = wmcc.tabulate(y_true, a, area)
assert_type(table, wmcc.Table)
assert_type(wmcc.tabulate(["oak", "elm"], ["oak", "oak"], [300, 2.5]), wmcc.Table)
assert_type(wmcc.tabulate(frame, true="label", pred="pred", weight="ha"), wmcc.Table)
assert_type(wmcc.tabulate(frame["label"], frame["pred"], frame["ha"], cluster=frame["tile"]), wmcc.Table)
strata = wmcc.Strata(population={0: 500.0, 1: 300.0, 2: 200.0}, lonely="adjust")
drawn = wmcc.tabulate(y_true, a, design=strata.of(a))
assert_type(drawn, wmcc.Table)
assert_type(
    wmcc.tabulate(frame, true="label", pred="pred", weight="ha", design=wmcc.Strata("pred"), cluster="tile"), wmcc.Table
)
nested = wmcc.PostStrata("pred", dict.fromkeys(range(3), 3.0), design=wmcc.Strata("tile"))
assert_type(wmcc.tabulate(frame, true="label", pred="pred", design=nested, by="tile"), wmcc.Tables[wmcc.Table])
folder = Path(tempfile.mkdtemp())
frame.assign(rw1=area, rw2=2 * area).to_csv(folder / "survey.csv", index_label="row")
file = wmcc.Files(folder / "survey.csv", engine="polars")
replicated = wmcc.Replicates("rw*", "fay", fay=0.3)
assert_type(wmcc.tabulate(file, true="label", pred="pred", weight="ha", design=replicated), wmcc.Table)
both = wmcc.Join(frame.reset_index(names="row"), wmcc.Files(folder / "survey.csv"), on=["row"], unmatched="ignore")
assert_type(wmcc.tabulate(both, true="label", pred={"A": "pred", "B": "other"}), wmcc.JointTable)
plots = wmcc.Layer(frame, xy=("label", "tile"), crs=4326)
land = xr.DataArray(np.zeros((2, 3), dtype=int), {"lat": [0.0, 1.0], "lon": [0.0, 1.0, 2.0]}, ("lat", "lon"))
laid = wmcc.Overlay(plots, wmcc.Raster(land, crs=4326), uncovered="class", sliver=0.0)
assert_type(wmcc.tabulate(laid, true="label", weight="ha"), wmcc.Table)
pair = wmcc.tabulate(y_true, {"A": a, "B": b}, area)
assert_type(pair, wmcc.JointTable)
assert_type(wmcc.tabulate(frame, true="label", pred={"A": "pred", "B": "other"}, weight="ha"), wmcc.JointTable)
tiles = wmcc.tabulate(frame, true="label", pred="pred", weight="ha", by="tile")
assert_type(tiles, wmcc.Tables[wmcc.Table])
assert_type(wmcc.tabulate(y_true, {"A": a, "B": b}, by=frame["tile"]), wmcc.Tables[wmcc.JointTable])
images = Path(tempfile.mkdtemp())
np.save(images / "street.npy", y_true.reshape(10, 12))
assert_type(wmcc.tabulate(images, str(images), np.ones_like, ignore=255, progress=False), wmcc.Table)
assert_type(wmcc.tabulate(images, {"A": images, "B": images}, by="folder"), wmcc.Tables[wmcc.JointTable])
assert_type(tiles.total(), wmcc.Table)
assert_type(pair["A"], wmcc.Table)
assert_type(table + table, wmcc.Table)
assert_type(wmcc.merge([table, table]), wmcc.Table)
assert_type(wmcc.Table.from_json(table.to_json()), wmcc.Table)


# ---- scores and thresholds -------------------------------------------------------------------------------

probability, sick = np.linspace(0.0, 1.0, 120), y_true > 0
frame = frame.assign(sick=sick, half=area // 2, p=probability, q=probability[::-1])
scored = wmcc.tabulate(sick, score=probability, sample_weight=area)
assert_type(scored, wmcc.results.ScoreTable)
assert_type(wmcc.tabulate([0, 1, 1], score=[0.1, 0.7, 0.3], thresholds=[0.5]), wmcc.results.ScoreTable)
assert_type(wmcc.tabulate(frame, true="sick", score="p", weight="ha", cluster="tile"), wmcc.results.ScoreTable)
models = wmcc.tabulate(frame, true="sick", score=["p", "q"])
assert_type(models, wmcc.results.ScoreTable)
assert_type(models["p"], wmcc.results.ScoreTable)
assert_type(wmcc.tabulate(sick, score=probability, by=area > 2), dict[Any, wmcc.results.ScoreTable])
assert_type(wmcc.tabulate(frame, true="sick", score="p", by="half")[1], wmcc.results.ScoreTable)
assert_type(wmcc.tabulate([0, 1, 2], score=[[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0, 0.1, 0.9]]), wmcc.results.ClassScores)
assert_type(wmcc.results.ScoreTable.from_json(scored.to_json()), wmcc.results.ScoreTable)
assert_type(scored + scored, wmcc.results.ScoreTable)
assert_type(wmcc.curve(scored, "mcc"), wmcc.results.ThresholdCurve)
chosen = wmcc.best_threshold(scored, "mcc", at_least={"recall": 0.5})
assert_type(chosen, wmcc.results.BestThreshold)
assert_type((chosen.threshold, chosen.expected, chosen.plausible), tuple[float, float, tuple[float, float]])
assert_type(wmcc.interval(scored, "roc_auc"), wmcc.results.Interval)
assert_type(wmcc.compare(models, "mcc", threshold="best"), wmcc.results.Comparison)


# ---- measures, of tables and of labels ------------------------------------------------------------------

assert_type(wmcc.ecc(table), float)
assert_type(wmcc.ecc(y_true, a), float)
assert_type(wmcc.mpc2([0, 1], [0, 0], sample_weight=[2.0, 1.0], zero_division=0.5), float)
assert_type(wmcc.measures.MEASURES["mean_iou"](table), float)

# ---- readers take what came out -----------------------------------------------------------------------------

score = wmcc.score(table)
assert_type(score, wmcc.results.Score)
assert_type(wmcc.score(y_true, a, sample_weight=area), wmcc.results.Score)
assert_type(score.ecc, float)
assert_type(score.metrics(), dict[str, float])
assert_type(score.to_dict(), dict[str, Any])
found = wmcc.interval(table, "mpc2", confidence_level=0.9)
assert_type(found, wmcc.results.Interval)
assert_type((found.value, found.low, found.high, found.se), tuple[float, float, float, float])
mapped = wmcc.map_accuracy(table, pixel_area=0.09, unit="ha")
assert_type(mapped, wmcc.results.MapAccuracy)
assert_type(mapped[1].area, wmcc.results.Estimate)
assert_type(mapped.overall_accuracy.margin, float)
assert_type(wmcc.plan_sample({0: 0.9, 1: 0.8}, {0: 500, 1: 900}, se=0.02), wmcc.results.SamplePlan)
assert_type(wmcc.draw_sample(wmcc.Raster(land, crs=4326), 2, seed=1), wmcc.results.DrawnSample)
assert_type(wmcc.plan_sample(table, n=500, measure="ecc").n, int)
assert_type(table.merge_classes({9: [1, 2]}), wmcc.Table)
assert_type(pair.merge_classes({9: [1, 2]}), wmcc.JointTable)
assert_type(wmcc.certify(table, "ecc", eps=0.2), wmcc.results.Certificate)
assert_type(wmcc.certify(table, "ecc", eps=[0.1, 0.2]), wmcc.results.Curve)
assert_type(wmcc.certify_trimming(table, "ecc", caps=[2.0, 1.5]), wmcc.results.TrimmingCurve)
assert_type(wmcc.radius(table, "ecc", at_least=0.3), wmcc.results.Radius)
assert_type(wmcc.sensitivity(table), wmcc.results.Sensitivity)
assert_type(wmcc.diagnose(table), wmcc.results.Diagnosis)
assert_type(table.n_eff, float)
comparison = wmcc.compare(pair, "ecc", margin=0.02)
assert_type(comparison, wmcc.results.Comparison)
assert_type(comparison.p_value, float)
assert_type(wmcc.compare({"may": table, "june": table}, sample="independent"), wmcc.results.Comparison)
assert_type(wmcc.certify_ranking(pair, "ecc", eps=0.1), wmcc.results.Ranking)
assert_type(wmcc.certify_ranking(pair, "ecc", lower=pair, upper=pair), wmcc.results.Ranking)
assert_type(wmcc.results.uncertainty(table), wmcc.results.Uncertainty)
assert_type(wmcc.results.uncertainty(pair, lower=pair), wmcc.results.Uncertainty)
assert_type(wmcc.score(table).with_ranges(upper=table), wmcc.results.Score)


# ---- streams -------------------------------------------------------------------------------------------------

survey = wmcc.Accumulator()
survey.update(y_true, a, design=strata.of(a))
assert_type(survey.table, wmcc.Table)
monitor = wmcc.Accumulator()
monitor.update(y_true, a, area)
monitor.update(2, 1, 2.5)
assert_type(monitor.table, wmcc.Table)
assert_type(wmcc.ecc(monitor), float)
scores: Mapping[str, float] = {str(key): wmcc.ecc(own) for key, own in tiles.items()}


# ---- images --------------------------------------------------------------------------------------------------

labels = np.array([[0, 1, 1, 0]])
weights = wmcc.weightmaps.border(labels, spacing=(1.0, 0.5), class_weight={0: 1.0, 1: 2.0})
assert_type(weights, NDArray[np.float32])
assert_type(wmcc.tabulate(labels, labels, weights), wmcc.Table)
assert_type(wmcc.weightmaps.mask(labels, wmcc.weightmaps.boundary_band(labels, radius=1)), NDArray[Any])
assert_type(wmcc.weightmaps.named("distance:to=1,scale=5")(labels), NDArray[np.float32])


# ---- maps ----------------------------------------------------------------------------------------------------

cover = wmcc.Raster(
    xr.DataArray(np.tile(labels, (2, 1)), {"y": [1.5, 0.5], "x": [0.5, 1.5, 2.5, 3.5]}, ("y", "x")),
    nodata=None,
    crs="EPSG:6933",
    name="cover",
)
assert_type(cover.shape, tuple[int, int])
assert_type(cover.names, Mapping[int, str])
assert_type(cover.pixel_area("m2"), NDArray[Any])
values, known = cover.read(slice(0, 1), slice(0, 4))
assert_type(known, NDArray[Any] | None)


def refused() -> None:
    """Calls that type checkers refuse; nobody makes them."""
    wmcc.tabulate(y_true, a, stratum=a)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wmcc.tabulate(y_true, a, score=probability)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wmcc.best_threshold(table)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wmcc.tabulate(y_true, a, area, treads=2)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wmcc.Blocks(64, 64, 64)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wmcc.Strata(a, population=3, lonly="adjust")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wmcc.ecc(y_true, a, threshold=0.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wmcc.certify(table, "ecc", 0.2, eps=0.1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wmcc.interval(table, "ecc", confidence=0.9)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wmcc.radius(table, "ecc", threshold=0.3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wmcc.interval(table, "mmc")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wmcc.certify(table, "recall", eps=0.1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


def by_name(measure: wmcc.measures.MeasureName, tables: wmcc.Tables) -> None:
    """Names of measures have a type, and groups are of tables of one prediction unless it is said otherwise."""
    assert_type(wmcc.interval(tables["north"], measure), wmcc.results.Interval)
    assert_type(tables["north"], wmcc.Table)
    wmcc.interval(table, "recall", of=1)
    wmcc.image_scores(table, measure)
    wmcc.plan_sample(table, n=500, measure="users_accuracy", of=1)

"""Every source with every value: the call works, or is refused with a sentence; hints can be followed."""

import geopandas as gpd
import numpy as np
import pandas as pd
import PIL  # noqa: F401  # which images need
import polars as pl
import pytest
import rasterio
import shapely

import wmcc
from wmcc.errors import InputError, InputTypeError

pytestmark = pytest.mark.filterwarnings("ignore")

T = np.array([[0, 1, 1, 0], [1, 1, 0, 0]], dtype=np.uint8)
P = np.array([[0, 1, 0, 0], [1, 0, 0, 1]], dtype=np.uint8)
X, Y = 4_325_000, 3_205_000
ROWS = {"id": list(range(8)), "t": T.ravel(), "p": P.ravel(), "w": np.arange(1.0, 9), "s": list("aabbccdd")}
ROWS |= {"r1": np.ones(8), "r2": np.ones(8) * 2, "x": X + np.arange(8) + 0.5, "y": np.full(8, Y + 0.5)}
NAMED = {"true": "t", "pred": "p"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Calls that work, by the kind of data: what comes by position, and by keyword."""
    folder = tmp_path_factory.mktemp("sources")
    frame = pd.DataFrame(ROWS)
    frame.to_csv(folder / "rows.csv", index=False)
    squares = gpd.GeoDataFrame(frame, geometry=[shapely.box(X + k, Y, X + k + 1, Y + 1) for k in range(8)], crs=3035)
    squares.to_file(folder / "squares.gpkg")
    profile = {"driver": "GTiff", "height": 2, "width": 4, "count": 1, "dtype": "uint8", "crs": "EPSG:3035"}
    for name, own in (("truth", T), ("map", P)):
        (folder / name).mkdir()
        np.save(folder / name / "a.npy", own)
        with rasterio.open(
            folder / f"{name}.tif", "w", transform=rasterio.Affine(2, 0, X, 0, -2, Y + 2), **profile
        ) as file:
            file.write(own[None])
    rasters = (str(folder / "truth.tif"), str(folder / "map.tif"))
    points = wmcc.Layer(frame, xy=("x", "y"), crs=3035)
    return folder, squares, {
        "arrays": ((T.ravel(), P.ravel()), {}),
        "label maps": ((T, P), {}),
        "a frame": ((frame,), NAMED),
        "a lazy frame": ((pl.DataFrame(ROWS).lazy(),), NAMED),
        "a file": ((str(folder / "rows.csv"),), NAMED),
        "Files": ((wmcc.Files(folder / "rows.csv", engine="polars"),), NAMED),
        "Join": ((wmcc.Join(frame, frame[["id", "p"]].rename(columns={"p": "q"}), "id"),), {"true": "t", "pred": "q"}),
        "images": ((f"{folder}/truth/", f"{folder}/map/"), {}),
        "rasters": (rasters, {}),
        "Raster": (tuple(map(wmcc.Raster, rasters)), {}),
        "polygons": ((squares,), NAMED),
        "a file of polygons": ((folder / "squares.gpkg",), NAMED),
        "Layer": ((points,), NAMED),
        "Overlay": ((wmcc.Overlay(squares[["t", "w", "s", "geometry"]], squares[["p", "geometry"]]),), NAMED),
        "points on a raster": ((wmcc.Overlay(points, rasters[1]),), {"true": "t"}),
    }  # fmt: skip


SOURCES = (
    "arrays", "label maps", "a frame", "a lazy frame", "a file", "Files", "Join", "images", "rasters", "Raster",
    "polygons", "a file of polygons", "Layer", "Overlay", "points on a raster",
)  # fmt: skip
IN_ROWS = {
    "a frame",
    "a lazy frame",
    "a file",
    "Files",
    "Join",
    "polygons",
    "a file of polygons",
    "Layer",
    "points on a raster",
}
PIXELS = {"label maps", "rasters", "Raster"}
AREAS = {"rasters", "Raster", "polygons", "a file of polygons", "Overlay"}
WORKS = {
    "Strata": {*IN_ROWS, "arrays", "label maps", "Overlay"},
    "PostStrata": {*IN_ROWS, "arrays", "label maps", "Overlay"},
    "Replicates": {*IN_ROWS, "arrays", "label maps"},
    "Blocks": PIXELS,
    "Area": AREAS,
}
"""Which sources take a value; the others refuse it."""


def given(value, source, data):
    """The value for a source: columns by their names, or a key for each row, and the weights that it needs."""
    columns = len(data) == 1
    shape = np.shape(data[0]) if source in ("arrays", "label maps") else None
    keys = "s" if columns else np.resize(ROWS["s"], shape) if shape else None
    if value in ("Strata", "PostStrata"):
        sizes = {} if keys is None else dict.fromkeys("abcd", 5.0)
        return {"design": wmcc.Strata(keys) if value == "Strata" else wmcc.PostStrata(keys or "s", sizes)
                if columns or keys is None else wmcc.PostStrata(keys, sizes)}  # fmt: skip
    if value == "Replicates":
        weights = ["r1", "r2"] if columns else [np.ones(shape or 8), np.full(shape or 8, 2.0)]
        own = {"weight": "w"} if columns else {"sample_weight": np.ones(shape) if shape else None}
        return {"design": wmcc.Replicates(weights, "brr"), **own}
    if value == "Blocks":
        return {"cluster": wmcc.Blocks(2)}
    return {"weight" if columns else "sample_weight": wmcc.Area("m2")}


@pytest.mark.parametrize("value", WORKS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_takes_a_value_or_refuses_it(sources, source, value):
    data, named = sources[2][source]
    assert wmcc.tabulate(*data, **named).rows  # without it
    call = {**named, **given(value, source, data)}
    if source in WORKS[value]:
        assert wmcc.tabulate(*data, **call).rows
        return
    with pytest.raises((InputError, InputTypeError)) as caught:
        wmcc.tabulate(*data, **call)
    assert caught.value.message[0] in "`abcdefghijklmnopqrstuvwxyz"
    assert caught.value.message.endswith(".")
    assert caught.value.hint or (source, value) == ("Overlay", "Replicates"), caught.value.message


@pytest.mark.parametrize("wrap", ["Files", "Join", "Layer", "Overlay", "Raster"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_in_a_value_is_read_or_refused(sources, source, wrap):
    _, squares, calls = sources
    data, named = calls[source]
    make = {
        "Files": lambda: (wmcc.Files(data[0]),),
        "Join": lambda: (wmcc.Join(data[0], pd.DataFrame(ROWS), "id"),),
        "Layer": lambda: (wmcc.Layer(data[0]),),
        "Overlay": lambda: (wmcc.Overlay(data[0], squares[["p", "geometry"]]),),
        "Raster": lambda: (wmcc.Raster(data[0]), *data[1:]),
    }[wrap]
    said = ""
    try:
        assert wmcc.tabulate(*make(), **(named or ({} if wrap == "Raster" else NAMED))).rows
    except (InputError, InputTypeError) as problem:
        said = problem.message
    assert not said or said.endswith("."), said


def test_hints_that_show_a_call_can_be_followed(sources):
    folder, squares, calls = sources
    (frame,), rasters = calls["a frame"][0], calls["rasters"][0]
    joined = "give the frame to `wmcc.tabulate` as it is"
    sized = wmcc.Strata("s", population=dict.fromkeys("abcd", 2.0))
    for wrong, hint, right in (
        (lambda: wmcc.tabulate(*rasters, design=wmcc.Strata("s")), "a frame with a row per pixel",
         lambda: wmcc.tabulate(frame, **NAMED, design=wmcc.Strata("s"))),
        (lambda: wmcc.tabulate(f"{folder}/truth", f"{folder}/map", design=wmcc.Strata("s")), "read the images into",
         lambda: wmcc.tabulate(T, P, design=wmcc.Strata(["a", "b"]))),
        (lambda: wmcc.tabulate(T, P, wmcc.Area()), "give rasters", lambda: wmcc.tabulate(*rasters, wmcc.Area())),
        (lambda: wmcc.tabulate(frame, **NAMED, weight=wmcc.Area()), "geopandas.GeoDataFrame",
         lambda: wmcc.tabulate(squares, **NAMED, weight=wmcc.Area())),
        (lambda: wmcc.tabulate(frame, **NAMED, cluster=wmcc.Blocks(2)), "a column of clusters",
         lambda: wmcc.tabulate(frame, **NAMED, cluster="s")),
        (lambda: wmcc.tabulate(T.ravel(), P.ravel(), cluster=wmcc.Blocks(2)), "give as `cluster` a key per observation",
         lambda: wmcc.tabulate(T.ravel(), P.ravel(), cluster=ROWS["s"])),
        (lambda: wmcc.tabulate(wmcc.Files(folder / "rows.csv", engine="dask"), **NAMED), joined,
         lambda: wmcc.tabulate(frame, **NAMED)),
        (lambda: wmcc.tabulate(T, P, stratum=["a", "b"]), r"design=wmcc\.Strata\(…\)",
         lambda: wmcc.tabulate(T, P, design=wmcc.Strata(["a", "b"]))),
        (lambda: wmcc.tabulate(frame, **NAMED, design=sized, weight="w"), "leave one of them",
         lambda: wmcc.tabulate(frame, **NAMED, design=sized)),
        (lambda: wmcc.tabulate(T, P, design=wmcc.Replicates([T, P], "brr")), "give as `sample_weight` the weights",
         lambda: wmcc.tabulate(T, P, T + 1.0, design=wmcc.Replicates([T, P], "brr"))),
        (lambda: wmcc.tabulate(squares, squares), r"wmcc\.Overlay\(reference, map\), true=…, pred=…",
         lambda: wmcc.tabulate(wmcc.Overlay(squares[["t", "geometry"]], squares[["p", "geometry"]]), **NAMED)),
        (lambda: wmcc.tabulate(frame, "t", "p"), r"tabulate\(data, true='t', pred='p'\)",
         lambda: wmcc.tabulate(frame, **NAMED)),
    ):  # fmt: skip
        with pytest.raises((InputError, InputTypeError), match=rf"Hint: [\s\S]*{hint}"):
            wrong()
        assert right().rows

"""Rasters: the table of windows is that of the whole arrays, nodata by its rules, and a sentence for each trap."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import rasterio
import xarray as xr
from flat import tabulate
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc import errors
from wmcc.core.design import PIXELS
from wmcc.sources import raster_inputs
from wmcc.sources import rasters as source
from wmcc.sources.rasters import NODATA

GRID = {"crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 500_000, 0, -10, 5_540_000)}
DEGREES = {"crs": "EPSG:4326", "transform": rasterio.Affine(0.5, 0, 8.0, 0, -0.5, 60.0)}
SHAPE = (37, 29)


def put(path, array, **options):
    """Write an array as a GeoTIFF of small tiles."""
    array = np.asarray(array)
    own = {"driver": "GTiff", "tiled": True, "blockxsize": 16, "blockysize": 16, "dtype": array.dtype, "count": 1}
    own |= {"height": array.shape[0], "width": array.shape[1], **GRID}
    names = options.pop("names", None)
    mask = options.pop("mask", None)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **(own | options)) as file:
        file.write(array, 1)
        if names is not None:
            file.write_colormap(1, {k: (k, k, k, 255) for k in names})
        if mask is not None:
            file.write_mask(mask)
    if names is not None:
        lines = "".join(f"<Category>{names.get(k, '')}</Category>" for k in range(max(names) + 1))
        band = f'<PAMRasterBand band="1"><CategoryNames>{lines}</CategoryNames></PAMRasterBand>'
        (path.parent / f"{path.name}.aux.xml").write_text(f"<PAMDataset>{band}</PAMDataset>")
    return path


def draw(seed=0, shape=SHAPE, classes=4, dtype=np.uint8):
    """Return a truth, a map that is right four times in five, and zones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, shape).astype(dtype)
    pred = np.where(rng.random(shape) < 0.8, truth, rng.integers(0, classes, shape)).astype(dtype)
    return truth, pred, rng.integers(0, 3, shape).astype(np.int16)


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Read so few pixels at a time that the rasters of the tests have many windows."""
    monkeypatch.setattr(raster_inputs, "WINDOW", 256)


@pytest.fixture
def two(tmp_path):
    truth, pred, zones = draw()
    return put(tmp_path / "truth.tif", truth), put(tmp_path / "pred.tif", pred), put(tmp_path / "zones.tif", zones)


def as_array(values, known):
    """The table that whole arrays give: what the truth does not know is ignored, what a map does not know is void."""
    out = np.asarray(values).astype(np.int64)
    out[~np.asarray(known)] = -77
    return out


# ---- the same table, whatever the windows ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@given(
    seed=st.integers(0, 1000),
    shape=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    window=st.sampled_from([1, 7, 50, 1 << 20]),
    threads=st.sampled_from([1, 2, 5]),
    dtype=st.sampled_from(["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64"]),
    unknown=st.sampled_from(["nothing", "truth", "map", "both", "all"]),
    weights=st.sampled_from([None, "rows", "pixels", "one"]),
    keys=st.sampled_from(["", "by", "cluster", "blocks", "by blocks"]),
    several=st.booleans(),
)
def test_windows_make_the_table_of_the_whole(seed, shape, window, threads, dtype, unknown, weights, keys, several):
    rng = np.random.default_rng(seed)
    truth, pred, zones = draw(seed, shape, dtype=dtype)
    known = [np.ones(shape, bool), np.ones(shape, bool)]
    for k, words in enumerate((("truth", "both", "all"), ("map", "both", "all"))):
        if unknown in words:
            known[k] = rng.random(shape) < (0.0 if unknown == "all" else 0.7)
    given_arrays = []
    for values, there in zip((truth, pred), known, strict=True):
        missing = np.nan if values.dtype.kind == "f" else np.iinfo(values.dtype).max
        attrs = {} if values.dtype.kind == "f" else {"nodata": int(missing)}
        given_arrays.append(xr.DataArray(np.where(there, values, missing).astype(dtype), dims=("y", "x"), attrs=attrs))
    sizes = {"rows": (shape[0], 1), "pixels": shape, "one": (1, 1)}
    w = None if weights is None else rng.lognormal(0, 2, sizes[weights])
    options = {}
    options |= {"by": zones} if "by" in keys else {}
    options |= {"cluster": zones} if keys == "cluster" else {}
    options |= {"blocks": (3, 4)} if "blocks" in keys else {}
    t, p = (as_array(*own) for own in zip((truth, pred), known, strict=True))
    own_pred, other = (
        ({"a": given_arrays[1], "b": given_arrays[0]}, {"a": p, "b": t}) if several else (given_arrays[1], p)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raster_inputs, "WINDOW", window)
        patch.setattr(raster_inputs, "MOST", max(1, window // 2))
        patch.setattr(source, "FEW", 20)  # so that tables are added up on the way
        found = tabulate(given_arrays[0], own_pred, w, threads=threads, **options)
    expected = tabulate(t, other, w, ignore=-77, **options)
    expected = expected.rename({-77: NODATA}) if -77 in expected.void else expected
    if not keys or keys == "by":  # a single pixel, or column, is no image to arrays
        expected = type(expected)(
            **{f: getattr(expected, f) for f in expected.__dataclass_fields__} | {"drawn": PIXELS}
        )
        if not found.raw_cells.codes.size:
            expected = type(expected)(
                **{f: getattr(expected, f) for f in expected.__dataclass_fields__} | {"drawn": found.drawn}
            )
    assert found == expected._of_whole_map()


def test_files_of_any_blocks(tmp_path):
    truth, pred, _ = draw(1, (100, 90))
    expected = wmcc.tabulate(truth, pred)
    layouts = [{}, {"tiled": False, "blockysize": 1}, {"tiled": False, "blockysize": 100}, {"blockxsize": 64}]
    paths = [put(tmp_path / f"{k}.tif", truth, **layout) for k, layout in enumerate(layouts)]
    other = put(tmp_path / "pred.tif", pred)
    for path in paths:
        assert wmcc.tabulate(path, other) == expected
        assert wmcc.tabulate(str(path), wmcc.Raster(other), cluster=wmcc.Blocks(7)) == wmcc.tabulate(
            truth, pred, cluster=wmcc.Blocks(7)
        )
    with rasterio.open(paths[0]) as opened:
        assert wmcc.tabulate(opened, pred, threads=3) == expected


def test_windows_lie_along_the_blocks_of_the_files(tmp_path, monkeypatch):
    monkeypatch.setattr(raster_inputs, "WINDOW", 16 * 64)
    truth, pred, _ = draw(1, (70, 130))
    options = raster_inputs.Scenes(
        put(tmp_path / "t.tif", truth), put(tmp_path / "p.tif", pred, blockxsize=32), None, None, None, None,
    )  # fmt: skip
    windows = list(options[0].windows())
    assert {rows.start % 16 for rows, _ in windows} == {cols.start % 32 for _, cols in windows} == {0}
    assert max((rows.stop - rows.start) * (cols.stop - cols.start) for rows, cols in windows) <= 16 * 64
    seen = np.zeros(truth.shape, int)
    for window in windows:
        seen[window] += 1
    assert (seen == 1).all()


def test_chunks_of_dask_are_computed_one_by_one():
    import dask.array as dask

    truth, pred, _ = draw(2)
    alive, most = [], []

    def chunk(block):
        alive.append(block.shape)
        most.append(block.size)
        return block

    lazy = dask.from_array(truth, chunks=(10, 10)).map_blocks(chunk, dtype=truth.dtype)
    alive.clear(), most.clear()
    found = wmcc.tabulate(xr.DataArray(lazy, dims=("y", "x")), xr.DataArray(pred, dims=("y", "x")))
    assert found == wmcc.tabulate(truth, pred)
    assert len(alive) == 4 * 3
    assert max(most) <= 100


def test_booleans_and_their_nodata(tmp_path):
    truth, pred = (x > 1 for x in draw(3)[:2])
    left, right = (xr.DataArray(x, dims=("y", "x"), coords={"y": range(37), "x": range(29)}) for x in (truth, pred))
    assert wmcc.tabulate(left, right) == wmcc.tabulate(truth, pred)
    assert wmcc.tabulate(left, right).labels == (False, True)
    cut = wmcc.tabulate(left, wmcc.Raster(right.isel(y=slice(0, 30)), resample="nearest"))
    assert cut.labels == (False, True, NODATA)
    assert cut.n[:, 2].sum() == 7 * 29


# ---- what is not known ---------------------------------------------------------------------------------------


def test_nodata_of_the_reference_is_left_out_and_that_of_the_map_is_an_error(tmp_path):
    truth = np.array([[1, 1, 2, 9], [2, 2, 9, 9]], dtype=np.uint8)
    pred = np.array([[1, 8, 2, 1], [8, 2, 8, 2]], dtype=np.uint8)
    paths = put(tmp_path / "t.tif", truth, nodata=9), put(tmp_path / "p.tif", pred, nodata=8)
    table = wmcc.tabulate(*paths)
    assert (table.labels, table.void, table.ignored) == ((1, 2, NODATA), (NODATA,), 3)
    assert table.n.tolist() == [[1, 0, 1], [0, 2, 1], [0, 0, 0]]
    assert wmcc.accuracy(table) == 3 / 5
    left_out = wmcc.tabulate(*paths, missing="ignore")
    assert (left_out.rows, left_out.ignored, left_out.void) == (3, 5, ())
    both = wmcc.tabulate(*paths, ignore=2)
    assert (both.labels, both.void, both.ignored) == ((1, NODATA), (NODATA,), 6)
    assert wmcc.tabulate(paths[0], pred, ignore=8).void == (8,)


def test_masks_and_alpha(tmp_path):
    truth, pred, _ = draw(4)
    there = np.random.default_rng(0).random(SHAPE) < 0.8
    masked = put(tmp_path / "t.tif", truth, mask=there)
    found = wmcc.tabulate(masked, put(tmp_path / "p.tif", pred))
    assert found == wmcc.tabulate(as_array(truth, there), pred, ignore=-77)
    assert found.ignored == (~there).sum()


def test_names_become_classes_only_where_they_are_known(tmp_path):
    names = {0: "water", 1: "forest", 2: "", 3: "town"}
    truth, pred, _ = draw(5)
    left, right = (put(tmp_path / f"{k}.tif", x, names=names) for k, x in enumerate((truth, pred)))
    assert wmcc.tabulate(left, right).labels == ("water", "forest", "2", "town")
    assert wmcc.tabulate(left, right, names=dict(enumerate("abcd"))).labels == ("a", "b", "c", "d")
    assert wmcc.tabulate(left, right, labels=range(4)).labels == (0, 1, 2, 3)
    same = put(tmp_path / "same.tif", pred, names={0: "water", 1: "water", 2: "x", 3: "town"})
    with pytest.raises(errors.InputError, match=r"0\.tif calls the class 1 'forest', and .*same\.tif calls it 'water'"):
        wmcc.tabulate(left, same)
    assert wmcc.tabulate(pred_only(tmp_path, truth), same).labels == ("water (0)", "water (1)", "x", "town")


def pred_only(folder, array):
    return put(folder / "plain.tif", array)


def test_classes_are_chosen_by_number(tmp_path):
    truth, pred, _ = draw()
    paths = put(tmp_path / "t.tif", truth, names={0: "water", 1: "wood"}), put(tmp_path / "p.tif", pred)
    kind = errors.InputTypeError
    said(lambda: wmcc.tabulate(*paths, ignore="wood"), "`ignore` has 'wood'", "t.tif calls 1 so", error=kind)
    said(lambda: wmcc.tabulate(*paths, labels=["wood", "sand"]), "`labels` has 'wood'", error=kind)
    said(lambda: wmcc.tabulate(*paths, names={"sand": "x"}), "`names` has 'sand'", "give the number", error=kind)
    assert wmcc.tabulate(*paths, ignore=1).classes == ("water", "2", "3")


@pytest.mark.parametrize("declared", ["t", "p"])
def test_a_nodata_that_is_a_class_elsewhere_is_asked_about(tmp_path, declared):
    truth, pred, _ = draw(6)
    t = put(tmp_path / "t.tif", truth, nodata=0 if declared == "t" else None)
    p = put(tmp_path / "p.tif", pred, nodata=0 if declared == "p" else None)
    other = "p" if declared == "t" else "t"
    said = rf"0 is nodata in \S*{declared}\.tif, and a class in \S*{other}\.tif: \S*{other}\.tif\[(\d+), (\d+)\] is 0"
    with pytest.raises(errors.InputError, match=said) as caught:
        wmcc.tabulate(t, p)
    row, col = map(int, re.search(said, caught.value.message).groups())
    assert (pred if declared == "t" else truth)[row, col] == 0
    # what the hint says works
    assert "nodata=None" in caught.value.hint
    assert "give 0 as `ignore`" in caught.value.hint
    opened = [wmcc.Raster(x, nodata=None) for x in (t, p)]
    assert wmcc.tabulate(*opened) == wmcc.tabulate(truth, pred)
    ignored = wmcc.tabulate(t, p, ignore=0)
    assert ignored.ignored == (truth == 0).sum()
    assert set(ignored.void) <= {0, NODATA}
    for word in ({"labels": range(4)}, {"names": dict(enumerate("abcd"))}):
        with pytest.raises(errors.InputError, match=f"`{next(iter(word))}` names it as a class"):
            tabulate(t, p, **word)


def test_nodata_that_no_label_can_be(tmp_path):
    truth, pred, _ = draw(dtype=np.float32)
    pred[3] = -np.inf
    made = wmcc.tabulate(put(tmp_path / "t.tif", truth), put(tmp_path / "p.tif", pred, nodata=-np.inf))
    assert made.void == (NODATA,)
    assert made.rows == truth.size


def test_nodata_is_a_number_that_is_stored_and_not_one_that_is_scaled(tmp_path):
    truth, pred, _ = draw()
    stored = put(tmp_path / "p.tif", pred + 10, nodata=3)  # of which none is
    with rasterio.open(stored, "r+") as file:
        file.offsets = (-10.0,)
    assert wmcc.tabulate(put(tmp_path / "t.tif", truth), stored, labels=range(4)) == wmcc.tabulate(truth, pred)


def test_no_pixels_have_no_area():
    none = xr.DataArray(np.zeros((0, 5), int), dims=("y", "x"))
    assert wmcc.tabulate(none, none, "area", cluster=wmcc.Blocks(2)).rows == 0


def test_nothing_is_known(tmp_path):
    none = put(tmp_path / "t.tif", np.full(SHAPE, 9, np.uint8), nodata=9)
    table = wmcc.tabulate(none, draw()[1])
    assert (table.rows, table.labels, table.ignored) == (0, (), 37 * 29)
    assert wmcc.tabulate(none, draw()[1], labels=[1, 2]).labels == (1, 2)
    assert wmcc.tabulate(none, draw()[1], cluster=wmcc.Blocks(8)).drawn.kind == "clusters"
    groups = wmcc.tabulate(none, draw()[1], by=draw()[2])
    assert (len(groups), groups.total().ignored) == (3, 37 * 29)
    empty = xr.DataArray(np.zeros((0, 4), np.uint8), dims=("y", "x"))
    assert wmcc.tabulate(empty, empty) == wmcc.Table.empty()
    assert wmcc.tabulate(empty, empty, cluster=wmcc.Blocks(4)).drawn.kind == "clusters"
    assert len(wmcc.tabulate(empty, {"a": empty}, by=np.zeros((0, 4)))) == 0


def test_fractions_and_unknown_labels_are_named_by_file_and_pixel(tmp_path):
    truth, pred, _ = draw(7, dtype=np.float32)
    pred[30, 20] = 1.5
    with pytest.raises(errors.LabelError, match=r"p\.tif.*30.*20.*1\.5"):
        wmcc.tabulate(put(tmp_path / "t.tif", truth), put(tmp_path / "p.tif", pred))
    truth, pred, _ = draw(7)
    pred[30, 20] = 77
    with pytest.raises(errors.LabelError, match=r"p\.tif\[30, 20\] is 77, which is not among `labels`, 0, 1, 2, 3"):
        wmcc.tabulate(
            put(tmp_path / "t.tif", truth), put(tmp_path / "q.tif", pred).rename(tmp_path / "p.tif"), labels=range(4)
        )


def test_wide_labels_beside_nodata():
    truth = np.array([[-(2**62), 5, 7]])
    known = wmcc.Raster(xr.DataArray(truth, dims=("y", "x")), nodata=7)
    assert wmcc.tabulate(known, truth).labels == (-(2**62), 5)
    high = xr.DataArray(np.array([[2**63, 1, 2]], dtype=np.uint64), dims=("y", "x"))
    assert wmcc.tabulate(high, high).labels == (1, 2, 2**63)
    assert wmcc.tabulate(wmcc.Raster(high, nodata=1), wmcc.Raster(high, nodata=1)).labels == (2, 2**63)


# ---- weights ---------------------------------------------------------------------------------------------------


def test_areas_are_a_weight_per_row(tmp_path):
    truth, pred, _ = draw(8)
    paths = [put(tmp_path / f"{k}.tif", x, **DEGREES) for k, x in enumerate((truth, pred))]
    area = wmcc.Raster(paths[0]).pixel_area("km2")
    assert area.shape == (37, 1)
    table = wmcc.tabulate(*paths, wmcc.Area("km2"))
    assert table == wmcc.tabulate(truth, pred, area)
    assert wmcc.tabulate(*paths, "area").total == pytest.approx(100 * table.total)
    blocks = wmcc.tabulate(*paths, wmcc.Area("km2"), by=draw(8)[2], cluster=wmcc.Blocks(8))
    assert blocks == wmcc.tabulate(truth, pred, area, by=draw(8)[2], cluster=wmcc.Blocks(8))


def test_rasters_of_weights(tmp_path, two):
    truth, pred, _ = draw()
    rng = np.random.default_rng(9)
    for dtype in (np.float32, np.float64, np.uint16):
        w = (100 * rng.random(SHAPE)).astype(dtype)
        assert wmcc.tabulate(*two[:2], put(tmp_path / f"{dtype.__name__}.tif", w)) == wmcc.tabulate(truth, pred, w)
    w = rng.random(SHAPE)
    for own in (w, w[:, :1], w[:1], xr.DataArray(w, dims=("y", "x"))):
        given_truth = two[0] if isinstance(own, np.ndarray) else xr.DataArray(truth, dims=("y", "x"))
        given_pred = two[1] if isinstance(own, np.ndarray) else pred
        assert wmcc.tabulate(given_truth, given_pred, own) == wmcc.tabulate(truth, pred, np.broadcast_to(own, SHAPE))
    coords = {"y": np.arange(37.0), "x": np.arange(29.0)}
    left, right = (xr.DataArray(x, coords, ("y", "x")) for x in (truth, pred))
    per_row = xr.DataArray(w[:, 0], {"y": coords["y"]}, ("y",))
    assert wmcc.tabulate(left, right, per_row) == wmcc.tabulate(truth, pred, w[:, :1])
    with pytest.raises(errors.InputError, match="coordinates of 'y' differ"):
        wmcc.tabulate(left, right, per_row.assign_coords(y=coords["y"] + 1))


def test_weights_that_are_not_known_or_bad(tmp_path, two):
    truth, pred, _ = draw()
    w = np.ones(SHAPE, dtype=np.float32)
    w[20, 11] = -9999
    path = put(tmp_path / "w.tif", w, nodata=-9999)
    with pytest.raises(errors.WeightError, match=r"w\.tif\[20, 11\] is nodata, and .*truth\.tif has a class there"):
        wmcc.tabulate(*two[:2], path)
    with pytest.raises(errors.WeightError, match=r"w\.tif\[20, 11\] is -9999"):
        wmcc.tabulate(*two[:2], wmcc.Raster(path, nodata=None))
    ignored = wmcc.tabulate(*two[:2], path, ignore=int(truth[20, 11]))  # weights of ignored pixels are not read
    assert ignored == wmcc.tabulate(truth, pred, np.abs(w), ignore=int(truth[20, 11]))
    aside = put(tmp_path / "s.tif", np.ones(SHAPE), **shifted(0.5))
    with pytest.raises(errors.InputError, match=r"shifted[\s\S]*`resample` is for labels"):
        wmcc.tabulate(*two[:2], aside)
    for wrong in ("areas", np.ones_like):
        with pytest.raises(errors.InputTypeError, match='expected "area", a raster of weights'):
            wmcc.tabulate(*two[:2], wrong)
    with pytest.raises(errors.InputError, match="shape"):
        wmcc.tabulate(*two[:2], np.ones((5, 5)))


# ---- as people call it -----------------------------------------------------------------------------------------


def said(call, *words, error=errors.InputError):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_arrays_beside_a_raster_may_be_masked_or_have_nan(tmp_path):
    truth, pred, _ = draw()
    path = put(tmp_path / "t.tif", truth)
    lost = pred == 2
    expected = wmcc.tabulate(path, put(tmp_path / "p.tif", pred, nodata=9, mask=~lost))
    assert expected.void == (NODATA,)
    for own in (np.ma.masked_array(pred, lost), np.where(lost, np.nan, pred)):
        assert wmcc.tabulate(path, own) == expected
        assert wmcc.tabulate(path, own, missing="ignore").ignored == lost.sum()
    kind = errors.InputTypeError
    said(lambda: wmcc.tabulate(path, pred.astype(object)), "y_pred holds Python objects", "astype(int)", error=kind)
    said(lambda: wmcc.tabulate(path, pred.astype(str)), "y_pred holds text", error=kind)
    for same in (pred.astype(">i2"), pred.astype("f2"), np.asfortranarray(pred)):
        assert wmcc.tabulate(path, same) == wmcc.tabulate(path, pred)


def test_data_sets_of_xarray():
    truth, pred, zones = (xr.DataArray(x, dims=("y", "x")) for x in draw())
    rest = {"spatial_ref": 0, "rows": ("y", np.arange(len(pred)))}
    maps = [xr.Dataset({"cover": x, **rest}) for x in (truth, pred)]
    assert wmcc.tabulate(*maps) == wmcc.tabulate(truth, pred)
    assert wmcc.tabulate(maps[0], {"A": maps[1]}, by=xr.Dataset({"zone": zones})) == wmcc.tabulate(
        truth, {"A": pred}, by=zones
    )
    said(lambda: wmcc.tabulate(truth, xr.Dataset({"a": pred, "b": pred})), "2 variables: a, b", "variable=")


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_one_date_is_a_map_and_several_are_lists():
    truth, pred, _ = draw()
    pred[:5] = 9
    single = [xr.DataArray(x, dims=("y", "x"), attrs={"_FillValue": 9}) for x in (truth, pred)]
    expected = wmcc.tabulate(*single)
    assert expected.void == (NODATA,)
    assert wmcc.tabulate(*(x.expand_dims(time=[2020]) for x in single)) == expected
    both = [x.expand_dims(time=[2020, 2021]) for x in single]
    said(lambda: wmcc.tabulate(*both), "y_true says that 9 is nodata (_FillValue), and has 2 maps along 'time'")
    listed = wmcc.tabulate(*([x.isel(time=k) for k in range(2)] for x in both))
    assert listed.drawn.clusters == (0, 1)
    assert listed.ignored == 2 * expected.ignored
    assert (listed.n == 2 * expected.n).all()
    said(lambda: wmcc.tabulate(truth, single[1]), "y_pred says that 9 is nodata (_FillValue), and y_true is no raster")
    assert wmcc.tabulate(truth, single[1].values, ignore=9).void == (9,)


def test_coordinates_may_differ_by_rounding():
    truth, pred, _ = draw()
    y, x = 50 - 0.1 * np.arange(len(truth)), 10.05 + 0.1 * np.arange(29)
    other = [np.where(np.arange(len(v)) % 2, np.nextafter(v, 0), v) for v in (y, x)]  # half of them are the same
    one, two = (
        xr.DataArray(v, dict(zip("yx", c, strict=True)), ("y", "x")) for v, c in ((truth, (y, x)), (pred, other))
    )
    assert wmcc.tabulate(one, two) == wmcc.tabulate(truth, pred)


def test_a_home_directory(tmp_path, monkeypatch):
    truth, pred, _ = draw()
    put(tmp_path / "t.tif", truth)
    put(tmp_path / "p.tif", pred)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wmcc.tabulate("~/t.tif", "~/p.tif") == wmcc.tabulate(truth, pred)


def test_tiles_that_are_no_rasters_are_named(two):
    truth, pred, _ = draw()
    kind = errors.InputTypeError
    said(lambda: wmcc.tabulate([two[0], truth], [two[1], pred]), "y_true[1] is of type numpy.ndarray", error=kind)


def test_what_new_users_write(tmp_path, two):
    truth, pred, _ = draw()
    kind = errors.InputTypeError
    said(
        lambda: wmcc.tabulate(truth, two[1]),
        "y_pred is a raster",
        "expected a raster too",
        "arrays of both",
        error=kind,
    )
    said(lambda: wmcc.tabulate("reference", two[1]), "y_true is 'ref", "names of rasters end with", error=kind)
    said(lambda: wmcc.tabulate(two[0], "m.png"), "'m.png'; expected a raster", "wmcc.Raster(path) opens", error=kind)
    said(lambda: wmcc.tabulate(two[0], [two[1], two[1]]), "are a mapping from names", error=kind)
    said(lambda: wmcc.tabulate(two[0]), "there is no y_pred", "tabulate(y_true, y_pred)", error=kind)
    said(lambda: wmcc.tabulate(*two[:2], nodata=0), "no keyword 'nodata'", "wmcc.Raster(…, nodata=…)", error=kind)
    said(lambda: tabulate(*two[:2], crs="EPSG:0"), "`crs`: 'EPSG:0' is no coordinate reference system")
    said(lambda: tabulate(*two[:2], band=2), "has 1 band, and `band` is 2")
    several = tmp_path / "several.tif"
    with rasterio.open(several, "w", driver="GTiff", height=37, width=29, count=2, dtype="uint8", **GRID) as file:
        file.write(np.stack([truth, pred]))
    for call in ({"y_pred": several}, {"y_pred": two[1], "by": several}, {"y_pred": two[1], "sample_weight": several}):
        said(lambda call=call: tabulate(two[0], **call), "2 bands", f"wmcc.Raster({str(several)!r}, band=1)")
    assert wmcc.tabulate(two[0], wmcc.Raster(str(several), band=2)) == wmcc.tabulate(truth, pred)


# ---- zones and blocks --------------------------------------------------------------------------------------------


def test_zones_as_groups_and_clusters(tmp_path, two):
    truth, pred, zones = draw()
    assert wmcc.tabulate(*two[:2], by=two[2]) == wmcc.tabulate(truth, pred, by=zones)
    assert wmcc.tabulate(*two[:2], cluster=two[2]) == wmcc.tabulate(truth, pred, cluster=zones)._of_whole_map()
    assert wmcc.tabulate(*two[:2], by=two[2], cluster=wmcc.Blocks(5)) == wmcc.tabulate(
        truth, pred, by=zones, cluster=wmcc.Blocks(5)
    )
    keys = {"zone": zones, "row": np.arange(37) // 10}
    plain = wmcc.tabulate(truth, pred, cluster=keys)
    assert wmcc.tabulate(*two[:2], cluster={**keys, "zone": two[2]}) == plain._of_whole_map()
    words = np.array(["a", "b", "c"])[zones]
    assert wmcc.tabulate(*two[:2], by=words) == wmcc.tabulate(truth, pred, by=words)
    for far in (zones * 10_000 - 7, zones + 30_000, zones.astype(float) / 2):
        path = put(tmp_path / "far.tif", far.astype(np.float64 if far.dtype.kind == "f" else np.int32))
        assert wmcc.tabulate(*two[:2], by=path) == wmcc.tabulate(truth, pred, by=far)


def test_zones_of_signed_bytes(tmp_path, two):
    truth, pred, _ = draw()
    zones = (np.arange(truth.size).reshape(truth.shape) % 240 - 120).astype(np.int8)
    for stored in (zones, zones.astype(">i2")):
        path = put(tmp_path / "bytes.tif", stored.astype(stored.dtype.newbyteorder("=")))
        placed = xr.DataArray(stored, dims=("y", "x"))
        assert wmcc.tabulate(*two[:2], by=path) == wmcc.tabulate(truth, pred, by=zones)
        plain = [xr.DataArray(x, dims=("y", "x")) for x in (truth, pred)]
        assert wmcc.tabulate(*plain, cluster=placed) == wmcc.tabulate(truth, pred, cluster=zones)._of_whole_map()


def test_pixels_without_a_zone(tmp_path, two):
    truth, pred, zones = draw()
    path = put(tmp_path / "z.tif", zones, nodata=2)
    tables = wmcc.tabulate(*two[:2], by=path)
    assert tuple(tables) == (0, 1, None)
    assert tables.total() == wmcc.tabulate(truth, pred)
    assert tables[None].raw_cells == wmcc.tabulate(truth, pred, by=zones)[2].raw_cells
    with pytest.raises(errors.InputError, match=r"nodata in \S*z\.tif; every pixel needs a cluster"):
        wmcc.tabulate(*two[:2], cluster=path)
    assert wmcc.tabulate(*two[:2], cluster=wmcc.Raster(path, nodata=None)).drawn.clusters == (0, 1, 2)
    outside = put(tmp_path / "t.tif", np.where(zones == 2, 9, truth).astype(np.uint8), nodata=9)
    assert wmcc.tabulate(outside, two[1], cluster=path).drawn.clusters == (0, 1)


def test_keys_that_do_not_fit(two):
    with pytest.raises(errors.InputError, match=r"by has shape \(3, 3\)"):
        wmcc.tabulate(*two[:2], by=np.zeros((3, 3)))
    with pytest.raises(errors.InputTypeError, match="by is 'region'; with rasters expected a raster of zones"):
        wmcc.tabulate(*two[:2], by="region")
    with pytest.raises(errors.InputError, match="`rows` of `Blocks` is 0"):
        wmcc.tabulate(*two[:2], cluster=wmcc.Blocks(0))
    with pytest.raises(errors.InputTypeError, match=r"a `Strata` does not work with rasters[\s\S]*a sample of pixels"):
        wmcc.tabulate(*two[:2], design=wmcc.Strata(two[2]))


def test_pixels_without_clusters_are_told_apart(two):
    assert wmcc.tabulate(*two[:2]).drawn == PIXELS
    assert wmcc.tabulate(*two[:2], by=two[2]).drawn == PIXELS
    assert not wmcc.tabulate(*two[:2], cluster=wmcc.Blocks(8)).drawn.pixels


# ---- grids -------------------------------------------------------------------------------------------------------


def shifted(pixels):
    """The grid, so many pixels to the right."""
    return {"transform": rasterio.Affine(10, 0, 500_000 + 10 * pixels, 0, -10, 5_540_000)}


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_grids_that_differ(tmp_path, two):
    truth, pred, zones = draw()
    for options, said in (
        ({"crs": "EPSG:32633"}, r"EPSG:32632.*EPSG:32633[\s\S]*`resample`"),
        (shifted(0.5), r"shifted by 0\.5 pixels[\s\S]*`resample`"),
        (shifted(1000), "do not overlap"),
    ):
        with pytest.raises(errors.InputError, match=said):
            wmcc.tabulate(two[0], put(tmp_path / "o.tif", pred, **options))
    turned = put(tmp_path / "turned.tif", pred.T)
    with pytest.raises(errors.InputError):
        wmcc.tabulate(two[0], turned)
    half = put(tmp_path / "half.tif", pred, **shifted(0.3))
    assert wmcc.tabulate(two[0], wmcc.Raster(half, resample="nearest")).rows == truth.size
    left = put(tmp_path / "left.tif", pred[:, 4:], **shifted(4))
    table = wmcc.tabulate(
        two[0],
        wmcc.Raster(left, resample="nearest"),
        by=wmcc.Raster(put(tmp_path / "z.tif", zones[:, 4:], **shifted(4)), resample="nearest"),
    )
    assert table.total() == wmcc.tabulate(
        truth, as_array(pred, np.arange(29) >= 4 + np.zeros((37, 1))), ignore=-77
    ).rename({-77: NODATA})
    with pytest.raises(errors.InputError, match="`resample` is 'bilinear'"):
        tabulate(*two[:2], align="bilinear")
    with pytest.raises(errors.InputError, match=r"y_pred has shape \(5, 5\)"):
        wmcc.tabulate(two[0], np.zeros((5, 5), int))
    with pytest.raises(errors.InputTypeError, match="y_pred is 'map'; expected a raster"):
        wmcc.tabulate(two[0], "map")


def test_arrays_of_xarray_that_differ():
    truth, pred, _ = draw()
    coords = {"y": 60 - np.arange(37) / 2, "x": np.arange(29) / 2}
    left = xr.DataArray(truth, coords, ("y", "x"))
    half = xr.DataArray(pred, {**coords, "x": coords["x"] + 0.25}, ("y", "x"))
    with pytest.raises(errors.InputError, match=r"shifted by 0\.5 pixels"):
        wmcc.tabulate(left, half)
    with pytest.raises(errors.InputError, match=r"dimensions[\s\S]*transpose"):
        wmcc.tabulate(left, half.T)
    banded = left.expand_dims(band=[1])
    assert wmcc.tabulate(banded, left) == wmcc.tabulate(truth, truth)
    text = xr.DataArray(np.array(list("abcd"))[truth], coords, ("y", "x"))
    assert wmcc.tabulate(text, text).labels == tuple("abcd")
    stack = xr.concat([left, left], "time")
    assert wmcc.tabulate(stack, stack).rows == 2 * truth.size


# ---- tiles ---------------------------------------------------------------------------------------------------------


def test_tiles_are_clusters(tmp_path):
    arrays = [draw(k, (10 + k, 12)) for k in range(4)]
    truths = [put(tmp_path / f"t{k}.tif", own[0]) for k, own in enumerate(arrays)]
    preds = [put(tmp_path / f"p{k}.tif", own[1]) for k, own in enumerate(arrays)]
    zones = [put(tmp_path / f"z{k}.tif", own[2]) for k, own in enumerate(arrays)]
    t, p, z = (np.concatenate([x.ravel() for x in own]) for own in zip(*arrays, strict=True))
    tile = np.repeat([f"t{k}" for k in range(4)], [own[0].size for own in arrays])
    assert wmcc.tabulate(truths, preds) == wmcc.tabulate(t, p, cluster=tile)._of_whole_map()
    several = wmcc.tabulate(t, {"a": p}, cluster=tile, by=z)._of_whole_map()
    assert wmcc.tabulate(truths, {"a": preds}, by=zones) == several
    side = np.where(tile < "t2", "west", "east")
    keys = ["west", "west", "east", "east"]
    assert wmcc.tabulate(truths, preds, by=keys) == wmcc.tabulate(t, p, cluster=tile, by=side)._of_whole_map()
    for way in (
        keys,
        dict(zip(["t0", "t1", "t2", "t3"], keys, strict=True)),
        lambda name: "west" if name < "t2" else "east",
    ):
        assert wmcc.tabulate(truths, preds, cluster=way) == wmcc.tabulate(t, p, cluster=side)._of_whole_map()
    blocks = wmcc.tabulate(truths, preds, cluster=wmcc.Blocks(8))
    assert blocks.drawn.clusters[:3] == (("t0", 0, 0), ("t0", 0, 1), ("t0", 1, 0))
    assert blocks.cells == wmcc.tabulate(t, p).cells
    weights = [put(tmp_path / f"w{k}.tif", own[2] + 1) for k, own in enumerate(arrays)]
    assert wmcc.tabulate(truths, preds, weights) == wmcc.tabulate(t, p, z + 1, cluster=tile)._of_whole_map()
    assert wmcc.tabulate(truths, preds, "area").total > 0
    in_memory = [[xr.DataArray(own[k], dims=("y", "x")) for own in arrays] for k in (0, 1)]
    assert wmcc.tabulate(*in_memory).drawn.clusters == (0, 1, 2, 3)


def test_tiles_that_do_not_fit(tmp_path, two):
    for preds, said in (
        ([two[1]], "`y_pred` is a list of 1; expected as many"),
        (two[1], "`y_pred` is .*; expected as many"),
    ):
        with pytest.raises(errors.WmccError, match=said):
            wmcc.tabulate([two[0], two[0]], preds)
    with pytest.raises(errors.InputError, match="`sample_weight` is a list of 1"):
        wmcc.tabulate([two[0]] * 2, [two[1]] * 2, [two[2]])
    with pytest.raises(errors.InputError, match="`by` has no key for 1 tile: truth"):
        wmcc.tabulate([two[0]], [two[1]], by={"other": 1})
    with pytest.raises(errors.InputTypeError, match="`cluster` is 7; with 1 tile"):
        wmcc.tabulate([two[0]], [two[1]], cluster=7)
    assert wmcc.tabulate([two[0]] * 2, [two[1]] * 2).drawn.clusters == (0, 1)


# ---- reading -------------------------------------------------------------------------------------------------------


def test_a_file_that_changes_while_it_is_read(two, monkeypatch):
    real = source._tabulate_window

    def touched(*given):
        os.utime(two[1], ns=(1, 1))
        return real(*given)

    monkeypatch.setattr(source, "_tabulate_window", touched)
    with pytest.raises(errors.InputError, match=r"pred\.tif changed while it was being read"):
        wmcc.tabulate(*two[:2])


def test_an_error_stops_the_reading(two, monkeypatch):
    real, seen = source._tabulate_window, []

    def failing(*given):
        seen.append(given)
        if len(seen) > 1:
            raise errors.InputError("enough")
        return real(*given)

    monkeypatch.setattr(source, "_tabulate_window", failing)
    monkeypatch.setattr(raster_inputs, "WINDOW", 1)
    wide = xr.DataArray(np.zeros((400, 1), np.uint8), dims=("y", "x")).chunk({"y": 1})
    with pytest.raises(errors.InputError, match="enough"):
        wmcc.tabulate(wide, wide, threads=2)
    assert len(seen) < 20


def test_progress_is_shown(two, capsys):
    wmcc.tabulate(*two[:2], progress=True)
    assert "reading" in capsys.readouterr().err


def test_the_cache_of_gdal_is_bounded_while_rasters_are_read(two):
    from rasterio.env import get_gdal_config, set_gdal_config

    before = get_gdal_config("GDAL_CACHEMAX")
    seen = []
    real = source._tabulate_window

    def watching(*given):
        seen.append(get_gdal_config("GDAL_CACHEMAX"))
        return real(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_tabulate_window", watching)
        wmcc.tabulate(*two[:2], threads=1)
    assert seen
    assert all(int(x) == source.CACHE for x in seen)
    assert get_gdal_config("GDAL_CACHEMAX") == before
    assert set_gdal_config is not None


def test_positive_class(two):
    truth, pred = (x > 1 for x in draw()[:2])
    left, right = (xr.DataArray(x.astype(np.uint8), dims=("y", "x")) for x in (truth, pred))
    assert wmcc.tabulate(left, right, positive=1) == wmcc.tabulate(left.values, right.values, positive=1)


# ---- folders -------------------------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Folders of GeoTIFFs, whose truth has nodata, and their arrays."""
    monkeypatch.chdir(tmp_path)
    made = {}
    for k, name in enumerate(("a", "north/b")):
        truth, pred, zones = draw(k, (20 + k, 18))
        truth[:3] = 200
        for folder, own, options in (("truth", truth, {"nodata": 200}), ("pred", pred, {}), ("maps", zones + 1, {})):
            path = tmp_path / folder / f"{name}.tif"
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, own, **options)
        made[name] = truth, pred, zones + 1
    return made


def of_folders(made, key, **options):
    t, p, w = (np.concatenate([x.ravel() for x in own]) for own in zip(*made.values(), strict=True))
    keys = np.repeat([key(name) for name in made], [own[0].size for own in made.values()])
    weights = w if options.pop("weighted", False) else None
    return tabulate(t, p, weights, cluster=keys, ignore=200, **options)._of_whole_map()


def test_folders_of_geotiffs_are_tiles(folders):
    assert wmcc.tabulate("truth", "pred") == of_folders(folders, str)
    assert wmcc.tabulate("truth", "pred", "maps") == of_folders(folders, str, weighted=True)
    assert wmcc.tabulate("truth/", "pred/*.tif", cluster="folder") == of_folders(
        folders, lambda name: os.path.dirname(name) or "."
    )
    by = wmcc.tabulate("truth", "pred", by="folder")
    assert (by.by, tuple(by)) == ("folder", (".", "north"))
    assert by.total() == of_folders(folders, str)
    assert wmcc.tabulate("truth", {"one": "pred"})["one"] == of_folders(folders, str)
    twice = wmcc.tabulate("truth", "pred", lambda labels: np.full(labels.shape, 2.0))
    assert twice.total == 2 * of_folders(folders, str).total
    assert wmcc.tabulate("truth", "pred", "area", cluster=wmcc.Blocks(8)).drawn.clusters[0] == ("a", 0, 0)


def test_folders_of_geotiffs_that_lie_elsewhere(folders):
    put(Path("pred/a.tif"), folders["a"][1], **shifted(0.5))
    with pytest.raises(errors.InputError, match=r"pred/a\.tif is shifted by 0\.5 pixels"):
        wmcc.tabulate("truth", "pred")
    with pytest.warns(
        errors.MapWarning, match=r"^100 % of the pixels of truth/a\.tif .* to the right is taken"
    ) as told:
        table = wmcc.tabulate(
            *zip(*((f"truth/{x}.tif", wmcc.Raster(f"pred/{x}.tif", resample="nearest")) for x in folders), strict=True)
        )
    assert table.rows == of_folders(folders, str).rows
    assert [str(x.message).endswith("It is the first tile of which this is to be said.") for x in told] == [True]
    os.remove("pred/a.tif")
    np.save("pred/a.npy", folders["a"][1])  # which does not say where it lies
    assert wmcc.tabulate("truth", "pred") == of_folders(folders, str)
    swapped = wmcc.tabulate("pred", "truth")
    assert swapped.void == (NODATA,)
    assert swapped.n[:, -1].sum() == 6 * 18
    np.save("pred/a.npy", folders["a"][1][:5])
    with pytest.raises(errors.InputError, match=r"pred/a\.npy has shape \(5, 18\)"):
        wmcc.tabulate("truth", "pred")


def test_options_of_rasters_need_images_that_lie_somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("truth", "pred"):
        os.mkdir(folder)
        np.save(f"{folder}/a.npy", draw()[0])
    with pytest.raises(errors.InputTypeError, match="`Blocks` does not work with folders of images"):
        wmcc.tabulate("truth", "pred", cluster=wmcc.Blocks(4))
    with pytest.raises(errors.InputError, match="areas of pixels are not known"):
        wmcc.tabulate("truth", "pred", "area")


def test_a_layer_is_not_taken_for_a_column():
    with pytest.raises(
        errors.InputTypeError, match=r"laid over another by `Overlay`[\s\S]*Overlay\(reference, 'map.gpkg'\), true="
    ):
        wmcc.tabulate("parcels.gpkg", "map.gpkg")

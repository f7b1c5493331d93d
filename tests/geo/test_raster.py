"""Rasters: what is opened and how it is read, what says that grids differ, and nearest neighbours."""

import builtins
import gc
import importlib.machinery
import itertools
import re
import sys
import time
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pyproj
import pytest
import rasterio
import rasterio.shutil
import xarray as xr
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.io import MemoryFile
from rasterio.vrt import WarpedVRT

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, MapWarning, MissingDependencyError
from wmcc.geo.raster import aligned, as_raster, check_grid, ties
from wmcc.geo.raster.crs import same_crs

CLASSES = np.array([[0, 1, 2, 1], [2, 2, 0, 255], [1, 0, 1, 2]], dtype=np.uint8)
UTM = {"crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 500_000, 0, -10, 5_540_000)}


def write(path, values=CLASSES, **profile):
    """A GeoTIFF of bands; more than one if the array has three dimensions."""
    values = np.asarray(values)
    bands = values if values.ndim == 3 else values[np.newaxis]
    own = {"driver": "GTiff", "height": bands.shape[1], "width": bands.shape[2], "count": len(bands), **UTM}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        with rasterio.open(path, "w", dtype=bands.dtype, **{**own, **profile}) as file:
            file.write(bands)
    return str(path)


def array(values=CLASSES, dims=("y", "x"), crs="EPSG:32632", step=10.0, left=500_000.0, top=5_540_000.0, **attrs):
    """The same in xarray."""
    values = np.asarray(values)
    y, x = (top - step * (np.arange(values.shape[0]) + 0.5)), (left + step * (np.arange(values.shape[1]) + 0.5))
    found = xr.DataArray(values, {dims[0]: y, dims[1]: x}, dims, attrs=attrs)
    return found if crs is None else found.assign_coords(
        spatial_ref=xr.DataArray(0, attrs={"crs_wkt": pyproj.CRS(crs).to_wkt()}))  # fmt: skip


def whole(raster, how="read"):
    values, known = getattr(raster, how)(*(slice(0, n) for n in raster.shape))
    return values, np.ones(raster.shape, bool) if known is None else known


def blocks(raster):
    """Windows of the blocks of a raster, row by row."""
    (height, width), (h, w) = raster.shape, raster.block_shape
    corners = itertools.product(range(0, height, h), range(0, width, w))
    return [(slice(top, min(top + h, height)), slice(left, min(left + w, width))) for top, left in corners]


def refused(call, *words, hint=(), error=InputError):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in caught.value.message
    for word in hint if isinstance(hint, tuple) else (hint,):
        assert word in (caught.value.hint or "")
    return caught.value


# ---- what is opened -------------------------------------------------------------------------------------


def all_of(tmp_path):
    """The same raster in everything that may hold one."""
    path = write(tmp_path / "a.tif", nodata=255)
    write(tmp_path / "cog.tif", nodata=255, driver="COG")
    rasterio.shutil.copy(path, tmp_path / "a.vrt", driver="VRT")
    memory = MemoryFile((tmp_path / "a.tif").read_bytes())
    map_ = array(_FillValue=255)
    three = map_.expand_dims("band")
    named = xr.Dataset({"cover": map_.copy()})
    named.to_netcdf(tmp_path / "a.nc")
    for number in (2, 3):
        named.to_zarr(tmp_path / f"{number}.zarr", zarr_format=number, consolidated=False)
    return {
        "GeoTIFF": path, "path": tmp_path / "a.tif", "COG": tmp_path / "cog.tif", "VRT": tmp_path / "a.vrt",
        "netCDF": tmp_path / "a.nc", "Zarr 2": tmp_path / "2.zarr",
        "Zarr 3": f"{tmp_path}/3.zarr/",
        "open": rasterio.open(path), "in memory": memory, "open in memory": memory.open(),
        "warped": WarpedVRT(rasterio.open(path), crs="EPSG:32632"), "numpy": map_, "dask": map_.chunk({"y": 2, "x": 3}),
        "one band": three.chunk({"x": 1}), "band last": three.transpose("y", "x", "band"), "Dataset": named,
        "read lazily": xr.open_dataset(tmp_path / "a.nc", mask_and_scale=False),
        "scaled": xr.open_dataset(tmp_path / "a.nc", decode_coords="all")["cover"],
    }  # fmt: skip


def test_the_same_raster_whatever_it_comes_in(tmp_path):
    first = wmcc.Raster(write(tmp_path / "first.tif", nodata=255))
    for kind, data in all_of(tmp_path).items():
        opened = as_raster(data, "y_pred")
        values, known = whole(opened, "labels")
        assert (np.where(known, values, 255) == CLASSES).all(), kind
        assert (known == (CLASSES != 255)).all(), kind
        assert opened.shape == (3, 4), kind
        assert same_crs(opened.crs, first.crs), kind
        check_grid(first, opened)
        part = opened.read(slice(1, 3), slice(2, 4))
        assert (np.where(part[1], part[0], 255) == CLASSES[1:, 2:]).all(), kind
        opened.close()
        assert (np.where(known, whole(opened)[0], 255) == CLASSES).all(), kind  # opens it again
        opened.close()
        if hasattr(data, "close"):
            data.close()


def test_no_pixels():
    empty = wmcc.Raster(array()[:0])
    assert (empty.shape, empty.transform, [*blocks(empty)]) == ((0, 4), None, [])
    assert empty.read(slice(0, 9), slice(0, 9))[0].shape == (0, 4)
    check_grid(empty, empty)


def test_blocks_cover_the_raster_once(tmp_path):
    for data in (
        array().chunk({"y": 2, "x": 3}),
        array(),
        write(tmp_path / "a.tif", tiled=True, blockxsize=16, blockysize=16),
    ):
        opened = wmcc.Raster(data)
        seen = np.zeros(opened.shape, int)
        for rows, cols in blocks(opened):
            seen[rows, cols] += 1
        assert (seen == 1).all()
    assert wmcc.Raster(array().chunk({"y": 2, "x": 3})).block_shape == (2, 3)


def test_dask_computes_no_more_than_the_window():
    asked = []

    def block(block_info=None):
        asked.append(block_info)
        return np.ones((10, 10), np.uint8)

    import dask.array as dask

    lazy = dask.map_blocks(block, chunks=((10,) * 50, (10,) * 50), dtype=np.uint8, meta=np.ones((0, 0), np.uint8))
    opened = wmcc.Raster(xr.DataArray(lazy, dims=("y", "x")))
    assert not asked
    opened.read(slice(12, 18), slice(15, 25))
    assert len(asked) == 2


def test_threads_read_at_once_and_files_are_closed(tmp_path, monkeypatch):
    values = np.random.default_rng(0).integers(0, 9, (256, 256), dtype=np.uint8)
    path = write(tmp_path / "a.tif", values, tiled=True, blockxsize=16, blockysize=16, compress="deflate")
    handles, opened_by = [], rasterio.open
    monkeypatch.setattr(rasterio, "open", lambda *a, **k: handles.append(opened_by(*a, **k)) or handles[-1])
    with wmcc.Raster(path) as opened, ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda w: (w, opened.read(*w)[0]), [*blocks(opened)] * 3)
        assert all((part == values[window]).all() for window, part in parts)
        assert len([h for h in handles if not h.closed]) <= 4
    assert all(h.closed for h in handles)
    with opened_by(path) as dataset, ThreadPoolExecutor(4) as pool:  # the caller's own is read by one at a time
        opened = wmcc.Raster(dataset)
        assert all((p == values[w]).all() for w, p in pool.map(lambda w: (w, opened.read(*w)[0]), blocks(opened)))


def test_a_data_set_is_read_by_one_thread_at_a_time(tmp_path):
    class Watched:
        closed = busy = False
        mask_flag_enums, indexes, colorinterp = [[MaskFlags.all_valid]] * 2, [], []

        def read(self, band, window):
            assert not self.busy
            self.busy = True
            time.sleep(0.002)
            self.busy = False
            return np.zeros((1, 1), np.uint8)

    path = write(tmp_path / "a.tif", np.stack([CLASSES, CLASSES]))
    with rasterio.open(path) as dataset, ThreadPoolExecutor(4) as pool:
        bands = [wmcc.Raster(dataset, band=k) for k in (1, 2)]  # both are of the one data set
        bands[0].source.dataset = bands[1].source.dataset = Watched()
        assert len([*pool.map(lambda k: bands[k % 2].read(slice(0, 1), slice(0, 1)), range(20))]) == 20


def test_nothing_is_left_open(tmp_path):
    paths = [write(tmp_path / "a.tif"), str(tmp_path / "a.nc")]
    xr.Dataset({"cover": array()}).to_netcdf(paths[1])
    for path in paths:
        wmcc.Raster(path).read(slice(0, 2), slice(0, 2))
    gc.collect()  # a warning of a file that is left open would be an error


def test_it_says_what_it_is(tmp_path):
    assert repr(wmcc.Raster(write(tmp_path / "a.tif", nodata=255), name="cover")) == (
        "Raster 'cover': 3 x 4 pixels of uint8, EPSG:32632, nodata 255"
    )
    assert "no CRS" in repr(wmcc.Raster(array(crs=None)))
    assert "1 class name" in repr(wmcc.Raster(array(flag_values=[1], flag_meanings="sea")))
    assert "nodata nan" in repr(wmcc.Raster(array(_FillValue=np.nan)))


@pytest.mark.parametrize(
    ("data", "words", "error"),
    [
        ("nowhere.tif", "there is no file 'nowhere.tif'", InputError),
        ("nowhere.zarr", "there is no store 'nowhere.zarr'", InputError),
        (b"a.tif", "expected a raster", InputTypeError),
        (CLASSES, "numpy.ndarray; expected a raster", InputTypeError),
        (array().rename(y="r", x="c"), "('r', 'c')", InputError),
        (array().expand_dims(time=3), "y_pred has 3 maps along the dimension 'time'", InputError),
        (array().T, "its axes are transposed", InputError),
        (array().astype(complex), "complex numbers", InputTypeError),
        (array().astype(str), "<U3", InputTypeError),
        (array().assign_coords(x=[1.0, 2.0, 4.0, 5.0]), "not regular: 4 (number 2) would have", InputError),
        (array().assign_coords(x=[1.0, 2.0, np.nan, 4.0]), "not a finite number", InputError),
        (array().assign_coords(y=["a", "b", "c"]), "expected numbers", InputError),
        (array()[:1], "one coordinate only along 'y'", InputError),
        (array(scale_factor="big"), "its attribute scale_factor is 'big'", InputError),
        (array().drop_vars("x"), "along one of its dimensions only", InputError),
        (xr.Dataset({"a": array(), "b": array()}), "2 variables: a, b", InputError),
        (array(crs=None).assign_attrs(crs="EPSG:nothing"), "'EPSG:nothing' is no coordinate", InputError),
    ],
)  # fmt: skip
def test_what_is_no_raster_is_refused(data, words, error):
    refused(lambda: as_raster(data, "y_pred"), words, error=error)


def test_hints_about_arrays_are_true():
    assert wmcc.Raster(array().T.transpose("y", "x")).shape == (3, 4)
    assert "transpose('y', 'x')" in refused(lambda: wmcc.Raster(array().T), "transposed").hint
    deep = array().expand_dims(time=3, level=2)
    refused(lambda: wmcc.Raster(deep, 1), "2 maps along the dimension 'level'", hint="array.isel(level=0)")
    assert wmcc.Raster(deep.isel(level=0), 3).shape == (3, 4)
    assert wmcc.Raster(xr.Dataset({"a": array(), "b": array() + 1}), variable="b").read(slice(1), slice(0, 1))
    shuffled = array()[:, [0, 2, 1, 3]]
    single = array()[:1]
    refused(lambda: wmcc.Raster(single), "one coordinate only along 'y'", hint="drop the coordinates")
    assert wmcc.Raster(single.drop_vars(["x", "y"])).transform is None
    refused(lambda: wmcc.Raster(shuffled), "not regular", hint="sort them")
    assert (whole(wmcc.Raster(shuffled.sortby("x")))[0] == CLASSES).all()


def test_files_that_cannot_be_read(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (200, 200), dtype=np.uint8)
    path = write(tmp_path / "cut.tif", noise, compress="deflate", blockysize=1)
    (tmp_path / "text.tif").write_text("no raster")
    (tmp_path / "text.nc").write_text("no netCDF")
    (tmp_path / "empty.zarr").mkdir()
    for name in ("text.tif", "text.nc", "empty.zarr"):
        refused(lambda name=name: wmcc.Raster(str(tmp_path / name)), f"{name} cannot be opened", hint="may be damaged")
    data = (tmp_path / "cut.tif").read_bytes()
    (tmp_path / "cut.tif").write_bytes(data[: len(data) // 2])
    opened = wmcc.Raster(path)
    assert (opened.read(slice(0, 10), slice(0, 200))[0] == noise[:10]).all()
    refused(lambda: opened.read(slice(190, 200), slice(0, 200)), "cut.tif cannot be read", hint="cut off")
    import dask.array as dask

    broken = dask.map_blocks(lambda: 1 / 0, chunks=((2,), (2,)), dtype=np.uint8, meta=np.ones((0, 0), np.uint8))
    broken = xr.DataArray(broken, dims=("y", "x"))
    refused(lambda: whole(wmcc.Raster(broken, name="map")), "map cannot be read: ZeroDivisionError")


def test_data_sets_of_the_caller(tmp_path):
    path = write(tmp_path / "a.tif")
    with rasterio.open(path) as dataset:
        opened = wmcc.Raster(dataset)
    refused(lambda: opened.read(slice(0, 1), slice(0, 1)), "a.tif has been closed", hint="keep")
    refused(lambda: wmcc.Raster(dataset), "a.tif has been closed")
    with rasterio.open(
        tmp_path / "b.tif", "w", driver="GTiff", height=3, width=4, count=1, dtype="uint8", **UTM
    ) as file:
        file.write(CLASSES, 1)
        refused(lambda: wmcc.Raster(file), "b.tif is open for writing")
    with rasterio.open(path, "r+") as file:
        assert (whole(wmcc.Raster(file))[0] == CLASSES).all()
    with MemoryFile((tmp_path / "a.tif").read_bytes()) as memory, memory.open() as file:
        assert as_raster(file, "y_pred").name == "y_pred"
        assert as_raster(memory, "y_pred").name == "y_pred"


def test_a_stale_position_is_not_believed(tmp_path):
    """GDAL takes the position of a netCDF file from an attribute that stays when rows are sorted."""
    map_ = array(dims=("y", "x"))
    map_.spatial_ref.attrs["GeoTransform"] = "500000 10 0 5540000 0 -10"
    xr.Dataset({"cover": map_.sortby("y")}).to_netcdf(
        tmp_path / "a.nc", encoding={"cover": {"grid_mapping": "spatial_ref"}}
    )
    opened = wmcc.Raster(tmp_path / "a.nc")
    assert opened.transform[4:] == (10, 5_540_000 - 30)
    assert (whole(opened)[0] == CLASSES[::-1]).all()
    with rasterio.open(tmp_path / "a.nc") as dataset:
        refused(lambda: wmcc.Raster(dataset), "GeoTransform", hint="give the path")


# ---- bands and variables --------------------------------------------------------------------------------


def test_bands(tmp_path):
    two = write(tmp_path / "two.tif", np.stack([CLASSES, CLASSES[::-1]]))
    refused(lambda: wmcc.Raster(two), "2 bands: 1, 2", hint="wmcc.Raster(")
    assert (whole(wmcc.Raster(two, 2))[0] == CLASSES[::-1]).all()
    refused(lambda: wmcc.Raster(two, 3), "has 2 bands, and `band` is 3")
    refused(lambda: wmcc.Raster(two, 0), "expected the number of a band")
    refused(lambda: wmcc.Raster(two, variable="x"), "has no variables", hint="wmcc.Raster(")
    colours = write(tmp_path / "rgb.tif", np.stack([CLASSES] * 3), photometric="RGB")
    refused(
        lambda: wmcc.Raster(colours), "3 bands, red, green and blue: it is a picture", hint=("class numbers", "band=")
    )
    assert (whole(wmcc.Raster(colours, band=3))[0] == CLASSES).all()
    many = xr.concat([array(), array()[::-1].assign_coords(y=array().y)], "band").assign_coords(band=[3, 5])
    refused(lambda: wmcc.Raster(many), "2 maps along the dimension 'band'", hint="wmcc.Raster(")
    assert (whole(wmcc.Raster(many, 5))[0] == CLASSES[::-1]).all()
    refused(lambda: wmcc.Raster(many, 1), "has the bands [3, 5]")
    refused(lambda: wmcc.Raster(array(), 2), "one map only, and `band` is 2")
    named = many.assign_coords(band=["red", "nir"])
    assert (whole(wmcc.Raster(named, 2))[0] == CLASSES[::-1]).all()
    years = many.drop_vars("band").rename(band="year")
    refused(lambda: wmcc.Raster(years), "2 maps along the dimension 'year'", hint="band), which counts from 1")
    assert (whole(wmcc.Raster(years, 2))[0] == CLASSES[::-1]).all()
    refused(lambda: wmcc.Raster(years, 3), "has the bands 1 to 2, and `band` is 3")


def test_pages(tmp_path):
    from PIL import Image

    pages = [Image.fromarray(page) for page in (CLASSES, CLASSES[::-1].copy())]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    said = refused(lambda: wmcc.Raster(tmp_path / "a.tif"), "a.tif has 2 pages", hint="GTIFF_DIR:1:")
    first = said.hint.split("'")[1]
    assert (whole(wmcc.Raster(first))[0] == CLASSES).all()
    assert (whole(wmcc.Raster(first.replace("DIR:1", "DIR:2")))[0] == CLASSES[::-1]).all()


def test_groups_of_a_store(tmp_path):
    xr.Dataset({"cover": array()}).to_zarr(tmp_path / "a.zarr", group="2020", zarr_format=2)
    assert (whole(wmcc.Raster(tmp_path / "a.zarr" / "2020"))[0] == CLASSES).all()


def test_variables(tmp_path):
    xr.Dataset({"cover": array(), "other": array() + 1, "years": ("t", [1, 2])}).to_netcdf(tmp_path / "a.nc")
    refused(lambda: wmcc.Raster(tmp_path / "a.nc"), "a.nc has 2 variables: cover, other", hint="variable=")
    assert (whole(wmcc.Raster(tmp_path / "a.nc", variable="other"))[0] == CLASSES + 1).all()
    refused(lambda: wmcc.Raster(tmp_path / "a.nc", variable="covr"), "no variable 'covr'; it has cover, other")
    refused(lambda: wmcc.Raster(array(), variable="cover"), "one variable only")


# ---- what is known --------------------------------------------------------------------------------------


def test_nodata(tmp_path):
    path = write(tmp_path / "a.tif", nodata=255)
    assert wmcc.Raster(path).nodata == 255
    assert (whole(wmcc.Raster(path))[1] == (CLASSES != 255)).all()
    assert wmcc.Raster(path).read(slice(0, 1), slice(0, 4))[1] is None  # all of them
    assert whole(wmcc.Raster(path, nodata=None))[1].all()
    assert (whole(wmcc.Raster(path, nodata=0))[1] == (CLASSES != 0)).all()
    assert whole(wmcc.Raster(path, nodata=-9999))[1].all()
    assert whole(wmcc.Raster(path, nodata=0.5))[1].all()
    assert whole(wmcc.Raster(path, nodata=np.nan))[1].all()
    refused(lambda: wmcc.Raster(path, nodata="none"), "`nodata` is 'none'", error=InputTypeError)
    deep = wmcc.Raster(array(CLASSES.astype(np.float32), _FillValue=-1.7976931348623157e308))
    assert whole(deep)[1].all()
    bools = wmcc.Raster(array(CLASSES > 0), nodata=0)
    assert (whole(bools)[1] == (CLASSES > 0)).all()


def test_attributes_may_name_several_numbers_and_be_text():
    several = wmcc.Raster(array(CLASSES, _FillValue=255, missing_value=[255, 0, -1]))
    assert several.nodata == 255
    assert (whole(several)[1] == ((CLASSES != 255) & (CLASSES != 0))).all()
    assert whole(wmcc.Raster(array(CLASSES, missing_value=np.int16([-1, 2]))))[1].sum() == (CLASSES != 2).sum()
    assert (whole(wmcc.Raster(array(CLASSES, nodata="255")))[1] == (CLASSES != 255)).all()
    assert whole(wmcc.Raster(array(CLASSES, nodata="none")))[1].all()


@pytest.mark.parametrize("nodata", [-np.inf, np.inf, np.float32(-9999), True, np.uint8(3)])
def test_nodata_of_any_kind(nodata):
    integers = wmcc.Raster(array(CLASSES), nodata=nodata)
    assert (whole(integers)[1] == (nodata != CLASSES)).all()
    floats = np.where(CLASSES == 255, nodata, CLASSES).astype(np.float32)
    assert (whole(wmcc.Raster(array(floats), nodata=nodata), "labels")[1] == (floats != nodata)).all()


@pytest.mark.parametrize(
    ("dtype", "nodata"), [("int64", 2**63 - 1), ("int64", -(2**63)), ("int64", 2**53 + 1), ("uint64", 2**64 - 1)]
)
def test_nodata_of_64_bits_is_read_to_the_last(tmp_path, dtype, nodata):
    values = np.array([[1, 2], [nodata, 2**53]], dtype=dtype)
    rasterio.shutil.copy(write(tmp_path / "a.tif", values), tmp_path / "a.vrt", driver="VRT")
    text = (tmp_path / "a.vrt").read_text()
    (tmp_path / "a.vrt").write_text(text.replace("<ColorInterp>", f"<NoDataValue>{nodata}</NoDataValue><ColorInterp>"))
    found = wmcc.Raster(tmp_path / "a.vrt")
    assert found.nodata == nodata  # of which rasterio knows a rounded float, or nothing
    assert (whole(found)[1] == (values != nodata)).all()
    assert whole(wmcc.Raster(tmp_path / "a.vrt", nodata=None))[1].all()


def test_a_mask_of_one_band(tmp_path):
    write(tmp_path / "values.tif")
    write(tmp_path / "mask.tif", np.where(CLASSES == 1, 0, 255).astype(np.uint8))
    source = "<SimpleSource><SourceFilename relativeToVRT='1'>{}.tif</SourceFilename></SimpleSource>"
    mask = f"<MaskBand><VRTRasterBand dataType='Byte'>{source.format('mask')}</VRTRasterBand></MaskBand>"
    band = f"<VRTRasterBand dataType='Byte' band='1'>{source.format('values')}{mask}</VRTRasterBand>"
    (tmp_path / "a.vrt").write_text(
        f"<VRTDataset rasterXSize='4' rasterYSize='3'><GeoTransform>0, 1, 0, 0, 0, -1</GeoTransform>{band}</VRTDataset>"
    )
    assert (whole(wmcc.Raster(tmp_path / "a.vrt"))[1] == (CLASSES != 1)).all()


def test_masks(tmp_path):
    known = CLASSES != 1
    for name, env in (("internal", {"GDAL_TIFF_INTERNAL_MASK": True}), ("outside", {"GDAL_TIFF_INTERNAL_MASK": False})):
        with rasterio.Env(**env):
            path = write(tmp_path / f"{name}.tif")
            with rasterio.open(path, "r+") as file:
                file.write_mask(known)
        assert (tmp_path / "outside.tif.msk").exists() == (name == "outside")
        assert (whole(wmcc.Raster(path))[1] == known).all()
        assert (whole(wmcc.Raster(path, nodata=2))[1] == known & (CLASSES != 2)).all()
        assert (whole(wmcc.Raster(path, nodata=None))[1] == known).all()
    for nodata in (None, 255):
        path = write(tmp_path / "alpha.tif", np.stack([CLASSES, np.where(known, 7, 0).astype(np.uint8)]), nodata=nodata)
        with rasterio.open(path, "r+") as file:
            file.colorinterp = [ColorInterp.gray, ColorInterp.alpha]
        found = whole(wmcc.Raster(path))
        assert (found[0] == CLASSES).all()
        assert (found[1] == known & ((nodata or 99) != CLASSES)).all()


def test_float_labels(tmp_path):
    floats = np.where(CLASSES == 255, np.nan, CLASSES).astype(np.float32)
    for data in (write(tmp_path / "a.tif", floats), array(floats), array(floats).chunk({"x": 2})):
        values, known = whole(wmcc.Raster(data), "labels")
        assert values.dtype == np.int64
        assert (known == (CLASSES != 255)).all()
        assert (values[known] == CLASSES[known]).all()
    floats[2, 1] = 1.5
    opened = wmcc.Raster(array(floats), name="map")
    refused(
        lambda: opened.labels(slice(1, 3), slice(1, 4)), "map: the pixel in row 2, column 1 is 1.5", error=LabelError
    )
    assert opened.read(slice(2, 3), slice(1, 2))[0] == 1.5  # a weight may be
    refused(lambda: whole(wmcc.Raster(array(floats + np.inf)), "labels"), "is inf", error=LabelError)


def test_scale_and_offset(tmp_path):
    path = write(tmp_path / "a.tif", nodata=255)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = [0.5], [1.0]
    for data in (path, array(scale_factor=0.5, add_offset=1.0, _FillValue=255)):
        values, known = whole(wmcc.Raster(data))
        assert (values[known] == CLASSES[known] * 0.5 + 1).all()
        assert (known == (CLASSES != 255)).all()  # nodata is what is stored
        refused(lambda data=data: whole(wmcc.Raster(data), "labels"), "1.5", "0.5 × stored + 1", error=LabelError)


def test_unsigned_bytes_of_classic_netcdf(tmp_path):
    stored = array(CLASSES.view(np.int8), _Unsigned="true", _FillValue=np.int8(-1))
    xr.Dataset({"cover": stored}).to_netcdf(tmp_path / "a.nc", format="NETCDF3_CLASSIC", engine="netcdf4")
    large = array(CLASSES.astype(np.int16) * 100)  # big-endian, as all that this format has
    xr.Dataset({"cover": large}).to_netcdf(tmp_path / "b.nc", format="NETCDF3_CLASSIC", engine="netcdf4")
    assert (whole(wmcc.Raster(tmp_path / "b.nc"))[0] == CLASSES.astype(int) * 100).all()
    assert (whole(wmcc.Raster(large.astype(">i2")))[0] == CLASSES.astype(int) * 100).all()
    opened = wmcc.Raster(tmp_path / "a.nc")
    assert (opened.dtype, opened.nodata) == (np.uint8, 255)
    assert (whole(opened)[0] == CLASSES).all()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16", "int32", "uint32", "int64", "uint64", "float64"])
def test_dtypes(tmp_path, dtype):
    values = CLASSES.astype(np.int64) % 100
    opened = wmcc.Raster(write(tmp_path / "a.tif", values.astype(dtype), nodata=55))
    assert (whole(opened, "labels")[0][values != 55] == values[values != 55]).all()
    assert (whole(opened)[1] == (values != 55)).all()


def test_complex_files(tmp_path):
    for dtype in ("complex64", "complex128"):
        path = write(tmp_path / "a.tif", CLASSES.astype(dtype))
        refused(lambda path=path: wmcc.Raster(path), "a.tif holds complex numbers", error=InputTypeError)


# ---- names and colours ----------------------------------------------------------------------------------


def beside(path, inside):
    with open(f"{path}.aux.xml", "w") as file:
        file.write(f'<PAMDataset><PAMRasterBand band="1">{inside}</PAMRasterBand></PAMDataset>')
    return path


CATEGORIES = "<CategoryNames><Category>sea</Category><Category></Category><Category>wood</Category></CategoryNames>"


def test_names_beside_a_file(tmp_path):
    assert wmcc.Raster(beside(write(tmp_path / "a.tif"), CATEGORIES)).names == {0: "sea", 2: "wood"}


def test_names_in_a_virtual_raster_and_colours(tmp_path):
    path = write(tmp_path / "a.tif")
    with rasterio.open(path, "r+") as file:
        file.write_colormap(1, {0: (1, 2, 3), 1: (4, 5, 6), 2: (7, 8, 9)})
    rasterio.shutil.copy(beside(path, CATEGORIES), tmp_path / "a.vrt", driver="VRT")
    (tmp_path / "a.tif.aux.xml").unlink()
    opened = wmcc.Raster(tmp_path / "a.vrt")
    assert opened.names == {0: "sea", 2: "wood"}
    assert [opened.colours[k] for k in range(3)] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]
    assert [wmcc.Raster(path).colours[k] for k in range(3)] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]


def test_names_from_flags(tmp_path):
    flags = {"flag_values": np.array([0, 2], np.uint8), "flag_meanings": "sea mixed_wood"}
    map_ = array(**flags)
    xr.Dataset({"cover": map_}).to_netcdf(tmp_path / "a.nc")
    for data in (map_, tmp_path / "a.nc"):
        assert wmcc.Raster(data).names == {0: "sea", 2: "mixed_wood"}
    assert wmcc.Raster(array(flag_values="0b, 2b", flag_meanings="sea wood")).names == {0: "sea", 2: "wood"}
    assert wmcc.Raster(array(flag_values=[0, 1, 2], flag_meanings="sea wood")).names == {}


# ---- coordinate reference systems -----------------------------------------------------------------------


def test_where_the_system_is_found():
    wkt = pyproj.CRS("EPSG:32632").to_wkt()
    bare = array(crs=None)
    mapped = bare.assign_coords(utm=xr.DataArray(0, attrs=pyproj.CRS("EPSG:32632").to_cf())).assign_attrs(
        grid_mapping="utm"
    )
    only_cf = bare.assign_coords(utm=xr.DataArray(0, attrs={
        "grid_mapping_name": "transverse_mercator", "latitude_of_projection_origin": 0.0,
        "longitude_of_central_meridian": 9.0, "scale_factor_at_central_meridian": 0.9996, "false_easting": 500_000.0,
        "false_northing": 0.0, "reference_ellipsoid_name": "WGS 84", "horizontal_datum_name": "WGS84",
    }))  # fmt: skip
    only_cf.encoding["grid_mapping"] = "utm"
    rio = bare.copy()
    rio.coords["spatial_ref"] = xr.DataArray(0, attrs={"spatial_ref": wkt})
    for found in (bare.assign_attrs(crs="+init=epsg:32632"), bare.assign_attrs(crs=32632), mapped, rio):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            assert same_crs(wmcc.Raster(found).crs, pyproj.CRS(32632))
    assert wmcc.Raster(only_cf).crs.coordinate_operation.method_name == "Transverse Mercator"
    assert wmcc.Raster(bare).crs is None
    assert wmcc.Raster(bare, crs="EPSG:32632").crs == pyproj.CRS(32632)
    refused(
        lambda: wmcc.Raster(array(), crs="EPSG:4326"),
        "is in EPSG:32632 (WGS 84 / UTM zone 32N), and `crs` says EPSG:4326",
        hint="leave it out",
    )
    refused(lambda: wmcc.Raster(bare, crs="nonsense"), "'nonsense' is no coordinate reference system")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::FutureWarning")
def test_rioxarray_is_understood(tmp_path):
    import rioxarray

    path = write(tmp_path / "a.tif", nodata=255)
    for options in ({}, {"masked": True}, {"chunks": True}):
        with rioxarray.open_rasterio(path, **options) as opened:
            found = wmcc.Raster(opened)
            check_grid(wmcc.Raster(path), found)
            assert (whole(found)[1] == (CLASSES != 255)).all()


def with_shift(code):
    """A system with a transformation to WGS 84, as GDAL writes into some files."""
    shift = pyproj.crs.coordinate_operation.ToWGS84Transformation(pyproj.CRS(code).geodetic_crs, 1, 2, 3)
    return pyproj.crs.BoundCRS(pyproj.CRS(code), "EPSG:4326", shift)


def esri(code):
    return pyproj.CRS.from_wkt(pyproj.CRS(code).to_wkt("WKT1_ESRI"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("EPSG:4326", "OGC:CRS84", True),
        ("EPSG:4326", esri("EPSG:4326"), True),
        ("EPSG:32632", esri("EPSG:32632"), True),
        ("EPSG:3035", esri("EPSG:3035"), True),
        ("EPSG:4326", pyproj.CRS.from_wkt(pyproj.CRS("EPSG:4326").to_wkt("WKT1_GDAL")), True),
        ("EPSG:4326", "EPSG:4979", True),
        ("EPSG:25832", "EPSG:25832+7837", True),
        ("EPSG:31467", "EPSG:31467+5783", True),
        ("EPSG:31467", with_shift("EPSG:31467"), True),
        ("EPSG:31468", with_shift("EPSG:31467"), False),
        ("EPSG:4326", "EPSG:4258", False),
        ("EPSG:32632", "EPSG:25832", False),
        ("EPSG:32632", "EPSG:32633", False),
        ("EPSG:3857", "EPSG:3395", False),
        ("+proj=utm +zone=32 +ellps=bessel +towgs84=1,2,3", "+proj=utm +zone=32 +ellps=bessel +towgs84=9,9,9", False),
        ("+proj=utm +zone=32 +ellps=bessel +towgs84=1,2,3", "+proj=utm +zone=32 +ellps=bessel +towgs84=1,2,3", True),
    ],
)
def test_systems_are_the_same_whoever_wrote_them(one, other, same):
    assert same_crs(pyproj.CRS(one), pyproj.CRS(other)) is same
    assert same_crs(pyproj.CRS(other), pyproj.CRS(one)) is same


# ---- grids that differ ----------------------------------------------------------------------------------


def pair(other, truth=None):
    return wmcc.Raster(array() if truth is None else truth, name="truth.tif"), wmcc.Raster(other, name="map.tif")


def unlike(other, *words, truth=None, hint="`resample`"):
    said = refused(lambda: check_grid(*pair(other, truth)), *words, hint=hint)
    assert "map.tif" in said.message
    assert "truth.tif" in said.message


def test_grids_that_are_the_same():
    check_grid(*pair(array()))
    check_grid(*pair(array(left=500_000 + 9e-6)))
    check_grid(*pair(array(crs=None), array(crs=None)))
    check_grid(*pair(xr.DataArray(CLASSES, dims=("y", "x")), xr.DataArray(CLASSES, dims=("y", "x"))))
    single = {"y": array().y.astype(np.float32), "x": array().x.astype(np.float32)}
    check_grid(*pair(array().assign_coords(single)))
    rough = array(step=1 / 120, left=10.0, top=50.0, crs="EPSG:4326")
    check_grid(*pair(rough.assign_coords(x=rough.x.astype(np.float32), y=rough.y.astype(np.float32)), rough))


def test_rounding_of_a_large_grid_is_no_shift():
    """Two writers of one grid: in arc seconds, and in degrees with 15 decimals."""
    small = wmcc.Raster(array(crs="EPSG:4326"))
    grids = (1 / 3600, 0.0, 10.0, 0.0, -1 / 3600, 50.0), (0.000277777777777778, 0.0, 10.0, 0.0, -1 / 3600, 50.0)
    check_grid(*(replace(small, shape=(36_000, 36_000), transform=grid) for grid in grids))
    grids = (*grids[:1], (0.00027777788, 0.0, 10.0, 0.0, -1 / 3600, 50.0))
    rasters = [replace(small, shape=(36_000, 36_000), transform=grid) for grid in grids]
    refused(lambda: check_grid(*rasters), "0.0002777778 x", "0.0002777779 x")


@pytest.mark.parametrize(("left", "step"), [(500_000.009, 10.0), (500_000.001, 10.0), (500_000.0, 10.0001)])
def test_less_than_a_thousandth_of_a_pixel_is_taken_with_a_note(tmp_path, left, step):
    rasters = pair(array(left=left, step=step, top=5_540_000))
    assert re.match(r"map\.tif lies up to [\de.-]+ pixels off the grid of truth\.tif\. That is", check_grid(*rasters))
    assert check_grid(*pair(array())) is None
    with pytest.warns(MapWarning, match="taken to lie on each other"):
        table = wmcc.tabulate(*rasters)
    assert table == wmcc.tabulate(*pair(array()))
    unlike(array(left=500_000.011), "0.0011 pixels to the right")
    unlike(array(np.zeros((5, 9)), left=499_980.001), "begins 2 pixels to the left from its corner", hint="errors")


def test_each_way_in_which_grids_differ():
    unlike(array(crs="EPSG:25832"), "EPSG:32632", "EPSG:25832", "coordinate reference system")
    unlike(array(crs=None), "map.tif has no coordinate reference system", hint="`crs` 'EPSG:32632'")
    unlike(array(), "truth.tif has no coordinate reference system", truth=array(crs=None), hint="`crs` 'EPSG:32632'")
    unlike(array(left=500_005), "map.tif is shifted by 0.5 pixels to the right against truth.tif")
    unlike(array(top=5_540_005), "shifted by 0.5 pixels up against")
    unlike(array(left=500_000.02), "0.002 pixels to the right")
    unlike(array(step=20.0), "10 x 10 units", "20 x 20;")
    unlike(array(step=10.01), "10 x 10", "10.01 x 10.01")
    unlike(
        array(left=600_000), "do not overlap", "begins 10,000 pixels to the right from the corner", hint="same place"
    )
    unlike(
        array(np.zeros((5, 9)), left=499_980),
        "5 x 9",
        "3 x 4",
        "begins 2 pixels to the left from its corner",
        hint="exact",
    )
    unlike(array(CLASSES.T), "3 x 4", "4 x 3 and begins at its corner")
    unlike(array()[::-1], "the rows or columns of truth.tif and those of map.tif run in different directions")
    unlike(
        array()[:, ::-1],
        "columns of truth.tif and those of map.tif run in different directions",
        hint="sortby('x'",
    )
    unlike(array(), "run in different directions", truth=array()[::-1])
    check_grid(*pair(array()[::-1].sortby("y", ascending=False)))
    unlike(xr.DataArray(CLASSES, dims=("y", "x")), "map.tif is not georeferenced", hint="arrays of both")
    plain = xr.DataArray(CLASSES, dims=("y", "x"))
    unlike(xr.DataArray(CLASSES.T, dims=("y", "x")), "seems to be transposed", truth=plain, hint="array.T")
    unlike(xr.DataArray(CLASSES[:2], dims=("y", "x")), "3 x 4", "2 x 4", truth=plain, hint="same part")


def test_a_file_with_exchanged_axes(tmp_path):
    truth, turned = write(tmp_path / "truth.tif"), tmp_path / "map.tif"
    write(turned, CLASSES.T, transform=rasterio.Affine(0, 10, 500_000, -10, 0, 5_540_000))
    rasters = wmcc.Raster(truth), wmcc.Raster(turned)
    refused(lambda: check_grid(*rasters), "run in different directions", hint="`resample`")
    assert (whole(aligned(rasters[1], rasters[0]))[0] == CLASSES).all()
    rotated = wmcc.Raster(write(tmp_path / "b.tif", transform=rasterio.Affine(10, 1, 500_000, 1, -10, 5_540_000)))
    refused(lambda: check_grid(rasters[0], rotated), "b.tif 10.0499 x 10.0499", hint="`resample`")


def test_files_without_position(tmp_path):
    bare = [write(tmp_path / f"{name}.tif", crs=None, transform=rasterio.Affine.identity()) for name in "ab"]
    check_grid(*map(wmcc.Raster, bare))
    assert wmcc.Raster(bare[0]).transform is None
    placed = wmcc.Raster(write(tmp_path / "c.tif"))
    refused(lambda: check_grid(placed, wmcc.Raster(bare[0])), "a.tif is not georeferenced")
    refused(lambda: aligned(wmcc.Raster(bare[0]), placed), "a.tif is not georeferenced")
    points = [rasterio.control.GroundControlPoint(i, j, 10 * j, 10 * i) for i, j in ((0, 0), (0, 4), (3, 0))]
    with rasterio.open(bare[0], "r+") as file:
        file.gcps = points, rasterio.crs.CRS.from_epsg(32632)
    refused(lambda: wmcc.Raster(bare[0]), "3 ground control points", hint="gdalwarp")


# ---- nearest neighbours ---------------------------------------------------------------------------------


def warped(other, truth):
    """What GDAL makes of it, with every centre transformed; 255 is outside. `reproject` interpolates between some."""
    with rasterio.open(other) as source, rasterio.open(truth) as grid:
        shape = {"width": grid.width, "height": grid.height}
        with WarpedVRT(source, crs=grid.crs, transform=grid.transform, tolerance=1e-9, nodata=255, **shape) as found:
            return found.read(1)


GRIDS = {
    "finer": ((3.3, 0, 500_001, 0, -3.1, 5_539_998), "EPSG:32632"),
    "coarser": ((37, 0, 499_990, 0, -41, 5_540_010), "EPSG:32632"),
    "turned": ((9, 3, 500_000, 3, -9, 5_540_030), "EPSG:32632"),
    "south up": ((10.7, 0, 500_000.3, 0, 10.7, 5_539_700.1), "EPSG:32632"),
    "another zone": ((11, 0, 70_250, 0, -11, 5_557_250), "EPSG:32633"),
    "longitudes": ((1e-4, 0, 9.0, 0, -1e-4, 50.013), "EPSG:4326"),
    "Mercator": ((15, 0, 1_001_800, 0, -15, 6_447_000), "EPSG:3857"),
}


@pytest.mark.parametrize("name", GRIDS)
def test_nearest_neighbours_are_those_of_gdal(tmp_path, name):
    transform, crs = GRIDS[name]
    values = np.random.default_rng(1).integers(0, 200, (240, 250), dtype=np.uint8)
    other = write(tmp_path / "map.tif", values)
    truth = write(
        tmp_path / "truth.tif", np.zeros((137, 145), np.uint8), transform=rasterio.Affine(*transform), crs=crs
    )
    expected = warped(other, truth)
    assert (expected != 255).mean() > 0.05
    for data in (other, array(values).chunk({"y": 7, "x": 11})):
        found, known = whole(aligned(wmcc.Raster(data), wmcc.Raster(truth)))
        assert (np.where(known, found, 255) == expected).all()


@pytest.mark.parametrize(
    ("shift", "step", "said"),
    [
        ((5, 0), 10, "100 % of the pixels of truth.tif .* the one to the right is taken"),
        ((0, -5), 10, "100 % of the pixels of truth.tif .* the one below is taken"),
        ((5, 5), 10, "100 % .* the one to the right and below is taken"),
        ((0, 0), 5, "100 % .* to the right and below"),  # centres of pixels of 10 m lie on corners of those of 5 m
        ((0, 0), 30, None),
        ((5 / 3, -5 / 3), 20 / 3, "75.0 % of"),
        ((3, 2), 10, None),
        ((5.01, 0), 10, None),
    ],
)
def test_a_toss_is_said(shift, step, said):
    values = np.arange(900).reshape(30, 30)
    other = array(values, left=500_000 + shift[0], top=5_540_000 + shift[1], step=step)
    truth, map_ = wmcc.Raster(array(np.zeros((8, 8))), name="truth.tif"), wmcc.Raster(other, name="map.tif")
    found = ties(aligned(map_, truth), truth)
    assert found is None if said is None else re.match(said, found)


def test_the_neighbour_that_is_taken_is_the_one_that_is_said():
    truth, other = wmcc.Raster(array(np.zeros((3, 4)))), wmcc.Raster(array(left=499_995), name="map.tif")
    assert "the one to the right is taken" in ties(aligned(other, truth), truth)
    found, known = whole(aligned(other, truth))
    assert (found[:, :3] == CLASSES[:, 1:]).all()
    assert known.tolist() == [[True] * 3 + [False]] * 3


def test_nearest_neighbours_by_windows_are_those_of_the_whole(monkeypatch):
    values = np.random.default_rng(2).integers(0, 200, (60, 60), dtype=np.uint8)
    truth = wmcc.Raster(
        array(np.zeros((25, 25)), step=1.7e-4, left=9.0, top=50.013, crs="EPSG:4326").chunk({"x": 10, "y": 7})
    )
    on_grid = aligned(wmcc.Raster(array(values, _FillValue=3).chunk({"x": 20})), truth)
    found, known = whole(on_grid)
    assert known.any()
    assert not known.all()
    most = []
    read = on_grid.source.other.source.read
    monkeypatch.setattr("wmcc.geo.raster.alignment.MOST", 50)
    monkeypatch.setattr(on_grid.source.other.source, "read", lambda *w: most.append(read(*w)[0].size) or read(*w))
    assert on_grid.block_shape == (7, 10)
    for rows, cols in blocks(on_grid):
        part, here = on_grid.read(rows, cols)
        here = np.ones(part.shape, bool) if here is None else here
        assert (here == known[rows, cols]).all()
        assert (part[here] == found[rows, cols][here]).all()
    assert max(most) <= 50


def test_alignment_keeps_what_is_not_known(tmp_path):
    path = write(tmp_path / "a.tif", nodata=255)
    with rasterio.open(path, "r+") as file:
        file.scales = [2.0]
    truth = wmcc.Raster(array(np.zeros((5, 6)), left=499_990, top=5_540_010))
    on_grid = aligned(wmcc.Raster(path), truth)
    check_grid(truth, on_grid)
    values, known = whole(on_grid)
    assert (known[1:4, 1:5] == (CLASSES != 255)).all()
    assert known.sum() == (CLASSES != 255).sum()
    assert (values[1:4, 1:5][CLASSES != 255] == 2.0 * CLASSES[CLASSES != 255]).all()
    on_grid.close()
    with rasterio.open(path, "r+") as file:
        file.write_mask(CLASSES != 1)
    assert (whole(aligned(wmcc.Raster(path), truth))[1][1:4, 1:5] == ((CLASSES != 255) & (CLASSES != 1))).all()
    degrees = wmcc.Raster(array(np.zeros((9, 14)), step=5e-5, left=9.0, top=50.0124, crs="EPSG:4326"))
    values, known = whole(aligned(wmcc.Raster(path), degrees))
    assert {*values[known]} == {0.0, 4.0}


def test_ties_are_the_same_everywhere():
    values = np.arange(2000, dtype=np.int32)[np.newaxis].repeat(3, 0)
    for left in (0.1, 500_000.3, 4_321_000.7):
        for step in (0.1, 1 / 3, 10.0):
            other = array(values, left=left, step=step, top=5_000_000)
            half = array(values, left=left + step / 2, step=step, top=5_000_000)
            found, known = whole(aligned(wmcc.Raster(other), wmcc.Raster(half)))
            assert (found[:, :-1] == values[:, 1:]).all()
            assert not known[:, -1].any()


def test_longitudes_go_round(tmp_path):
    def write_turned(values, left):
        grid = rasterio.Affine(5, 1, left, 0.5, -4, 20)
        return wmcc.Raster(write(tmp_path / f"turned{left}.tif", values, crs="EPSG:4326", transform=grid))

    def assert_same(one, other):
        assert (one[0] == other[0]).all()
        assert one[1].all()

    globe = np.arange(36, dtype=np.uint8)[np.newaxis].repeat(2, 0)
    east = array(globe, left=0.0, top=20.0, crs="EPSG:4326")
    west = array(np.roll(globe, 18, axis=1), left=-180.0, top=20.0, crs="EPSG:4326")
    unlike(east, "longitudes", "0 to 360", "-180 to 180", truth=west)
    found, known = whole(aligned(wmcc.Raster(east), wmcc.Raster(west)))
    assert known.all()
    assert (found == west.values).all()
    turned = write_turned(globe, 0.0)
    for left in (-360.0, 360.0, 720.0):
        assert_same(whole(aligned(write_turned(globe, left), turned)), whole(turned))
    globe = np.arange(40, dtype=np.uint8)[np.newaxis].repeat(2, 0)  # 400 grades
    east = array(globe, left=0.0, top=20.0, crs="EPSG:4807")
    west = array(np.roll(globe, 20, axis=1), left=-200.0, top=20.0, crs="EPSG:4807")
    found, known = whole(aligned(wmcc.Raster(east), wmcc.Raster(west)))
    assert known.all()
    assert (found == west.values).all()


def test_what_cannot_be_aligned():
    refused(
        lambda: aligned(wmcc.Raster(array(left=9e5), name="map"), wmcc.Raster(array(), name="truth")),
        "truth and map do not overlap",
    )
    refused(lambda: aligned(wmcc.Raster(array(crs="EPSG:32601"), name="map"), wmcc.Raster(array())), "do not overlap")
    refused(
        lambda: aligned(wmcc.Raster(array(crs=None), name="map"), wmcc.Raster(array())),
        "map has no coordinate reference",
    )


# ---- areas, and packages that are missing ---------------------------------------------------------------


def test_areas_of_pixels_need_a_system_and_a_position():
    refused(
        lambda: wmcc.Raster(array(crs=None), name="map").pixel_area(),
        "map has no coordinate reference system",
        hint="crs=",
    )
    plain = wmcc.Raster(xr.DataArray(CLASSES, dims=("y", "x")), crs="EPSG:4326", name="map")
    refused(lambda: plain.pixel_area(), "map is not georeferenced")


def test_areas_of_pixels():
    areas = wmcc.Raster(array(crs="EPSG:4326", left=10.0, top=60.1, step=0.1)).pixel_area("km2")
    assert areas.shape == (3, 1)
    assert np.allclose(areas[:, 0], [62.07, 62.26, 62.45], atol=0.01)
    turned = array(crs="EPSG:4326", left=10.0, top=60.1, step=0.1)[::-1]
    assert np.allclose(wmcc.Raster(turned).pixel_area("km2")[::-1], areas, rtol=1e-12)
    equal = array(crs="EPSG:3035", left=4e6, top=3e6)
    assert wmcc.Raster(equal).pixel_area() == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize(
    ("missing", "name"), [("rasterio", "a.tif"), ("zarr", "a.zarr"), ("xarray", "a.nc"), ("pyproj", "")]
)
def test_missing_packages_are_named(tmp_path, monkeypatch, missing, name):
    write(tmp_path / "a.tif")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.nc").touch()
    importing = builtins.__import__
    for loaded in [m for m in sys.modules if m.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setattr(builtins, "__import__", importing)
    data = tmp_path / name if name else array()
    refused(lambda: wmcc.Raster(data), missing, hint="pip install 'wmcc[raster]'", error=MissingDependencyError)


def test_netcdf_needs_a_whole_reader(tmp_path, monkeypatch):
    (tmp_path / "a.nc").touch()
    monkeypatch.setitem(sys.modules, "h5netcdf", types.ModuleType("h5netcdf"))
    sys.modules["h5netcdf"].__spec__ = importlib.machinery.ModuleSpec("h5netcdf", None)
    for missing in ("netCDF4", "h5py"):  # without which h5netcdf reads nothing
        monkeypatch.setitem(sys.modules, missing, None)
    refused(
        lambda: wmcc.Raster(tmp_path / "a.nc"),
        "needs netCDF4",
        hint="pip install 'wmcc[raster]'",
        error=MissingDependencyError,
    )

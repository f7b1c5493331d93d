"""Layers and rasters on the command line: tables are those of the library, and what does not go together is said."""

import json
import shutil
from pathlib import Path

import geopandas
import numpy as np
import pandas
import pytest
import rasterio
import shapely
from cli_helpers import run

import wmcc
from wmcc.mapping import error_map
from wmcc.report import findings

LAYERED = ("parcels.gpkg", "--true", "ref", "--pred", "map")
OVERLAID = ("parcels.gpkg", "--overlay", "map.gpkg", "--true", "ref", "--pred", "class", "--weight", "area")
POINTS = ("points.csv", "--xy", "lon,lat", "--crs", "EPSG:4326", "--true", "ref")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write parcels, a map of shifted ones, rasters in degrees, and points."""
    folder, rng = tmp_path_factory.mktemp("maps"), np.random.default_rng(0)
    boxes = [
        shapely.box(5e5 + x, 56e5 + y, 5e5 + x + 100, 56e5 + y + 100) for x in range(0, 500, 100) for y in (0, 100)
    ]
    ref = rng.choice(["field", "wood", "lake"], len(boxes))
    pred = np.where(rng.random(len(ref)) < 0.7, ref, "wood")
    parcels = geopandas.GeoDataFrame(
        {"ref": ref, "map": pred, "other": ref[::-1], "code": np.arange(10) % 3}, geometry=boxes, crs=25832
    )
    parcels.to_file(folder / "parcels.gpkg", layer="parcels")
    parcels.to_parquet(folder / "parcels.parquet")
    for layer in ("one", "two"):
        parcels.to_file(folder / "several.gpkg", layer=layer)
    parcels.assign(area=2.0).to_file(folder / "areas.gpkg", layer="parcels")
    bow = shapely.Polygon([(5e5, 56e5), (500100, 5600100), (500100, 56e5), (5e5, 5600100)])
    parcels.assign(geometry=[bow, *boxes[1:]]).to_file(folder / "bow.gpkg", layer="parcels")
    shifted = parcels.geometry.translate(30, 20)
    geopandas.GeoDataFrame({"class": pred}, geometry=shifted).to_file(folder / "map.gpkg", layer="map")

    truth = rng.integers(0, 3, (24, 30)).astype(np.uint8)
    maps = {name: np.where(rng.random(truth.shape) < 0.8, truth, 1).astype(np.uint8) for name in ("a", "b")}
    truth[:3, :3], maps["a"][10, :4] = 255, 255
    zones = np.indices(truth.shape)[0] // 6
    grids = {"truth": truth, **maps, "weights": 1 + zones, "zones": zones, "shifted": maps["b"]}
    for name, own in grids.items():
        place = rasterio.Affine(0.1, 0, 9.05 if name == "shifted" else 9, 0, -0.1, 60)
        nodata = None if name in ("weights", "zones") else 255
        size = {"height": 24, "width": 30, "count": 1, "dtype": "uint8"}
        with rasterio.open(
            folder / f"{name}.tif", "w", "GTiff", crs="EPSG:4326", transform=place, nodata=nodata, **size
        ) as f:
            f.write(own.astype(np.uint8), 1)
    place = rasterio.Affine(0.1, 0, 9, 0, -0.1, 60)
    whole = {"driver": "GTiff", "height": 24, "width": 30, "count": 1, "dtype": "float32"}
    for name, own, known in (
        ("all", maps["a"], {"nodata": None}),
        ("shares", truth / 7, {}),
        ("free", truth, {"crs": None}),
    ):
        with rasterio.open(
            folder / f"{name}.tif", "w", **{**whole, "crs": "EPSG:4326", "nodata": 255, "transform": place, **known}
        ) as f:
            f.write(own.astype(np.float32), 1)
    row, column = rng.integers(3, 24, 40), rng.integers(3, 30, 40)
    lines = [
        f"{9.05 + 0.1 * j},{59.95 - 0.1 * i},{truth[i, j]},{'north' if i < 12 else 'south'}"
        for i, j in zip(row, column, strict=True)
    ]
    (folder / "points.csv").write_text("\n".join(["lon,lat,ref,part", *lines, ""]))
    (folder / "sizes.csv").write_text("part,size\nnorth,900\nsouth,1200\n")
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, made):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(findings, "GRID", (0.0, 0.1))
    monkeypatch.setattr(findings, "NODES", 1)
    return tmp_path


def tabulated(*args):
    run("tabulate", *args, "-o", "found.json")
    text = Path("found.json").read_text()
    kind = {"table": wmcc.Table, "joint table": wmcc.JointTable}.get(json.loads(text)["kind"], wmcc.Tables)
    return kind.from_json(text)


def in_degrees():
    return wmcc.Layer("points.csv", xy=("lon", "lat"), crs="EPSG:4326")


SAME = {
    "polygons": (
        (*LAYERED, "--weight", "area"),
        lambda: wmcc.tabulate("parcels.gpkg", true="ref", pred="map", weight="area"),
    ),
    "unit": (
        (*LAYERED, "--weight", "area", "--unit", "m2"),
        lambda: wmcc.tabulate("parcels.gpkg", true="ref", pred="map", weight=wmcc.Area("m2")),
    ),
    "a layer of several": (
        ("several.gpkg", *LAYERED[1:], "--layer", "two", "--ignore", "lake", "--by", "code"),
        lambda: wmcc.tabulate(wmcc.Layer("several.gpkg", "two"), true="ref", pred="map", ignore="lake", by="code"),
    ),
    "several columns": (
        (*LAYERED, "--pred", "other", "--weight", "area"),
        lambda: wmcc.tabulate("parcels.gpkg", true="ref", pred={"map": "map", "other": "other"}, weight="area"),
    ),
    "labels that are numbers": (
        ("parcels.gpkg", "--true", "code", "--pred", "code", "--ignore", "2"),
        lambda: wmcc.tabulate("parcels.gpkg", true="code", pred="code", ignore=2),
    ),
    "two layers": (
        (*OVERLAID, "--sliver", "2000", "--unit", "ha"),
        lambda: wmcc.tabulate(
            wmcc.Overlay("parcels.gpkg", "map.gpkg", sliver=2000), true="ref", pred="class", weight=wmcc.Area("ha")
        ),
    ),
    "points on a raster": (
        (*POINTS, "--overlay", "b.tif", "--stratum", "part", "--population", "sizes.csv", "--labels", "0,1,2"),
        lambda: wmcc.tabulate(
            wmcc.Overlay(in_degrees(), "b.tif"), true="ref", labels=[0, 1, 2],
            design=wmcc.Strata("part", population={"north": 900, "south": 1200}),
        ),
    ),
    "points in the classes of a raster": (
        (*POINTS, "--overlay", "b.tif", "--stratum", "class", "--population", "map"),
        lambda: wmcc.tabulate(
            wmcc.Overlay(in_degrees(), "b.tif"), true="ref", design=wmcc.Strata("class", population="map")
        ),
    ),
    "points on two rasters": (
        (*POINTS, "--overlay", "A=a.tif", "--overlay", "B=b.tif"),
        lambda: wmcc.tabulate(wmcc.Overlay(in_degrees(), {"A": "a.tif", "B": "b.tif"}), true="ref"),
    ),
    "rasters": (("truth.tif", "a.tif"), lambda: wmcc.tabulate("truth.tif", "a.tif")),
    "areas of pixels": (
        ("truth.tif", "a.tif", "--weight", "area", "--unit", "km2", "--blocks", "8"),
        lambda: wmcc.tabulate("truth.tif", "a.tif", wmcc.Area("km2"), cluster=wmcc.Blocks(8)),
    ),
    "blocks of two sides": (
        ("truth.tif", "a.tif", "--blocks", "6,10", "--names", "0=x", "--names", "1=y", "--names", "2=z"),
        lambda: wmcc.tabulate("truth.tif", "a.tif", cluster=wmcc.Blocks(6, 10), names={0: "x", 1: "y", 2: "z"}),
    ),
    "a raster of weights, and zones": (
        ("truth.tif", "b.tif", "--weights", "weights.tif", "--cluster", "zones.tif", "--band", "1", "--ignore", "2"),
        lambda: wmcc.tabulate("truth.tif", "b.tif", "weights.tif", cluster="zones.tif", ignore=2),
    ),
    "results of zones": (
        ("truth.tif", "b.tif", "--by", "zones.tif"),
        lambda: wmcc.tabulate("truth.tif", "b.tif", by="zones.tif"),
    ),
    "several maps": (
        ("truth.tif", "A=a.tif", "B=b.tif"),
        lambda: wmcc.tabulate("truth.tif", {"A": "a.tif", "B": "b.tif"}),
    ),
    "aligned": (
        ("truth.tif", "shifted.tif", "--resample", "nearest"),
        lambda: wmcc.tabulate("truth.tif", wmcc.Raster("shifted.tif", resample="nearest")),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::wmcc.errors.MapWarning")
@pytest.mark.parametrize(("args", "library"), SAME.values(), ids=list(SAME))
def test_tables_are_those_of_the_library(args, library):
    assert tabulated(*args) == library()


def test_scores_comparisons_and_certificates():
    score = json.loads(run("score", "truth.tif", "a.tif", "--weight", "area", "--blocks", "8", "-f", "json").stdout)
    expected = wmcc.score(wmcc.tabulate("truth.tif", "a.tif", "area", cluster=wmcc.Blocks(8)))
    assert score["measures"]["ecc"] == expected.ecc
    assert "in 12 clusters" in run("score", "truth.tif", "a.tif", "--blocks", "8").stdout
    assert "A 0." in run("compare", "truth.tif", "A=a.tif", "B=b.tif", "--blocks", "8").stdout
    certified = run("certify", *LAYERED, "--weight", "area", "--eps", "0.1").stdout
    assert certified == run("certify", *LAYERED, "--weight", "area").stdout
    assert run("score", "truth.tif", "a.tif", "--fail-under", "ecc=0.99", code=3).stderr.startswith("Failed: ECC")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((*LAYERED, "--weight", "area"), " ha"),
        (("truth.tif", "a.tif", "--weight", "area", "--unit", "km2"), " km2"),
        (("areas.gpkg", *LAYERED[1:], "--weight", "area", "--unit", "m2"), " m2"),
        (("areas.gpkg", *LAYERED[1:], "--weight", "area"), "10 rows, area 20\n"),  # of its own column: nobody knows
        ((*LAYERED, "--weight", "code", "--unit", "acres"), " acres"),
    ],
)
def test_the_unit_of_areas_is_written(args, said):
    assert said in f"{run('map', *args).stdout.splitlines()[0]}\n"


def test_repairs_are_told():
    said = run("score", "bow.gpkg", *LAYERED[1:], "--weight", "area").stderr
    assert said.startswith("Warning: bow.gpkg: 1 polygon is invalid (row 0): repaired.")
    assert said.count("Warning") == 1
    assert run("report", "bow.gpkg", *LAYERED[1:], "--weight", "area", "-o", "r.html").stderr.count("Warning") == 1


@pytest.mark.parametrize(
    ("args", "maps"),
    [
        ((*LAYERED, "--weight", "area"), 1),
        ((*LAYERED, "--pred", "other"), 2),
        (OVERLAID, 1),
        (("truth.tif", "a.tif", "--weight", "area"), 1),
        (("truth.tif", "A=a.tif", "B=b.tif"), 2),
        (("parcels.parquet", *LAYERED[1:], "--ignore", "lake"), 1),
    ],
    ids=["polygons", "columns", "overlay", "raster", "rasters", "GeoParquet"],
)
def test_the_report_draws_where_a_map_is_wrong(args, maps, monkeypatch):
    drawn, draw = [], error_map.error_map
    monkeypatch.setattr(error_map, "error_map", lambda *a, **b: drawn.append(draw(*a, **b)) or drawn[-1])
    run("report", *args, "-o", "r.html")
    assert len(drawn) == maps
    assert "data:image/png" in Path("r.html").read_text()


def test_maps_of_polygons_over_points_are_compared():
    geopandas.read_file("parcels.gpkg").assign(geometry=lambda x: x.representative_point()).to_file("points.gpkg")
    geopandas.read_file("parcels.gpkg").rename(columns={"other": "class"}).to_file("b.gpkg", layer="b")
    args = ("points.gpkg", "--overlay", "A=map.gpkg", "--overlay", "B=b.gpkg", "--true", "ref", "--pred", "class")
    table = wmcc.tabulate(wmcc.Overlay("points.gpkg", {"A": "map.gpkg", "B": "b.gpkg"}), true="ref", pred="class")
    assert json.loads(run("compare", *args, "-f", "json").stdout) == json.loads(wmcc.compare(table, "ecc").to_json())


def test_names_and_strata_of_points_over_rasters():
    names = {0: "sea", 1: "land", 2: "ice"}
    table = pandas.read_csv("points.csv")
    table.assign(kind=table["ref"].map(names)).to_csv("named.csv", index=False)
    Path("areas.csv").write_text("class,ha\nsea,300\nland,500\nice,200\n")
    points = wmcc.Layer("named.csv", xy=("lon", "lat"), crs="EPSG:4326")
    place = ("named.csv", "--xy", "lon,lat", "--crs", "EPSG:4326", "--true", "kind", "--overlay", "b.tif")
    said = [x for number, name in names.items() for x in ("--names", f"{number}={name}")]
    areas = wmcc.Strata("class", population={"sea": 300, "land": 500, "ice": 200})
    expected = wmcc.tabulate(wmcc.Overlay(points, "b.tif"), true="kind", names=names, design=areas)
    assert tabulated(*place, *said, "--stratum", "class", "--population", "areas.csv") == expected
    lines = run("score", *place, code=2).stderr.splitlines()
    assert lines[1].startswith("Hint: say what the numbers stand for: --names ")
    maps = ("--overlay", "A=a.tif", "--overlay", "B=b.tif", "--uncovered", "class")
    joint = tabulated(*POINTS, *maps, "--stratum", "B")
    assert joint == wmcc.tabulate(
        wmcc.Overlay(in_degrees(), {"A": "a.tif", "B": "b.tif"}), true="ref", design=wmcc.Strata("B")
    )


REFUSED = [
    ("several.gpkg --true ref --pred map", "several.gpkg has 2 layers: 'one', 'two'.\nHint: name one"),
    ("parcels.gpkg --true reff --pred map", "no column 'reff'"),
    ("parcels.gpkg", "expected --true and --pred, columns of labels in parcels.gpkg"),
    ("parcels.gpkg map.gpkg --true ref --pred map", "a map that is laid over it is given with --overlay."),
    ("parcels.gpkg --overlay map.gpkg --true ref", "--true needs --pred"),
    ("parcels.gpkg --true ref --pred map --sliver 1", "--sliver needs --overlay, the map that is laid over FILE."),
    (
        "parcels.gpkg --overlay map.gpkg --true ref --pred class --weight area --uncovered error",
        "map.gpkg does not cover",
    ),
    (
        "parcels.gpkg --true ref --pred map --weight area --unit acres",
        "`unit` is 'acres'; expected one of 'ha', 'km2' or 'm2'",
    ),
    ("points.csv --true ref --pred ref --unit ha", "--unit is for --weight area of polygons or pixels"),
    (
        "points.csv --true ref --pred ref --layer x",
        "points.csv is a table without geometry.",
    ),
    ("points.csv --true ref --pred ref --blocks 8", "--blocks is for rasters; it does not work with points.csv."),
    (
        "points.csv --true ref --pred ref --crs EPSG:4326",
        "points.csv is a table without geometry.",
    ),
    ("parcels.gpkg --true ref --pred map --band 1", "--band is for rasters; it does not work with layers"),
    ("parcels.gpkg --true ref --pred map --engine polars", "--engine is for data files; it does not work with layers"),
    ("parcels.gpkg --true ref --pred map --weights weights.tif", "--weights is for folders of images"),
    ("points.csv --xy lon,lat --true ref --overlay b.tif", "points.csv has no coordinate reference system"),
    ("points.csv --xy lon --true ref --overlay b.tif", "--xy is 'lon'; expected two columns of coordinates"),
    (
        "points.csv --xy lon,lat --crs EPSG:4326 --true ref --overlay b.tif --pred class",
        "`pred` names the column of a map's classes, and b.tif is a raster, which has none.",
    ),
    (
        "points.csv --xy lon,lat --crs EPSG:4326 --true ref --overlay a.tif --overlay b.tif",
        "--overlay names 2 maps; expected one.\nHint: `wmcc compare`",
    ),
    (
        "truth.tif A=a.tif A=b.tif",
        "2 predicted rasters after the true one; expected one.",
    ),
    (
        "truth.tif",
        "0 predicted rasters after the true one; expected one.\nHint: give them in this order: truth.tif map.tif.",
    ),
    ("truth.tif a.tif b.tif", "2 predicted rasters after the true one; expected one.\nHint: `wmcc compare`"),
    ("truth.tif parcels.gpkg", "truth.tif is a raster and parcels.gpkg is none"),
    ("truth.tif shifted.tif", "shifted by 0.5 pixels"),
    ("truth.tif shifted.tif", "Hint: `resample` 'nearest' of `wmcc.Raster` brings"),
    ("truth.tif a.tif --weight x", "--weight is 'x'; with rasters expected the word area"),
    ("truth.tif a.tif --weight area --weights weights.tif", "--weight and --weights are both given"),
    ("truth.tif a.tif --stratum x", "--stratum is for data files; it does not work with rasters."),
    ("truth.tif a.tif --layer x", "--layer is for layers of polygons or points; it does not work with rasters."),
    ("truth.tif a.tif --cluster x", "--cluster is 'x'; with rasters expected one raster of zones"),
    ("truth.tif a.tif --cluster zones.tif --blocks 8", "--cluster and --blocks are both given"),
    ("truth.tif a.tif --blocks 8x8", "--blocks is '8x8'; expected a number of pixels"),
    ("truth.tif a.tif --blocks 0", "--blocks is '0'"),
    ("truth.tif a.tif --weight-map border", "--weight-map is for folders of images"),
    ("truth.tif a.tif --lower x", "it does not work with rasters"),
    ("nothing.tif a.tif", "no file 'nothing.tif'"),
    ("parcels.gpkg --true ref --pred map --weight Area", "Hint: `weight` 'area' takes the areas of the polygons."),
    ("truth.tif a.tif --band 2", "truth.tif has 1 band, and `band` is 2."),
    ("truth.tif a.tif --true ref --pred x", "Hint: give rasters as truth.tif map.tif, without --true and --pred."),
    ("truth.tif all.tif", "take the nodata value off the file: `rio edit-info --unset-nodata truth.tif`."),
    ("truth.tif shares.tif", "is declared by `rio edit-info --nodata N FILE`."),
    ("truth.tif free.tif", "Hint: if it is the same, say so: `crs` 'EPSG:4326'"),
    ("parcels.gpkg --overlay b.tif --true ref", "(rasterio.features.rasterize), and tabulate the two."),
    ("points.csv --overlay b.tif --true ref", "name the columns of their coordinates: --xy lon,lat, and give --crs."),
]


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_does_not_go_together_is_said(line, said):
    result = run("score", *line.split(), code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_other_commands_refuse_in_their_own_words():
    said = run("compare", "truth.tif", "a.tif", code=2).stderr
    assert "1 predicted raster after the true one; expected at least 2" in said
    assert "two predictions are called 'A'" in run("compare", "truth.tif", "A=a.tif", "A=b.tif", code=2).stderr
    assert "rasters do not work here" in run("drift", "truth.tif", "a.tif", code=2).stderr
    assert "--blocks 64 takes blocks of pixels for images" in run("images", "truth.tif", "a.tif", code=2).stderr
    said = run("plan", "b.tif", "--rows", "50", code=2).stderr
    assert said.startswith("Error: b.tif is a map; expected a table of its classes")
    assert said.endswith(
        "give a table of two columns, the class and the accuracy, and the map as --population b.tif.\n"
    )
    said = run("compare", *OVERLAID, "--overlay", "other=map.gpkg", code=2).stderr
    assert "several maps are laid over points only" in said
    assert "--overlay names 1 map; expected at least 2" in run("compare", *POINTS, "--overlay", "a.tif", code=2).stderr
    Path("t").mkdir()
    assert (
        "--band is for rasters; it does not work with --images."
        in run("score", "--images", "t", "t", "--band", "1", code=2).stderr
    )
    table = wmcc.Table.from_counts(np.eye(2, dtype=int))
    Path("t.json").write_text(table.to_json())
    assert "--crs is for data files" in run("score", "t.json", "--crs", "EPSG:4326", code=2).stderr


def test_a_report_of_several_maps_has_the_strata_of_one():
    """Each picture takes the weights of the design, whichever map has the strata."""
    args = (*POINTS, "--overlay", "A=a.tif", "--overlay", "B=b.tif", "--stratum", "B", "--population", "areas.csv")
    Path("areas.csv").write_text("class,ha\n0,300\n1,500\n2,200\n")
    run("report", *args, "-o", "page.html")
    page = Path("page.html").read_text()
    design = wmcc.Strata("B", population={0: 300, 1: 500, 2: 200})
    maps = wmcc.Overlay(in_degrees(), {"A": "a.tif", "B": "b.tif"})
    for own in wmcc.tabulate(maps, true="ref", design=design).tables.values():
        said = f"an estimated {1 - wmcc.accuracy(own):.1%} of the map is wrong".replace("%", " %")
        assert f"Where the map is wrong: {said}" in page

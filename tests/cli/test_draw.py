"""`wmcc example`, `plan`, `draw` and `map`: from a map to its accuracy, with files that say how they were drawn."""

import json
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from cli_helpers import run

import wmcc

HERE = ("--crs", "EPSG:32632")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("example", "-o", "map.asc")
    Path("guess.csv").write_text("class,accuracy\n1,0.9\n2,0.8\n3,0.7\n")
    return tmp_path


def land():
    return wmcc.Raster("map.asc", crs="EPSG:32632")


def test_the_example_is_a_map():
    assert land().shape == (120, 160)
    assert set(np.unique(land().read(slice(None), slice(None))[0]).tolist()) == {1, 2, 3}


def test_from_the_map_to_its_accuracy():
    run("plan", "guess.csv", "--population", "map.asc", *HERE, "--rows", "150", "--minimum", "20", "-o", "plan.json")
    plan = wmcc.plan_sample({1: 0.9, 2: 0.8, 3: 0.7}, land(), n=150, minimum=20)
    assert json.loads(Path("plan.json").read_text()) == json.loads(plan.to_json())
    run("draw", "map.asc", *HERE, "--plan", "plan.json", "--seed", "3", "-o", "points.gpkg")
    drawn = gpd.read_file("points.gpkg")
    expected = wmcc.draw_sample(land(), plan, seed=3).to_frame()
    assert drawn.drop(columns=["geometry", "reference"]).equals(
        expected.drop(columns="reference").astype(drawn.drop(columns=["geometry", "reference"]).dtypes)
    )
    drawn.assign(reference=drawn["map_class"].where(drawn["id"] > 15, 1)).to_file("points.gpkg")
    columns = ("--true", "reference", "--pred", "map_class")
    said = run("map", "points.gpkg", *columns).stdout
    assert "150 rows in 3 strata" in said
    over = run("map", "points.gpkg", "--true", "reference", "--overlay", "map.asc", "--overlay-crs", "EPSG:32632")
    by_hand = ("--stratum", "drawn_from", "--population", "drawn_size")
    assert said == over.stdout == run("map", "points.gpkg", *columns, *by_hand).stdout


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (("--n", "60"), {"plan": 60}),
        (("--n", "60", "--method", "stratified", "--min-distance", "100"),
         {"plan": 60, "method": "stratified", "min_distance": 100}),
        (("--n", "60", "--method", "systematic"), {"plan": 60, "method": "systematic"}),
        (("--n", "60", "--blocks", "20,10", "--per-block", "6"),
         {"plan": 60, "cluster": wmcc.Blocks(20, 10), "per_cluster": 6}),
        (("--plan", "plan.csv"), {"plan": {1: 9, 2: 8, 3: 7}}),
        (("--plan", "short.csv"), {"plan": {1: 9, 2: 8, 3: 7}}),
    ],
)  # fmt: skip
def test_options_are_those_of_the_library(options, call):
    Path("plan.csv").write_text("stratum,size,n,sd\n1,5,9,0.1\n2,5,8,0.1\n3,5,7,0.1\n")
    Path("short.csv").write_text("class,points\n1,9\n2,8\n3,7\n")
    sample = wmcc.draw_sample(land(), **call)
    assert json.loads(run("draw", "map.asc", *HERE, *options, "--format", "json").stdout) == json.loads(
        sample.to_json()
    )
    assert run("draw", "map.asc", *HERE, *options).stdout == f"{sample}\n"
    run("draw", "map.asc", *HERE, *options, "-o", "points.csv")
    assert pd.read_csv("points.csv")["id"].tolist() == list(range(1, sample.n + 1))


def test_polygons_are_drawn_from():
    import shapely

    squares = [shapely.box(9, 50, 9.1, 50.1), shapely.box(9.1, 50, 9.2, 50.1)]
    gpd.GeoDataFrame({"kind": ["a", "b"]}, geometry=squares, crs=4326).to_file("land.gpkg")
    said = run("draw", "land.gpkg", "--pred", "kind", "--layer", "land", "--n", "20", "--method", "stratified").stdout
    assert said == f"{wmcc.draw_sample('land.gpkg', 20, pred='kind', method='stratified')}\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("draw map.asc --n 9", "say which it is, as --crs EPSG:32632."),
        ("draw map.asc --crs EPSG:32632", "neither --plan nor --n was given"),
        ("draw map.asc --crs EPSG:32632 --n 9 --plan guess.csv", "--plan and --n were both given"),
        ("draw map.asc --crs EPSG:32632 --plan no.json", "no.json"),
        ("draw map.asc --crs EPSG:32632 --plan bad.json", "bad.json is no stored plan."),
        ("draw map.asc --crs EPSG:32632 --plan twice.csv", "twice.csv has two rows for 1"),
        ("draw map.asc --crs EPSG:32632 --plan three.csv", "expected two, the class and its number of points"),
        ("draw map.asc --crs EPSG:32632 --plan guess.csv", "0.9"),
        ("draw map.asc --crs EPSG:32632 --n 9 -o map.asc", "has no known ending"),
        ("plan three.csv --population map.asc --crs EPSG:32632 --rows 60", "expected two, in this order: stratum, acc"),
        ("plan map.asc --rows 60", "the map as --population map.asc"),
    ],
)
def test_what_cannot_be_drawn_is_refused(line, said):
    Path("bad.json").write_text("{}")
    Path("twice.csv").write_text("class,n\n1,5\n1,6\n")
    Path("three.csv").write_text("class,a,b\n1,5,6\n")
    assert said in run(*line.split(), code=2).stderr

"""Maps and figures in a report: pictures of bounded size, units, names, and what Markdown and JSON say."""

import base64
import io
import re
from dataclasses import replace

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from report_helpers import as_json, forms, made, quick
from schemas import check, strict

import wmcc
from wmcc.errors import InputError, InputTypeError, WmccError
from wmcc.present.colours import FAINT, NOTHING, OUTLINE, RIGHT, WRONG, error_tint
from wmcc.report import maps

NASTY = "<script>alert('x')</script>"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    quick(monkeypatch)
    yield
    plt.close("all")


def both(shape=(30, 40), classes=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, shape)
    return truth, np.where(rng.random(shape) < 0.3, rng.integers(0, classes, shape), truth)


TRUTH, PRED = both()
TABLE = wmcc.tabulate(TRUTH.ravel(), PRED.ravel())
MAP = replace(wmcc.error_map(TRUTH, PRED), metres=(10.0, 20.0), crs="UTM & co")


def images(page):
    found = re.findall(r'<img src="data:image/png;base64,([^"]*)" alt="([^"]*)"', page)
    return [(Image.open(io.BytesIO(base64.b64decode(data))), said) for data, said in found]


def test_the_page_shows_errors_and_classes():
    page = made("html", TABLE, map=MAP)
    (wrong, said), (truth, _), (pred, _) = images(page)
    share = (TRUTH != PRED).mean()
    assert said == f"Where the map is wrong: {100 * share:.1f} % of the pixels are wrong"
    colours = np.asarray(wrong.convert("RGBA"))
    assert (colours[TRUTH != PRED] == (*WRONG, 255)).all()
    assert (colours[TRUTH == PRED] == RIGHT).all()
    for image, codes in ((truth, TRUTH), (pred, PRED)):
        seen = np.asarray(image.convert("RGB"))
        assert all((seen[codes == k] == MAP.colours[k]).all() for k in range(3))
    assert 'style="--ratio:0.6667"' in page  # 40 x 10 m by 30 x 20 m
    assert '<span class="bar" style="width:25.00%">100 m</span>' in page
    assert "Coordinates: UTM &amp; co." in page
    assert f"</span>0: {100 * (TRUTH == 0).mean():.1f} %</li>" in page  # a class that is a number, and its share
    assert "Error by class" in page
    for c in MAP.classes:
        assert f"<td>{100 * c.omission:.1f} %</td><td>{100 * c.commission:.1f} %</td>" in page
    assert page.count("http") == page.count("http-equiv") == 1  # nothing is loaded from anywhere


def test_what_is_not_known_is_the_ground_of_the_page():
    truth = TRUTH.copy()
    truth[:9] = 255
    page = made("html", TABLE, map=wmcc.error_map(truth, PRED, ignore=255))
    for image, _ in images(page):
        assert (np.asarray(image.convert("RGBA"))[:9, :, 3] == NOTHING[3]).all()
    assert "not known" in page


def test_pictures_become_smaller_until_they_fit(monkeypatch):
    truth, pred = both((120, 160), 20)
    found = wmcc.error_map(truth, pred)
    monkeypatch.setattr(maps, "SIDES", (160, 80, 40, 20))
    for most, side in ((10**9, 160), (15_000, 80), (1, 20)):
        monkeypatch.setattr(maps, "MOST_BYTES", most)
        drawn = maps.map_pictures({"": found})[""]
        sizes = {Image.open(io.BytesIO(x.png)).size for x in drawn.pictures}
        assert sizes == {(side, side * 3 // 4)}
    assert drawn.notes[0].startswith("Each cell shows 8 x 8 pixels")
    assert 4 / 3 * 1_300_000 < 1.8e6  # what the documentation says


def test_points_are_dots():
    flat = {name: getattr(MAP, name).ravel() for name in ("wrong", "known", "truth", "pred")}
    rows, cols = np.indices((30, 40))
    xy = np.column_stack([cols.ravel() + 0.5, 30 - rows.ravel() - 0.5])
    found = replace(MAP, **flat, points=xy, extent=(0.0, 40.0, 0.0, 30.0), metres=None, grain="point")
    (wrong, _), *_ = images(made("html", TABLE, map=found))
    width, height = wrong.size
    assert (width, height) == (900, 675)
    x, y = (xy[:, 0] * width / 40).astype(int), ((30 - xy[:, 1]) * height / 30).astype(int)
    seen = np.asarray(wrong.convert("RGBA"))[y, x]
    assert (seen[flat["wrong"] > 0] == (*WRONG, 255)).all()
    assert (seen[flat["wrong"] == 0] == (*RIGHT[:3], 167)).all()  # stronger than an area, as they are small


def test_several_maps_stand_by_their_names():
    truth, pred = both((5, 8), 2)
    joint = wmcc.tabulate(truth.ravel(), {"A": pred.ravel(), NASTY: truth.ravel()})
    written = forms(joint, map={NASTY: wmcc.error_map(truth, truth), "A": wmcc.error_map(truth, pred)})
    page = written("html")
    assert len(images(page)) == 6
    assert page.index("Error by class, A") < page.index("Error by class, &lt;script&gt;")
    assert NASTY not in page
    assert "Where the maps are wrong" in page
    assert written("md").count("Error by class") == 2
    one = forms(joint, map={"A": wmcc.error_map(truth, pred)})
    assert one("md").count("Error by class") == 1


def test_markdown_and_json_have_the_numbers():
    figure, _ = plt.subplots()
    written = forms(TABLE, map=MAP, figures={"Loss & more": figure}, unit="ha")
    text = written("md")
    assert "- Where the map is wrong: " in text
    assert "The pictures are in the report as HTML." in text
    assert "**Loss &#38; more** — the figure is in the report as HTML." in text
    data = strict(written("json"))
    check(data)
    assert data["figures"] == ["Loss & more"]
    assert data["unit"] == "ha"
    found = data["predictions"][0]["error_map"]
    assert found == {k: v for k, v in MAP.to_dict().items() if k not in ("schema", "kind")}
    assert found["classes"][0]["omission"] == MAP.classes[0].omission
    assert as_json(TABLE)["predictions"][0]["error_map"] is None


# ---- units and names ---------------------------------------------------------------------------------------------


def test_weights_have_their_unit_everywhere():
    written = forms(TABLE, unit="km2 <sq>")
    page, text = written("html"), written("md")
    assert f"total weight {TABLE.total:,.0f} km2 &lt;sq&gt;" in page
    assert "Weight in km2 &lt;sq&gt;, and below it the number of rows." in page
    heads = re.findall(r"<th[^>]*>(Weight[^<]*)</th>", page)
    assert len(heads) >= 3
    assert set(heads) == {"Weight, km2 &lt;sq&gt;"}
    assert not re.search(r"\| Weight \|", text)
    assert "Weight" in re.findall(r"<th[^>]*>(Weight[^<]*)</th>", made("html", TABLE))
    large = wmcc.tabulate(np.arange(900) % 30, np.arange(900) % 29)
    assert "Weight in ha" in made("html", large, unit="ha")
    scaled = made("html", TABLE, unit="ha", terms="map", pixel_area=0.09)
    assert "Weight, ha" not in scaled  # weights are pixels then
    assert "Area of each class in ha" in scaled


def test_names_of_classes_are_those_of_the_report():
    names = {0: "field", 1: NASTY, 2: "water"}
    page = made("html", TABLE, names=names, map=MAP)
    assert NASTY not in page
    for name in ("field", "&lt;script&gt;", "water"):
        assert page.count(name) > 5
    assert as_json(TABLE, names=names)["predictions"][0]["table"]["labels"] == ["field", NASTY, "water"]
    named = TABLE.rename(names)
    assert as_json(named, names=names)["predictions"] == as_json(TABLE, names=names)["predictions"]
    both_bounds = as_json(TABLE, names=names, lower=TABLE, upper=TABLE)
    assert both_bounds["predictions"][0]["bounded"]["low"] is not None


# ---- figures -----------------------------------------------------------------------------------------------------


def test_figures_are_shown_with_their_titles():
    figure, ax = plt.subplots(figsize=(4, 3))
    ax.plot([0, 1])
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=50)
    page = made("html", TABLE, figures={"A figure": figure, NASTY: ax, "bytes": out.getvalue()})
    assert [(image.size, said) for image, said in images(page)] == [
        ((576, 432), "A figure"),
        ((576, 432), NASTY.replace(">", "&gt;")),  # within quotes
        ((200, 150), "bytes"),
    ]
    assert NASTY not in page
    assert "<figcaption>A figure</figcaption>" in page
    assert figure.dpi == 100


def test_large_figures_are_drawn_smaller(monkeypatch):
    figure = plt.figure(figsize=(2, 2))
    figure.figimage(np.random.default_rng(0).integers(0, 255, (288, 288), dtype=np.uint8), resize=False)
    whole = maps.drawings({"": figure})[0]
    monkeypatch.setattr(maps, "MOST_FIGURE", len(whole.png) // 2)
    assert len(maps.drawings({"": figure})[0].png) <= len(whole.png) // 2
    monkeypatch.setattr(maps, "MOST_DOTS", 150)
    assert Image.open(io.BytesIO(maps.drawings({"": figure})[0].png)).size == (150, 150)
    monkeypatch.setattr(maps, "MOST_FIGURE", 10)
    with pytest.raises(InputError, match=r"takes .* bytes as PNG; a report takes 10 at most"):
        maps.drawings({"": figure})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"figures": [1]}, "figures is a list; expected a mapping from titles"),
        ({"figures": {"a": "b.png"}}, "the figure 'a' is a str; expected a matplotlib figure, axes, or the bytes"),
        ({"figures": {"a": b"GIF"}}, "the figure 'a' is bytes that are no PNG"),
        ({"figures": {1: None}}, "figures has the title 1; expected a text"),
        ({"figures": dict.fromkeys(map(str, range(21)))}, "there are 21 figures; a report takes 20 at most"),
        ({"map": TABLE}, "`map` is .*; expected what wmcc.error_map returns"),
        (
            {"map": wmcc.error_map(TRUTH, TRUTH)},
            r"`map` of prediction is not of the data of the table: 1,200 of 1,200 rows are right on it, "
            r"and \d+ in the table",
        ),
        ({"map": {"A": MAP}}, "`map` has 'A'; the predictions of the table are 'prediction'"),
        ({"names": ["a"]}, r"`names` is \['a'\]; expected a mapping from labels to names"),
        ({"names": {9: "a"}}, "`names` has none of the labels of the table, which are 0, 1, 2"),
        ({"names": {0: "a"}}, "`names` has no name for the class 1"),
        ({"unit": 5}, "`unit` is a int; expected a text"),
        ({"pixel_area": 2.0}, "`pixel_area` is for areas of maps"),
    ],
)
def test_what_does_not_fit_is_said(options, said):
    with pytest.raises(WmccError, match=said):
        made("md", TABLE, **options)


def test_several_predictions_need_names_of_maps():
    joint = wmcc.tabulate([0, 1] * 9, {"A": [0, 1] * 9, "B": [0, 1, 1] * 6})
    with pytest.raises(InputTypeError, match="`map` is one ErrorMap; the table has 2 predictions"):
        made("md", joint, map=MAP)
    with pytest.raises(InputError, match="`map` has 'C'; the predictions of the table are 'A', 'B'"):
        made("md", joint, map={"C": MAP})


def test_what_is_wrong_stands_out_on_light_and_on_dark_pages():
    def seen(tint, paper):
        return np.array(tint[:3]) * tint[3] / 255 + paper * (1 - tint[3] / 255)

    for paper in (255, 17):
        right, smallest, wrong = (
            seen(x, paper) for x in (RIGHT, error_tint(1e-4, WRONG, RIGHT), error_tint(1, WRONG, RIGHT))
        )
        assert np.abs(right - paper).max() > 30
        assert np.abs(right - smallest).max() > 20
        assert np.abs(right - wrong).max() > 100


def test_a_report_of_an_error_map_is_that_of_its_table(tmp_path):
    found = wmcc.error_map([[0, 1, 2], [0, 1, 0]] * 9, [[0, 1, 0], [0, 1, 2]] * 9)
    wmcc.write_report(tmp_path / "one.md", found)
    wmcc.write_report(tmp_path / "two.md", found.table, map=found)
    assert (tmp_path / "one.md").read_text() == (tmp_path / "two.md").read_text()


def points_on_classes():
    """Points in the middle of the cells of a small map, a third of them wrong, on its classes."""
    flat = {name: getattr(MAP, name).ravel() for name in ("wrong", "known", "truth", "pred")}
    rows, cols = np.indices((30, 40))
    xy = np.column_stack([cols.ravel() + 0.5, 30 - rows.ravel() - 0.5])
    below = np.where(np.arange(40) < 35, MAP.pred, -1)
    return replace(MAP, **flat, points=xy, extent=(0.0, 40.0, 0.0, 30.0), metres=None, grain="point", below=below)


@pytest.mark.parametrize("show", ["errors", "true", "pred"])
def test_points_lie_on_the_classes_of_the_map(show):
    found = points_on_classes()
    at = ["errors", "true", "pred"].index(show)
    picture = images(made("html", TABLE, map=found))[at][0].convert("RGBA")
    seen = np.asarray(picture)
    width, height = picture.size
    x, y = (found.points[:, 0] * width / 40).astype(int), ((30 - found.points[:, 1]) * height / 30).astype(int)
    own = {"errors": np.where(found.wrong > 0, 1, 0), "true": found.truth, "pred": found.pred}[show]
    dots = {"errors": [(255, 255, 255), WRONG]}.get(show, list(found.colours))
    assert (seen[y, x, :3] == np.array(dots)[own]).all()
    opacity = 255 if show == "pred" else FAINT
    corner = seen[y - height // 60 + 1, x - width // 80 + 1]  # of the cell, between dots
    inside = np.arange(1200) % 40 < 35
    assert (corner[inside] == np.array([(*c, opacity) for c in found.colours])[found.pred[inside]]).all()
    assert (corner[~inside, 3] == 0).all()
    legend = maps.painted(found, show).legend
    assert [key.name for key in legend if key.below] == (["0", "1", "2"] if show == "errors" else [])


def test_errors_of_one_class_lie_on_classes_too():
    found = replace(points_on_classes(), of=1, missed=(MAP.wrong.ravel() > 0) & (MAP.truth.ravel() == 1))
    painting = maps.painted(found, "errors")
    assert len(painting.palette) <= 256
    assert {painting.palette[k] for k in np.unique(painting.codes)} >= {(*WRONG, 255), (255, 255, 255, 255)}
    many = replace(found, colours=tuple((k % 256, 0, 0) for k in range(900)), of=None, missed=None)
    assert len(maps.painted(many, "errors").palette) == 256


def test_parcels_have_outlines():
    parcels = np.kron(np.arange(4).reshape(2, 2), np.ones((60, 60), int))
    cells = {name: np.kron(getattr(MAP, name)[:2, :2], np.ones((60, 60), int)) for name in ("truth", "pred")}
    wrong = (cells["truth"] != cells["pred"]).astype(np.float32)
    found = replace(MAP, **cells, wrong=wrong, known=np.ones((120, 120), int), parcels=parcels, metres=None)
    page = made("html", TABLE, map=replace(found, grain="polygon"))
    for picture, _ in images(page):
        grey = (np.asarray(picture.convert("RGBA")) == OUTLINE).all(axis=2)
        assert grey[60].all()
        assert grey[:, 60].all()
        assert grey.sum() == 239
    assert maps.borders(replace(found, parcels=np.arange(14400).reshape(120, 120))) is None  # too small


def test_pictures_have_the_weights_of_the_table():
    weights = np.where(TRUTH.ravel() == 0, 5.0, 1.0)
    table = wmcc.tabulate(TRUTH.ravel(), PRED.ravel(), weights)
    share = 1 - wmcc.accuracy(table)
    page = made("html", table, map=MAP, unit="ha")
    assert f"Where the map is wrong: {share:.1%} of the weight is wrong".replace("%", " %") in page
    assert "Reference, ha" in page
    assert MAP.with_weights_of(wmcc.tabulate(TRUTH.ravel(), TRUTH.ravel())) is MAP  # of other rows

"""`wmcc.map_accuracy` of a whole map: what is counted has no sampling error; what blocks say is about other land."""

import re

import numpy as np
import pytest

import wmcc
from wmcc.present.text import percent
from wmcc.report.charts import _mapped_against

rng = np.random.default_rng(5)
TRUTH = np.kron(rng.integers(0, 3, (10, 12)), np.ones((8, 8), dtype=int))
MAP = np.where(rng.random(TRUTH.shape) < 0.15, rng.integers(0, 3, TRUTH.shape), TRUTH)
BLOCKS = wmcc.Blocks(16)


def whole(**options):
    return wmcc.tabulate(TRUTH, MAP, **options)


def test_areas_of_a_whole_map_are_counted():
    found = wmcc.map_accuracy(whole(), pixel_area=0.09, unit="ha")
    assert found.counted
    for c in found.classes:
        area = c.area
        assert area.value == pytest.approx(0.09 * (c.label == TRUTH).sum())
        assert c.mapped_area == pytest.approx(0.09 * (c.label == MAP).sum())
        assert (area.se, area.margin, c.mapped_area_se) == (0, 0, 0)
        assert area.low == area.value == area.high
        assert (area.status, area.known, area.problem, area.warnings) == ("known", True, None, ())
    assert {x.status for x in (*found.overall.values(), *found.disagreement.values())} == {"known"}
    assert not found.warnings
    text = repr(found)
    assert "interval" not in text
    assert "SE" not in text
    assert "Mapped less reference" in text
    assert "No number here has a sampling error." in text
    assert "`cluster=wmcc.Blocks(64)`" in text
    assert str(found.classes[0].area).endswith("ha, counted on the whole map")


def test_blocks_say_how_accurate_the_map_is_on_other_land():
    found, alone = (wmcc.map_accuracy(x, unit="ha") for x in (whole(cluster=BLOCKS), whole()))
    assert found.counted
    assert {c.area.status for c in found.classes} == {x.status for x in found.disagreement.values()} == {"known"}
    assert [c.area.value for c in found.classes] == [c.area.value for c in alone.classes]
    assert found.overall_accuracy.se > 0
    assert found.overall_accuracy.low < found.overall_accuracy.value < found.overall_accuracy.high
    assert found.classes[0].area_share.se > 0  # of land like this, not of this land
    text = repr(found)
    areas = text[text.index("Area of each class") : text.index("Error matrix")]
    assert "interval" not in areas
    assert "differ on other land like this" in text
    assert not any("which of" in x or "not clear" in x for x in found.notes)


def test_tables_know_that_they_are_of_a_whole_map():
    for table in (whole(), whole(cluster=BLOCKS)):
        assert table.drawn.wall_to_wall
        assert wmcc.Table.from_json(table.to_json()) == table
        for other in (table + table, table.merge_classes({7: [0, 1]}), table.against_rest(1), table.rename({0: 9})):
            assert other.drawn.wall_to_wall
    groups = whole(by=TRUTH % 2, cluster=BLOCKS)
    for one in (groups[0], groups.total(), wmcc.Tables.from_json(groups.to_json())[1]):
        assert one.drawn.wall_to_wall
    both = wmcc.tabulate(TRUTH, {"A": MAP, "B": TRUTH}, cluster=BLOCKS)
    assert both["A"].drawn.wall_to_wall
    # the same pixels as a table of rows with a column of blocks may be a sample
    rows = wmcc.tabulate(TRUTH.ravel(), MAP.ravel(), cluster=np.arange(TRUTH.size) // 100)
    assert not rows.drawn.wall_to_wall
    keys = dict(zip(("row", "column"), np.indices(TRUTH.shape) // 16, strict=True))
    mixed = whole(cluster=BLOCKS) + wmcc.tabulate(TRUTH, MAP, cluster=keys)
    assert not mixed.drawn.wall_to_wall


def test_a_sample_is_none():
    rows = wmcc.tabulate(TRUTH.ravel(), MAP.ravel())
    found = wmcc.map_accuracy(rows)
    assert not found.counted
    assert found.classes[0].area.se > 0
    assert found.classes[0].area.status == "reliable"
    assert "Error matrix, sampled rows" in repr(found)


def test_places_without_a_reference_are_said():
    truth = np.where(rng.random(TRUTH.shape) < 0.5, 255, TRUTH)
    found = wmcc.map_accuracy(wmcc.tabulate(truth, MAP, ignore=255))
    said = " ".join(found.notes)
    assert f"{(truth == 255).sum():,} places without a reference label are left out, and not in the areas." in said
    assert "stand for them" not in said
    assert found.total_area == (truth != 255).sum()


def test_an_accuracy_that_is_undefined_is_not_known():
    truth, pred = np.zeros((8, 8), dtype=int), np.zeros((8, 8), dtype=int)
    truth[0, :4] = 1  # never mapped
    found = wmcc.map_accuracy(wmcc.tabulate(truth, pred))
    assert found[1].users_accuracy.status == "not estimable"
    assert found[1].producers_accuracy.status == "known"
    assert found[1].area.value == 4
    assert "0.0000 *" in repr(found)
    assert "User's accuracy of 1" in " ".join(found.warnings)


def test_groups_and_frames_of_whole_maps():
    zones = np.repeat([0, 1], 48)[np.newaxis].repeat(80, axis=0)
    tables = wmcc.tabulate(TRUTH, MAP, by=np.broadcast_to(zones, TRUTH.shape))
    found = {key: wmcc.map_accuracy(own) for key, own in tables.items()}
    assert all(x.counted for x in found.values())
    lines = found[0].lines()
    assert [x.title for x in lines] == ["Map accuracy", "Areas of the reference"]
    frame = found[0].to_frame()
    assert (frame.query("measure == 'area'").se == 0).all()
    assert set(frame.query("measure == 'area'").status) == {"known"}


def test_the_report_prints_areas_without_an_interval(tmp_path):
    path = wmcc.write_report(tmp_path / "map.md", whole(cluster=BLOCKS), terms="map", pixel_area=0.09, unit="ha")
    with open(path) as file:
        text = file.read()
    areas = text[text.index("Area of each class") : text.index("Error matrix")]
    head = areas.splitlines()[2]
    assert "interval" not in head
    assert "Mapped less reference" in head
    assert "differ on other land like this" in text


# ---- the client's page ---------------------------------------------------------------------------------------------

SIZES = {"bog": 800.0, "fen": 4200.0, "lake": 60.0}
SAMPLE = wmcc.Table.from_counts([[60, 9, 0], [4, 91, 1], [0, 0, 20]], list(SIZES), population=SIZES)


def page_of(tmp_path, table, form="md", **options):
    path = wmcc.write_report(tmp_path / f"map.{form}", table, terms="map", progress=False, **options)
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_the_headline_of_a_map_is_its_accuracy_and_its_areas(tmp_path):
    found = wmcc.map_accuracy(SAMPLE, unit="ha")
    accuracy, text = found.overall_accuracy, page_of(tmp_path, SAMPLE, unit="ha")
    head, areas = text.split("\n\n")[2:4]
    ends = f"{percent(accuracy.low)} to {percent(accuracy.high)}"
    assert head == f"**Overall accuracy is {percent(accuracy.value)} (95 % interval {ends}).**"
    for c in found.classes:
        size, low, high = (found.area_text(x) for x in (c.area.value, c.area.low, c.area.high))
        assert f"{c.label}: {size} ha ({low} to {high})" in areas
    assert "ECC" not in head + areas
    assert "| ECC (R\\_K) |" in text
    order = [text.index(x) for x in ("## The map", "## Scores", "## Which weights matter most", "## Weights")]
    assert order == sorted(order)


def test_the_headline_of_two_maps_has_both_and_says_which_leads(tmp_path):
    other = np.where(rng.random(TRUTH.shape) < 0.3, 0, MAP)
    both = wmcc.tabulate(TRUTH, {"A": MAP, "B": other}, cluster=BLOCKS)
    accuracy, areas, leads = page_of(tmp_path, both, pixel_area=0.09, unit="ha").split("\n\n")[2:5]
    assert accuracy.startswith("**Overall accuracy: A ")
    assert "(on other land like this, 95 % interval " in accuracy
    assert " and B " in accuracy
    assert areas == f"Areas, counted in the reference — {'; '.join(sizes_of(both['A']))}."
    assert leads.startswith("A beats B, ")


def sizes_of(table):
    found = wmcc.map_accuracy(table, pixel_area=0.09)
    return [f"{c.label}: {found.area_text(c.area.value)} ha" for c in found.classes]


def test_a_headline_that_is_counted_or_has_no_areas(tmp_path):
    text = page_of(tmp_path, whole())
    assert ", counted on the whole map.**" in text
    assert f"0: {(TRUTH == 0).sum():,} pixels" in text
    rows = wmcc.tabulate(TRUTH.ravel()[:300], MAP.ravel()[:300])
    assert "Estimated areas" not in page_of(tmp_path, rows)  # numbers of rows are none
    many = wmcc.tabulate(np.arange(1200) % 12, np.arange(1200) % 12 // 2 * 2, np.full(1200, 2.0))
    assert "The other 4 classes are in the table." in page_of(tmp_path, many)
    one = wmcc.tabulate(["a"], ["b"], [2.0])
    assert "its interval cannot be estimated, since" in page_of(tmp_path, one)


def test_the_page_has_a_figure_of_areas(tmp_path):
    text = page_of(tmp_path, SAMPLE, "html", unit="ha")
    (picture,) = re.findall(r"<svg [^>]*Mapped and estimated areas.*?</svg>", text, re.DOTALL)
    found = wmcc.map_accuracy(SAMPLE, unit="ha")
    bars = [float(x) for x in re.findall(r'<rect class="mapped"[^>]* width="([\d.]+)"', picture)][1:]
    assert np.allclose(
        np.divide(bars, bars[1]), [c.mapped_area / found["fen"].mapped_area for c in found.classes], atol=1e-2
    )
    assert picture.count("whisker") == 1 + 3  # the legend has one
    assert "area, ha" in picture
    counted = page_of(tmp_path, whole(), "html")
    (picture,) = re.findall(r"<svg [^>]*Areas of map and reference.*?</svg>", counted, re.DOTALL)
    assert "whisker" not in picture


@pytest.mark.parametrize(
    ("mapped", "area", "said"),
    [(5, 10, "mapped 50 % less"), (30, 10, "mapped 200 % more"), (10, 10.001, "mapped the same"),
     (10, 10.03, "mapped 0.3 % less"), (0, 0, ""),
     (3, 0, "mapped, and none there")],
)  # fmt: skip
def test_how_a_mapped_area_compares(mapped, area, said):
    assert _mapped_against(mapped, area) == said

"""`wmcc.map_accuracy` of a whole map: what is counted has no sampling error; what blocks say is about other land."""

import numpy as np
import pytest

import wmcc

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

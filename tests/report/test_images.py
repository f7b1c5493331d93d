"""Images in a report: both means, and small pictures of the images with the lowest scores."""

import base64
import io
import json
import re
import shutil

import numpy as np
import pytest
from cli_helpers import run
from PIL import Image
from schemas import check, strict

import wmcc
from wmcc.errors import InputError, WmccError
from wmcc.report import pictures
from wmcc.report.pictures import class_colour, png
from wmcc.sources.images import ImageFolders

NAMES = {0: "road", 1: "car", 2: "<b>sky</b>"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Twelve images of 300 x 600: sky, road and a car, whose place two predictions miss; the last line is void."""
    root, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for name in ("truth", "A", "B", "maps"):
        (root / name).mkdir()
    for k in range(12):
        truth = np.zeros((300, 600), dtype=np.uint8)
        truth[:150], truth[170:250, 200:300], truth[-30:] = 2, 1, 255
        Image.fromarray(truth).save(root / "truth" / f"street {k}.png")
        for name, most in (("A", 20), ("B", 80)):
            moved = np.roll(truth, int(rng.integers(1, most)), axis=1)
            Image.fromarray(moved).save(root / name / f"street {k}.png")
        np.save(root / "maps" / f"street {k}.npy", np.linspace(1, 3, 600, dtype=np.float32) * np.ones((300, 1)))
    return root


def given(root, *preds, weights=False):
    several = {name: str(root / name) for name in preds} if len(preds) > 1 else str(root / preds[0])
    return str(root / "truth"), several, *([str(root / "maps")] if weights else [])


def written(tmp_path, ending, table, **options):
    path = tmp_path / f"report{ending}"
    wmcc.write_report(path, table, progress=False, **options)
    return path.read_text()


def images_of(page):
    """Pictures of a page, with their words."""
    found = re.findall(r'<img src="data:image/png;base64,([^"]*)" alt="([^"]*)"', page)
    return [(Image.open(io.BytesIO(base64.b64decode(data))), said) for data, said in found]


def test_the_page_has_both_means_and_pictures(folders, tmp_path):
    places = given(folders, "A", weights=True)
    table = wmcc.tabulate(*places, ignore=255, names=NAMES, progress=False)
    page = written(tmp_path, ".html", table, measure="mean_iou", images=places, names=NAMES)
    found = wmcc.image_scores(table, "mean_iou")
    for x in (found.data_set, found.image_mean):
        assert f"{x.value:.4f}" in page
    shown = images_of(page)
    assert len(shown) == 3 * 8
    assert [said.split(":")[0] for _, said in shown[:3]] == [
        f"{what} {found.worst[0].image}" for what in ("Truth of", "Prediction of", "Wrong weight in")
    ]
    assert all(max(image.size) == 256 for image, _ in shown)
    assert "img-src data:" in page
    assert "<b>sky</b>" not in page
    assert page.count("http") == page.count("http-equiv") == 1  # nothing is loaded from anywhere
    assert "&lt;b&gt;sky&lt;/b&gt;" in page


def test_pictures_show_the_labels_and_what_is_wrong(folders, tmp_path):
    places = given(folders, "B")
    table = wmcc.tabulate(*places, ignore=255, progress=False)
    page = written(tmp_path, ".html", table, images=places)
    worst = wmcc.image_scores(table, "ecc").worst[0]
    truth, (pred,), _ = ImageFolders(*places).read(worst.image)
    (first, _), (second, _), (third, _), *_ = images_of(page)
    rows, columns = ((2 * np.arange(n) + 1) * size // (2 * n) for n, size in ((128, 300), (256, 600)))
    for drawn, labels in ((first, truth), (second, pred)):
        small = labels[np.ix_(rows, columns)]
        colours = np.array(drawn.convert("RGBA"))[..., :3]
        for k in range(3):
            assert (colours[small == k] == class_colour(k)).all()
        assert (colours[small == 255] == pictures.VOID).all()
    opacity = np.array(third.convert("RGBA"))[..., 3]
    wrong = np.where(truth == 255, False, truth != pred)
    for row in (0, 64, 90):
        for column in range(0, 256, 7):
            place = np.s_[row * 300 // 128 : (row + 1) * 300 // 128, column * 600 // 256 : (column + 1) * 600 // 256]
            assert (opacity[row, column] > 0) == wrong[place].any()
    assert (np.array(third.convert("RGBA"))[-5:] == [*pictures.VOID, 90]).all()


def test_two_predictions_share_the_room(folders, tmp_path):
    places = given(folders, "A", "B")
    joint = wmcc.tabulate(*places, ignore=255, progress=False)
    page = written(tmp_path, ".html", joint, measure="accuracy", images=places)
    assert len(images_of(page)) == 3 * 8
    assert "The lowest images, A" in page
    assert "Images by the higher" in page


def test_markdown_and_json_have_the_numbers(folders, tmp_path):
    places = given(folders, "A", "B")
    joint = wmcc.tabulate(*places, ignore=255, progress=False)
    text = written(tmp_path, ".md", joint, measure="accuracy", images=places)
    assert "## Data set and images" in text
    assert "data:" not in text
    assert "Half below" in text
    data = strict(written(tmp_path, ".json", joint, measure="accuracy", images=places))
    check(data)
    assert data["images"] == json.loads(json.dumps(wmcc.image_scores(joint, "accuracy").fields()))
    assert strict(written(tmp_path, ".json", joint["A"], measure="accuracy"))["images"] is None


def test_clusters_may_be_images_without_files(tmp_path):
    table = wmcc.tabulate([0, 1, 1, 0] * 6, [0, 1, 0, 0] * 6, cluster=[k // 3 for k in range(24)])
    page = written(tmp_path, ".html", table, images=True)
    assert "Data set and images" in page
    assert not images_of(page)
    assert "Data set and images" not in written(tmp_path, ".html", table)


def test_pictures_are_bounded(tmp_path, monkeypatch):
    """Noise compresses badly: pictures get smaller until all of them fit."""
    rng = np.random.default_rng(0)
    for name in ("truth", "pred"):
        (tmp_path / name).mkdir()
        for k in range(9):
            np.save(tmp_path / name / f"{k}.npy", rng.integers(0, 200, (256, 256), dtype=np.uint8))
    places = str(tmp_path / "truth"), str(tmp_path / "pred")
    table = wmcc.tabulate(*places, progress=False)
    found = wmcc.image_scores(table)
    galleries = pictures.pictured(found, ImageFolders(*places), table, None)
    drawn = [x.png for own in galleries.values() for image in own.images for x in image.pictures]
    assert len(drawn) == 24
    assert 300_000 < sum(map(len, drawn)) <= pictures.MOST_BYTES
    assert Image.open(io.BytesIO(drawn[0])).size == (192, 192)


def test_large_images_are_kept_small(tmp_path):
    """Eight satellite scenes are not to be in memory at once; what is said of them is of all pixels."""
    truth = np.zeros((700, 300), dtype=np.int32)
    truth[:7] = 2  # void
    pred = truth.copy()
    pred[350:, 0] = 1
    scene = pictures._scene(truth, pred, None, ("a", "b", "void"), 2)
    assert [x.shape for x in (scene.truth, scene.pred, scene.wrong)] == [(256, 110)] * 3
    assert scene.used == {0, 1, 2}
    assert scene.said == ("a 99.0 %", "a 98.8 %, b 0.2 %")
    assert scene.right == 1 - 350 / (693 * 300)
    assert np.isnan(scene.wrong[0]).all()
    assert scene.wrong[200, 0] == pytest.approx(1 / 2, abs=0.2)
    assert not scene.wrong[3:, 1:].any()


def test_volumes_show_the_slice_with_most_wrong_weight(tmp_path):
    for name in ("truth", "pred"):
        (tmp_path / name).mkdir()
        for k in range(3):
            volume = np.zeros((5, 20, 30), dtype=np.uint8)
            volume[:, 5:10] = 1
            if name == "pred":
                volume[3, :6], volume[1, 0, :5] = 1, 1
            np.save(tmp_path / name / f"{k}.npy", volume)
    places = str(tmp_path / "truth"), str(tmp_path / "pred")
    table = wmcc.tabulate(*places, progress=False)
    (gallery,) = pictures.pictured(wmcc.image_scores(table), ImageFolders(*places), table, None).values()
    assert gallery.images[0].name == "0, slice 4 of 5"
    assert Image.open(io.BytesIO(gallery.images[0].pictures[0].png)).size == (30, 20)


def test_pictures_have_the_weights_of_the_table(tmp_path):
    """Large labels, predictions that are missing, and weights that were forgotten."""
    rng = np.random.default_rng(0)
    for k in range(3):
        truth = rng.integers(0, 2, (8, 9))
        pred = np.where(rng.random(truth.shape) < 0.2, np.nan, 1 - truth)
        weight = (3000 * rng.random(truth.shape)).astype(np.float16)  # whose sum is beyond float16
        high = truth.astype(np.uint64) + np.uint64(2**63)
        arrays = {"truth": truth.astype(float), "pred": pred, "maps": weight, "high": high, "turned": high[::-1]}
        for folder, own in arrays.items():
            (tmp_path / folder).mkdir(exist_ok=True)
            np.save(tmp_path / folder / f"{k}.npy", own)
    truth, pred, maps, high, turned = (str(tmp_path / folder) for folder in arrays)
    table = wmcc.tabulate(truth, pred, maps, missing="ignore", progress=False)
    assert "100 % of the weight is wrong" in written(tmp_path, ".html", table, images=(truth, pred, maps))
    with pytest.raises(InputError, match=r"'0' has 61 rows of weight 61 in the folders, and 61 of weight 9\d,\d"):
        written(tmp_path, ".html", table, images=(truth, pred))
    large = wmcc.tabulate(high, turned, progress=False)
    assert str(2**63) in written(tmp_path, ".html", large, images=(high, turned))


def test_a_png_holds_its_pixels():
    codes = np.arange(12).reshape(3, 4) % 5
    palette = [(40 * k, 255 - k, k, 255 - 50 * k) for k in range(5)]
    found = np.array(Image.open(io.BytesIO(png(codes, palette))).convert("RGBA"))
    assert (found == np.array(palette)[codes]).all()


def test_classes_have_colours_of_their_own():
    colours = [class_colour(k) for k in range(pictures.COLOURS)]
    assert len(set(colours)) == len(colours)
    assert class_colour(pictures.COLOURS) == class_colour(0)
    first = np.array(colours[:19], dtype=float)
    apart = np.abs(first[:, np.newaxis] - first).sum(axis=-1)[~np.eye(19, dtype=bool)]
    assert apart.min() > 40


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ({"images": "truth/"}, "`images` is 'truth/'; expected True, or the folders", r'\("truth/", "pred/"\)'),
        ({"images": [np.zeros(3), np.zeros(3)]}, "`images` is .*; expected True, or the folders", "pred/"),
        ({"images": ("A", "B")}, "`images` has the predictions", "same folders as to wmcc.tabulate"),
        ({"images": ("A",), "cluster": "folder"}, "`images` has no image '.'", "without `cluster`"),
        ({"images": ("A",), "classes": NAMES}, "the pixel values of the classes 'road', 'car'", "give the `names`"),
        (
            {"images": ("A",), "names": {**NAMES, "x": "tree"}},
            "`names` has 'x', which is no pixel value",
            "give the `names`",
        ),
    ],
)
def test_what_does_not_fit_is_said(folders, tmp_path, options, said, hint):
    images = options["images"]
    reading = {"names": options["classes"]} if "classes" in options else {}
    reading |= {"cluster": options["cluster"]} if "cluster" in options else {}
    table = wmcc.tabulate(*given(folders, "A"), ignore=255, progress=False, **reading)
    if isinstance(images, tuple):
        images = given(folders, *images)
    with pytest.raises(WmccError, match=said) as caught:
        written(tmp_path, ".html", table, images=images, names=options.get("names"))
    assert re.search(hint, caught.value.hint)


def test_images_of_independent_rows_are_refused(tmp_path):
    with pytest.raises(InputError, match="need a table whose rows come in clusters"):
        written(tmp_path, ".html", wmcc.tabulate([0, 1] * 9, [0, 1, 1] * 6), images=True)


# ---- the command line ------------------------------------------------------------------------------------


def test_commands_take_folders(folders, tmp_path, monkeypatch):
    monkeypatch.chdir(folders)
    table = wmcc.tabulate("truth", "A", "maps", ignore=255, progress=False)
    score = run("score", "--images", "truth/", "A/", "--weights", "maps/", "--ignore", "255", "--format", "json")
    assert strict(score.stdout) == wmcc.score(table).with_image_means().to_dict()
    found = run("images", "--images", "truth/", "A/", "B/", "--ignore", "255", "--worst", "2", "--format", "json")
    joint = wmcc.tabulate("truth", {"A": "A", "B": "B"}, ignore=255, progress=False)
    assert strict(found.stdout) == wmcc.image_scores(joint, worst=2).to_dict()
    out = str(tmp_path / "report.html")
    names = [x for pair in NAMES.items() for x in ("--names", f"{pair[0]}={pair[1]}")]
    run("report", "--images", "truth/", "A/", "--ignore", "255", *names, "-o", out)
    with open(out) as file:
        assert len(images_of(file.read())) == 24


def test_clusters_that_are_folders_are_no_images(folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("truth", "A"):
        for city in ("aachen", "ulm"):
            shutil.copytree(folders / name, tmp_path / name / city)
    found = run("score", "--images", "truth/", "A/", "--ignore", "255", "--cluster", "folder")
    assert "Mean over images" not in found.stdout

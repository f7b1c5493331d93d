"""Folders of images: paired by name, read as the numbers they store, and the same table as their pixels in memory."""

import json
import os
import struct
import sys
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import run
from PIL import Image

import wmcc
from wmcc import errors
from wmcc.errors import InputError
from wmcc.sources.images import ImageFolders
from wmcc.sources.pixels import read_image

NAMES = ["b", "a", "city/d", "city/c", "void"]


def put(path, array):
    """Write an array as the end of the name says."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        Image.fromarray(np.asarray(array)).save(path)
    return path


def stored_png(path, rows, bits, colour=0, palette=None):
    """Write a PNG file of so many bits, which Pillow does not write."""
    lines = b""
    for row in rows:
        text = "".join(format(x, f"0{bits}b") for x in row)
        text += "0" * (-len(text) % 8)
        lines += b"\0" + int(text, 2).to_bytes(len(text) // 8, "big")

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, colour, 0, 0, 0)
    colours = chunk(b"PLTE", palette) if palette else b""
    data = chunk(b"IHDR", head) + colours + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)
    return path


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Folders truth, one, two and maps, and their images as stacks of arrays."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    stacks = {"truth": [], "one": [], "two": [], "maps": []}
    for k, name in enumerate(NAMES):
        truth = rng.choice([0, 1, 2, 255], (6, 7)).astype(np.uint8)
        if name == "void":
            truth[:] = 255
        one = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(0, 4, truth.shape)).astype(np.uint8)
        two = rng.integers(0, 3 + (k == 3), truth.shape).astype(np.uint16)
        maps = rng.lognormal(0, 2, truth.shape).astype(np.float32)
        endings = {"truth": ".png", "one": ".tif", "two": ".png", "maps": ".npy" if k % 2 else ".tiff"}
        for (folder, own), array in zip(stacks.items(), (truth, one, two, maps), strict=True):
            put(f"{folder}/{name}{endings[folder]}", array)
            own.append(array)
    return {folder: np.stack(own) for folder, own in stacks.items()}


def refused(*args, kind=errors.InputError, **options):
    with pytest.raises(kind) as caught:
        wmcc.tabulate(*args, **options)
    return f"{caught.value.message} | {caught.value.hint}"


# ---- the same table as that of the pixels in memory --------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"ignore": 255},
        {"ignore": 255, "labels": [3, 2, 1, 0]},
        {"ignore": [255, 2], "names": {0: "road", 1: "car", 3: "sky"}},
        {},
    ],
    ids=["ignore", "labels", "names", "all"],
)
def test_the_table_is_that_of_the_stacked_arrays(made, options, threads):
    own = {**options, "threads": threads}
    for folder in ("one", "two"):
        weighted = wmcc.tabulate("truth", folder, "maps", **own)
        assert weighted == wmcc.tabulate(made["truth"], made[folder], made["maps"], cluster=NAMES, **options)
        plain = wmcc.tabulate(Path("truth"), Path(folder), **own)
        assert plain == wmcc.tabulate(made["truth"], made[folder], cluster=NAMES, **options)
    both = wmcc.tabulate("truth/", {"one": "one/", "two": Path("two")}, "maps/", **own)
    arrays = {"one": made["one"], "two": made["two"]}
    assert both == wmcc.tabulate(made["truth"], arrays, made["maps"], cluster=NAMES, **options)


def test_images_are_clusters(made):
    table = wmcc.tabulate("truth", "one", "maps", ignore=255)
    assert table.drawn.kind == "clusters"
    assert table.drawn.units == ("a", "b", "city/c", "city/d")  # of the one that is void no pixel is left
    assert wmcc.interval(table, "ecc").low < wmcc.ecc(table)


def test_images_of_different_sizes(tmp_path, made):
    rng = np.random.default_rng(3)
    large = rng.integers(0, 9, (30, 50)).astype(np.uint8)
    for folder in ("truth", "one"):
        put(f"{folder}/wide.png", large)
    truth, pred = (np.concatenate([made[x].ravel(), large.ravel()]) for x in ("truth", "one"))
    keys = np.concatenate([np.repeat(NAMES, 42), np.full(large.size, "wide")])
    assert wmcc.tabulate("truth", "one") == wmcc.tabulate(truth, pred, cluster=keys)


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_groups_and_clusters_of_images(made, several):
    truth, maps = made["truth"], made["maps"]
    folders, arrays = (
        ({"x": "one", "y": "two"}, {"x": made["one"], "y": made["two"]}) if several else ("one", made["one"])
    )
    first = {name: name[0] for name in NAMES}
    where = [os.path.dirname(name) or "." for name in NAMES]
    keys = [first[name] for name in NAMES]
    for given, own in ((first, keys), (lambda name: name[0], keys), ("folder", where)):
        groups = wmcc.tabulate("truth", folders, "maps", by=given, ignore=255)
        expected = wmcc.tabulate(truth, arrays, maps, by=own, cluster=NAMES, ignore=255)
        assert groups.groups == expected.groups
        assert groups.by == ("folder" if given == "folder" else "by")
        assert {k: groups[k] for k in groups} == {k: expected[k] for k in expected}
        assert groups.ignored.tolist() == expected.ignored.tolist()
        assert groups.total() == wmcc.tabulate("truth", folders, "maps", ignore=255)
        clusters = wmcc.tabulate("truth", folders, "maps", cluster=given, ignore=255)
        assert clusters == wmcc.tabulate(truth, arrays, maps, cluster=own, ignore=255)


def test_a_positive_class(made):
    for folder in ("truth", "one"):
        for name, array in zip(NAMES, made[folder], strict=True):
            put(f"binary_{folder}/{name}.npy", (array == 0).astype(np.uint8))
    table = wmcc.tabulate("binary_truth", "binary_one", positive=1)
    truth, pred = (made[x] == 0 for x in ("truth", "one"))
    assert table == wmcc.tabulate(truth.astype(int), pred.astype(int), cluster=NAMES, positive=1)
    for more in ({}, {"by": "folder"}):
        said = refused("binary_truth", "binary_one", positive=7, labels=[0, 1], **more)
        assert "`positive` is 7; expected one of the labels" in said


def test_classes_that_earlier_images_did_not_have(tmp_path):
    """Labels of the images before are expected, and others are found all the same."""
    rng = np.random.default_rng(0)
    truth = [rng.integers(0, 1 + k, (300, 300)).astype(np.uint8) for k in range(1, 6)]
    truth[4][:, :3] = 90
    pred = [np.roll(x, 1, axis=0) for x in truth]
    for k, (t, p) in enumerate(zip(truth, pred, strict=True)):
        put(tmp_path / "t" / f"{k}.png", t)
        put(tmp_path / "p" / f"{k}.png", p)
    stacked = wmcc.tabulate(np.stack(truth), np.stack(pred), cluster=list("01234"), ignore=255)
    for threads in (1, 2):
        assert wmcc.tabulate(tmp_path / "t", tmp_path / "p", ignore=255, threads=threads) == stacked


def test_weights_from_a_function_of_the_truth(made):
    near = partial(wmcc.weightmaps.distance, to=1, scale=2.0, ignore=255)
    weights = np.stack([near(x) for x in made["truth"]])
    table = wmcc.tabulate("truth", "one", near, ignore=255)
    assert table == wmcc.tabulate(made["truth"], made["one"], weights, cluster=NAMES, ignore=255)


def test_a_function_of_the_truth_may_change_its_argument(made):
    def careless(labels):
        labels[:] = 1
        return labels

    assert wmcc.tabulate("truth", "one", careless, ignore=255) == wmcc.tabulate(
        made["truth"], made["one"], np.ones(made["truth"].shape), cluster=NAMES, ignore=255
    )


def test_missing_labels_in_float_maps(tmp_path):
    truth = np.array([[0.0, np.nan], [1.0, 1.0]])
    put(tmp_path / "t" / "a.npy", truth)
    put(tmp_path / "p" / "a.npy", np.array([[0, 1], [1, 0]]))
    table = wmcc.tabulate(tmp_path / "t", tmp_path / "p", missing="ignore")
    assert table.ignored == 1
    assert table.n.tolist() == [[1, 0], [1, 1]]
    assert "a.npy[0, 1] is missing (nan)" in refused(tmp_path / "t", tmp_path / "p")


# ---- numbers as they are stored -------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_grey_png_files_of_any_depth(tmp_path, bits):
    rows = [[0, 1, 2, 3, 3], [3, 2, 1, 0, 1]] if bits > 1 else [[0, 1, 1, 0, 1], [1, 0, 0, 1, 1]]
    assert read_image(str(stored_png(tmp_path / "a.png", rows, bits)), "labels").tolist() == rows


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_palettes_are_read_as_indices(tmp_path, bits):
    rows = [[0, 1, 1], [1, 1, 0]] if bits == 1 else [[0, 1, 2], [3, 3, 0]]
    path = stored_png(tmp_path / "a.png", rows, bits, 3, bytes([9, 9, 9, 200, 0, 0, 9, 9, 9, 0, 0, 200]))
    assert read_image(str(path), "labels").tolist() == rows


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f4"])
@pytest.mark.parametrize(
    "how", [{}, {"tile": (16, 16)}, {"bigtiff": True}, {"compression": "zlib"}, {"byteorder": ">"}], ids=str
)
def test_tiff_files(tmp_path, dtype, how):
    import tifffile

    low, high = (-3.5, 9.25) if dtype == "f4" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    array = np.linspace(low, high, 20 * 30).reshape(20, 30).astype(dtype)
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="minisblack", **how)
    if dtype == "u4" and "byteorder" in how:  # Pillow does not, and says so
        with pytest.raises(errors.InputError, match=r"a\.tif cannot be read as TIFF"):
            read_image(str(tmp_path / "a.tif"), "weights")
        return
    found = read_image(str(tmp_path / "a.tif"), "weights")
    assert found.dtype.newbyteorder("=") == np.dtype(dtype) or (dtype == "i2" and found.dtype == np.int32)
    assert np.array_equal(found, array)


def test_lzw(tmp_path):
    array = (np.arange(40 * 60).reshape(40, 60) % 7).astype(np.uint8)
    Image.fromarray(array).save(tmp_path / "lzw.tif", compression="tiff_lzw")
    assert np.array_equal(read_image(str(tmp_path / "lzw.tif"), "labels"), array)


def test_weights_are_not_scaled(tmp_path):
    for folder in ("t", "p"):
        put(tmp_path / folder / "a.png", np.array([[0, 1]], dtype=np.uint8))
    for dtype, largest in ((np.uint8, 200), (np.uint16, 60_000)):
        put(tmp_path / "w" / "a.png", np.array([[3, largest]], dtype=dtype))
        assert wmcc.tabulate(tmp_path / "t", tmp_path / "p", tmp_path / "w").w.tolist() == [[3, 0], [0, largest]]


def test_large_images_pass_the_limit_of_pillow(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)  # warnings are errors here
    for folder in ("t", "p"):
        put(tmp_path / folder / "a.png", np.zeros((9, 9), dtype=np.uint8))
        put(tmp_path / folder / "b.tif", np.zeros((9, 9), dtype=np.uint8))
    assert wmcc.tabulate(tmp_path / "t", tmp_path / "p").rows == 162


def test_volumes_and_lines_in_npy_files(tmp_path):
    rng = np.random.default_rng(1)
    volume = rng.integers(0, 3, (2, 3, 4))
    line = np.eye(5, dtype=int)  # one 1 in each row: a thin line, and no one-hot labels
    for folder in ("t", "p"):
        put(tmp_path / folder / "volume.npy", volume)
        put(tmp_path / folder / "line.npy", line)
    assert wmcc.accuracy(wmcc.tabulate(tmp_path / "t", tmp_path / "p")) == 1.0


# ---- pairing by name ------------------------------------------------------------------------------------


def test_patterns_have_the_name_in_their_star(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    label = np.array([[0, 1], [1, 7]], dtype=np.uint8)
    for city in ("aachen", "bochum"):
        put(f"truth/{city}/{city}_01_gtFine_labelIds.png", label)
        put(f"truth/{city}/{city}_01_gtFine_color.png", np.zeros((2, 2, 3), dtype=np.uint8))
        put(f"pred/{city}/{city}_01_leftImg8bit.png", label)
        Path(f"truth/{city}/{city}_01_gtFine_polygons.json").write_text("{}")
    for truth in ("truth/*_gtFine_labelIds.png", "truth/**/*_gtFine_labelIds.png", "truth/*_gtFine_labelIds"):
        table = wmcc.tabulate(truth, "pred/*_leftImg8bit.png")
        assert table.drawn.units == ("aachen/aachen_01", "bochum/bochum_01")
        assert wmcc.accuracy(table) == 1.0
    one = wmcc.tabulate("truth/aachen/*_gtFine_labelIds.png", "pred/aachen/*_leftImg8bit.png")
    assert one.drawn.units == ("aachen_01",)
    put("scenes/x/truth.png", label)
    put("scenes/x/pred.png", label)
    assert wmcc.tabulate("scenes/*/truth.png", "scenes/*/pred.png").drawn.units == ("x",)
    assert "4 images of 'truth' are not in 'pred'" in refused("truth", "pred")


def test_other_files_and_hidden_ones_are_no_images(made):
    for name in ("truth/.DS_Store", "truth/._a.png", "one/Thumbs.db", "two/README.txt", "truth/.cache/x.png"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("no image")
    assert wmcc.tabulate("truth", {"one": "one", "two": "two"}).rows == 5 * 42


def test_links_and_the_home_folder(made, tmp_path, monkeypatch):
    os.symlink(tmp_path / "truth", "truth/city/back")  # round and round
    os.symlink(tmp_path / "one", "linked")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wmcc.tabulate("~/truth", "linked") == wmcc.tabulate(made["truth"], made["one"], cluster=NAMES)
    for folder in ("truth", "one"):
        os.mkdir(f"{folder}/more")
        os.symlink("../city", f"{folder}/more/city")  # which was met before, under another name
    assert wmcc.tabulate("truth", "one").drawn.units[4:6] == ("more/city/c", "more/city/d")
    os.symlink("nowhere.png", "truth/x.png")
    os.symlink("nowhere.png", "one/x.png")
    said = refused("truth", "one")
    assert "truth/x.png cannot be opened: No such file or directory, one/x.png cannot" in said
    assert said.endswith("No such file or directory. | None")


def test_folders_that_cannot_be_read(made, monkeypatch):
    listed = os.scandir

    def scandir(path):
        if os.path.basename(path) == "city":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert "the folder 'truth/city' cannot be read: Permission denied." in refused("truth", "one")


def test_images_are_read_again_by_name(made):
    folders = ImageFolders("truth", {"one": "one", "two": "two"}, "maps")
    assert folders.names == tuple(sorted(NAMES))
    assert folders.predictions == ("one", "two")
    for k, name in enumerate(NAMES):
        truth, (one, two), weight = folders.read(name)
        for array, folder in ((truth, "truth"), (one, "one"), (two, "two"), (weight, "maps")):
            assert np.array_equal(array, made[folder][k])
    assert ImageFolders("truth", "one").read("a").weight is None
    made_of = ImageFolders("truth", "one", np.ones_like).read("a").weight
    assert made_of.shape == (6, 7)
    with pytest.raises(errors.InputError, match="there is no image 'z' in 'truth'"):
        folders.read("z")


# ---- what is refused --------------------------------------------------------------------------------------


def test_all_that_does_not_match_is_said_at_once(made):
    put("truth/lost.png", made["truth"][0])
    for k in range(7):
        put(f"one/extra{k}.png", made["one"][0])
    put("one/a.tif", made["one"][0][:5])
    put("maps/b.tiff", made["maps"][0][:, :2])
    Path("one/city/c.tif").write_bytes(b"II*\0")
    Image.new("RGB", (7, 6)).save("truth/void.png")
    said = refused("truth", "one", "maps")
    assert "1 image of 'truth' is not in 'one': lost;" in said
    assert "7 images of 'one' are not in 'truth': extra0, extra1, extra2, extra3, extra4 and 2 more;" in said
    assert "1 image of 'truth' is not in 'maps': lost;" in said
    assert "2 images differ in size: a is 6 × 7 in 'truth' and 5 × 7 in 'one' and 6 × 7 in 'maps', b is" in said
    assert "2 files cannot be used: one/city/c.tif cannot be read as TIFF" in said
    assert "truth/void.png has 3 channels (RGB); expected one class number per pixel" in said
    assert "files belong together if their paths in the folders are the same but for the ending" in said
    assert "labels[(rgb == colour).all(axis=-1)] = number" in said


@pytest.mark.parametrize(
    ("mode", "role", "said"),
    [
        ("RGB", "labels", "has 3 channels (RGB); expected one class number per pixel"),
        ("RGBA", "labels", "has 4 channels (RGBA)"),
        ("LA", "labels", "has 2 channels (LA)"),
        ("RGB", "weights", "has 3 channels (RGB); expected one weight per pixel"),
        ("P", "weights", "has a palette, so that its numbers stand for colours; expected one weight per pixel"),
    ],
)
def test_modes_that_do_not_fit(tmp_path, mode, role, said):
    Image.new(mode, (3, 2)).save(tmp_path / "a.png")
    with pytest.raises(errors.InputError) as caught:
        read_image(str(tmp_path / "a.png"), role)
    assert said in caught.value.message
    assert "a.png" in caught.value.message
    assert caught.value.hint


def test_pages_and_inverted_numbers_of_tiff_files(tmp_path):
    import tifffile

    array = np.zeros((20, 30), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "pages.tif", np.stack([array] * 3), photometric="minisblack")
    tifffile.imwrite(tmp_path / "white.tif", array, photometric="miniswhite")
    with pytest.raises(errors.InputError, match="has 3 pages; expected one image"):
        read_image(str(tmp_path / "pages.tif"), "labels")
    with pytest.raises(errors.InputError, match="stores white as 0"):
        read_image(str(tmp_path / "white.tif"), "labels")
    frames = [Image.fromarray(array + k) for k in (0, 1)]
    frames[0].save(tmp_path / "frames.png", save_all=True, append_images=frames[1:])
    with pytest.raises(errors.InputError, match="has 2 pages; expected one image"):
        read_image(str(tmp_path / "frames.png"), "labels")


@pytest.mark.parametrize("role", ["labels", "weights"])
def test_jpeg_inside_tiff_files(tmp_path, role):
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(tmp_path / "a.tif", compression="jpeg")
    with pytest.raises(errors.InputError, match=r"a\.tif is compressed as JPEG\.(?s:.)*JPEG changes numbers"):
        read_image(str(tmp_path / "a.tif"), role)


@pytest.mark.parametrize("end", [".png", ".tif"])
def test_images_that_are_to_be_turned(tmp_path, end):
    array = np.arange(36, dtype=np.uint8).reshape(6, 6)
    path = str(tmp_path / f"a{end}")
    for orientation in (1, 6):
        about = Image.Exif()
        about[274] = orientation
        Image.fromarray(array).save(path, exif=about)
        if orientation == 1:
            assert np.array_equal(read_image(path, "labels"), array)
    with pytest.raises(errors.InputError, match=r"is to be turned or mirrored when it is shown \(orientation 6\)"):
        read_image(path, "labels")


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.npy"])
@pytest.mark.parametrize("kept", [0, 3, 20, 40, -30])
def test_files_that_are_cut_off_are_named(tmp_path, name, kept):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 200, (50, 50)).astype(np.uint8)
    path = put(tmp_path / "t" / name, array)
    put(tmp_path / "p" / name, array)
    path.write_bytes(path.read_bytes()[:kept])
    said = refused(tmp_path / "t", tmp_path / "p")
    assert str(path) in said
    assert "cannot be read" in said


def test_arrays_that_are_no_labels_or_weights(tmp_path):
    for folder in ("t", "p"):
        put(tmp_path / folder / "a.npy", np.zeros((2, 2), dtype=int))
    put(tmp_path / "complex" / "a.npy", np.zeros((2, 2), dtype=complex))
    put(tmp_path / "one" / "a.npy", np.array(3))
    (tmp_path / "objects").mkdir()
    np.save(tmp_path / "objects" / "a.npy", np.array([[None]]), allow_pickle=True)
    t = tmp_path / "t"
    assert "holds an array of dtype complex128; expected one class number per pixel" in refused(t, tmp_path / "complex")
    assert "holds a single value; expected one class number per pixel" in refused(t, tmp_path / "one")
    assert "holds Python objects" in refused(t, tmp_path / "objects")
    assert "expected one weight per pixel" in refused(t, tmp_path / "p", tmp_path / "complex")


def test_formats_that_are_not_read(made):
    Image.new("L", (7, 6)).save("truth/photo.jpg")
    said = refused("truth", "one")
    assert "'truth' has 1 image of a format that is not read: truth/photo.jpg." in said
    assert "JPEG changes numbers when it compresses" in said
    os.rename("truth/photo.jpg", "truth/photo.png")
    put("one/photo.png", np.zeros((6, 7), dtype=np.uint8))
    assert "truth/photo.png has the format JPEG, though its name ends with .png" in refused("truth", "one")
    put("truth/photo.tif", made["truth"][0])
    os.rename("truth/photo.tif", "truth/photo.png")
    said = refused("truth", "one")
    assert "truth/photo.png has the format TIFF, though its name ends with .png" in said
    assert "rename it: TIFF files end with .tiff." in said
    os.remove("truth/photo.png")
    Path("truth/photo.bmp").write_bytes(b"BM")
    assert "images are read from .png, .tif, .tiff, .npy" in refused("truth", "one")


def test_two_files_of_one_name(made):
    put("truth/a.npy", made["truth"][1])
    said = refused("truth", "one")
    assert "two files have the same name but for the ending: truth/a.npy and truth/a.png." in said
    assert "'truth/*.png'" in said
    assert wmcc.tabulate("truth/*.png", "one") == wmcc.tabulate(made["truth"], made["one"], cluster=NAMES)


def test_folders_that_are_not_there(made):
    assert "there is no folder 'trut'. | did you mean 'truth'?" in refused("trut", "one")
    assert "there is no folder 'onne/'. | did you mean 'one'?" in refused("truth/", "onne/")
    assert "there is no folder 'map'. | did you mean 'maps'?" in refused("truth", "one", "map")
    Path("empty").mkdir()
    assert "there are no images in 'empty'; the folder holds nothing." in refused("truth", "empty")
    assert "no image matches 'truth/*_x.png'; the folder 'truth' holds a.png" in refused("truth/*_x.png", "one")
    assert "there is no folder 'nowhere'" in refused("nowhere/*.png", "one")
    assert "has 2 stars; expected one *" in refused("truth/*_*.png", "one")
    for pattern in ("truth/?.png", "truth/[ab].png", "truth/{a,b}.png"):
        assert "has 0 stars; expected one *" in refused(pattern, "one")
    assert "sample_weight=wmcc.weightmaps.border" in refused("truth", "one", "border")
    said = refused("truth/a.png", "one/a.tif")
    assert "'truth/a.png' is a file; expected a folder of images, or a pattern such as 'folder/*.png'." in said


def test_a_folder_of_data_files_is_no_folder_of_images(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "part.csv").write_text("y,p\n1,1\n")
    assert "named by keyword" in refused(tmp_path / "data", "y", "p", kind=errors.InputTypeError)
    assert wmcc.tabulate(tmp_path / "data", true="y", pred="p").rows == 1


def test_what_is_given_in_place_of_folders(made):
    files = ["truth/a.png", "truth/b.png"]
    for listed in (files, [Path(x) for x in files], tuple(files)):
        said = refused(listed, listed, kind=errors.InputTypeError)
        assert "y_true is a list of files, of which the first is 'truth/a.png'; expected a folder or a pattern." in said
    assert wmcc.tabulate(["a.png", "b.png"], ["a.png", "a.png"]).labels == ("a.png", "b.png")  # which are no files
    for pred in (made["one"], None, ["one", "two"], {"A": ["one"]}):
        said = refused("truth", pred, kind=errors.InputTypeError)
        assert "y_true is a folder of images, and y_pred is" in said
        assert 'Several predictions are a mapping: {"A": "pred_a/", "B": "pred_b/"}.' in said


def test_sizes_that_differ_get_a_hint_each(tmp_path):
    for folder, shape in {"t": (6, 7), "p": (6, 7), "s": (3, 7), "scores": (3, 6, 7)}.items():
        put(tmp_path / folder / "a.npy", np.zeros(shape, dtype=int))
    t, p, small, scores = (tmp_path / folder for folder in ("t", "p", "s", "scores"))
    assert refused(t, p, small).endswith("| make weights at the size of the truth.")
    assert "labels are resized without interpolation (nearest)" in refused(t, small)
    assert refused(t, scores).endswith("of a score for each class save the class, by argmax.")


def test_functions_that_fail(made):
    def fail(truth):
        raise ValueError("no weights today")

    with pytest.raises(ValueError, match="no weights today") as caught:
        wmcc.tabulate("truth", "one", fail, threads=2)
    assert caught.value.__notes__ == ["This happened when sample_weight was called with the label map of truth/a.png."]
    said = refused("truth", "one", lambda truth: None, kind=errors.InputTypeError)
    assert said.startswith("the weight map made of truth/a.png is None")
    lacking = partial(wmcc.weightmaps.border, class_weight={7: 1})
    assert refused("truth", "one", lacking).startswith("truth/a.png: `class_weight` has no number for class 0")


def test_labels_and_weights_are_named_by_file(made):
    said = refused("truth", "one", ignore=255, labels=[0, 1, 2])
    assert "one/" in said
    assert "is 3, which is not among `labels`, 0, 1, 2" in said
    bad = np.array(made["maps"][1])
    bad[made["truth"][1] == 1] = -1
    Path("maps/a.npy").unlink()
    put("maps/a.npy", bad)
    said = refused("truth", "one", "maps", ignore=255)
    assert "maps/a.npy[" in said
    assert "is -1.0; a weight must be a finite number of at least 0" in said
    said = refused("truth", "one", lambda x: np.full(x.shape, np.nan), ignore=255)
    assert "the weight map made of truth/a.png[" in said
    assert "is 6, and the label map 6 × 7" in refused("truth", "one", lambda x: np.ones(6))


def test_keywords_that_do_not_work_with_folders(made):
    kind = errors.InputTypeError
    for design in (wmcc.Strata(NAMES), wmcc.Strata(population=9), wmcc.PostStrata(NAMES, {})):
        said = refused("truth", "one", kind=kind, design=design)
        assert (
            f"a `{type(design).__name__}` does not work with folders of images. | read the images into arrays" in said
        )
    said = refused("truth", "one", kind=kind, weight="maps")
    assert "folders of images, give the weights as `sample_weight`" in said
    assert "sample_weight is" in refused("truth", "one", made["maps"], kind=kind)
    assert "by is 'city'; with folders of images expected 'folder', a mapping" in refused(
        "truth", "one", kind=kind, by="city"
    )
    said = refused("truth", "one", cluster={"a": 1})
    assert "`cluster` has no key for 4 images: b, city/c, city/d, void." in said


def test_a_file_that_changes_meanwhile(made):
    def touch(truth):
        put("one/city/d.tif", made["one"][0])
        os.utime("one/city/d.tif", ns=(1, 1))
        return np.ones(truth.shape)

    assert "one/city/d.tif changed while it was being read" in refused("truth", "one", touch, threads=1)


def test_pillow_is_named_where_it_is_missing(made, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    said = refused("truth", "one", kind=errors.MissingDependencyError)
    assert "this needs pillow, which is not installed. | pip install 'wmcc[images]'" in said
    for folder in ("t", "p"):
        put(f"{folder}/a.npy", made["truth"][0])
    assert wmcc.accuracy(wmcc.tabulate("t", "p")) == 1.0  # of which NumPy reads all


def test_progress_is_shown(made, capsys):
    wmcc.tabulate("truth", "one", progress=True)
    assert "reading" in capsys.readouterr().err


# ---- the command line -----------------------------------------------------------------------------------


def test_commands_read_folders(made):
    folders = ("--images", "truth/", "one/", "--ignore", 255)
    table = wmcc.tabulate("truth", "one", "maps", ignore=255)
    run("tabulate", *folders, "--weights", "maps", "-o", "table.json")
    assert wmcc.Table.from_json(Path("table.json").read_text()) == table
    score = run("score", *folders, "--weights", "maps", "--format", "json").stdout
    assert json.loads(score) == wmcc.score(table).with_image_means().to_dict()  # a stored table knows clusters only
    for command, *wanted in (("certify",), ("radius", "--change", 0.1)):
        wanted += ["--measure", "accuracy"]
        assert run(command, *folders, "--weights", "maps", *wanted).stdout == run(command, "table.json", *wanted).stdout
    pair = ("--images", "truth", "one", "new=two", "--ignore", 255)
    run("tabulate", *pair, "-o", "pair.json")
    assert wmcc.JointTable.from_json(Path("pair.json").read_text()) == wmcc.tabulate(
        "truth", {"one": "one", "new": "two"}, ignore=255
    )
    for command, *wanted in (("compare",), ("rank", "--measure", "accuracy", "--no-radius")):
        assert run(command, *pair, *wanted).stdout == run(command, "pair.json", *wanted).stdout


def test_a_report_of_folders(made):
    run("report", "--images", "truth", "one", "new=two", "--ignore", 255, "--measure", "accuracy", "-o", "report.json")
    text = Path("report.json").read_text()
    assert '"new"' in text
    assert "truth/a.png" in text


def test_weight_maps_groups_and_names(made):
    folders = ("--images", "truth", "one", "--ignore", 255)
    run("tabulate", *folders, "--weight-map", "distance:to=1,scale=2", "-o", "table.json")
    near = partial(wmcc.weightmaps.distance, to=1, scale=2.0, ignore=255)
    assert wmcc.Table.from_json(Path("table.json").read_text()) == wmcc.tabulate("truth", "one", near, ignore=255)
    run("tabulate", *folders, "--by", "folder", "-o", "groups.json")
    assert wmcc.Tables.from_json(Path("groups.json").read_text()) == wmcc.tabulate(
        "truth", "one", by="folder", ignore=255
    )
    run("tabulate", *folders, "--cluster", "folder", "-o", "table.json")
    assert wmcc.Table.from_json(Path("table.json").read_text()).drawn.units == (".", "city")
    names = [word for label in range(4) for word in ("--names", f"{label}=class{label}")]
    assert "class3" in run("score", *folders, *names).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("score --images truth one two", "2 predicted folders after the true one; expected one."),
        (
            "compare --images truth one",
            "1 predicted folder after the true one; expected at least 2, to be compared.",
        ),
        ("score --images truth onne", "there is no folder 'onne'.\nHint: did you mean 'one'?"),
        ("score --images truth one --true y", "--true is for data files; it does not work with --images."),
        ("score --images truth one --stratum y", "--stratum is for data files"),
        ("score --images truth one --engine polars", "--engine is for data files"),
        (
            "score --images truth one --lower a",
            "--lower names a column of a data file; it does not work with --images.",
        ),
        ("score --images truth one --by city", "'city'; with folders of images expected 'folder', a mapping"),
        ("score --images truth one --weights maps --weight-map border", "--weights and --weight-map are both given"),
        ("score --images truth one --weight-map bordr", "did you mean border?"),
        ("score --images truth one --ignore void", "--ignore names the label 'void'"),
        ("compare --images truth one/ one", "two predictions are called 'one'; expected different names."),
        ("drift --images truth one", "--images does not work here"),
        ("score truth one", "folders of images are given as --images truth/ pred/."),
        ("score truth one --ignore 255", "folders of images are given as --images truth/ pred/."),
        ("score --images truth/a.png truth/b.png one/a.tif", "put a pattern into quotes"),
        ("score --images truth one --weights border", "Hint: weights can be made of the truth: --weight-map border."),
        (
            "score --images truth one --weight-map border:sigma=-1",
            "Error: the weight map 'border:sigma=-1': `sigma` is",
        ),
        ("score --images truth one --names 0=road,1=car", "Hint: repeat it: --names 0=road --names 1=car."),
        ("score truth --true a --pred b --weights maps", "--weights is for folders of images, which are given with"),
        ("score truth --true a --pred b --weight-map border", "--weight-map is for folders of images"),
    ],
)
def test_options_that_do_not_go_together(made, words, said):
    result = run(*words.split(), code=2)
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("given", [["truth/", "pred/"], ["truth", "pred"], ["truth", "a=pred"]])
def test_folders_that_do_not_exist(given, tmp_path, monkeypatch):
    """None of them: the wrong folder to work in, mostly."""
    monkeypatch.chdir(tmp_path)
    done = run("score", "--images", *given, "--ignore", "255", code=2)
    assert f"there is no folder {given[0]!r}." in done.stderr
    with pytest.raises(InputError, match="there is no folder 'truth/'"):
        wmcc.tabulate("truth/", "pred/", ignore=255)

"""`wmcc.draw_sample`: points at random places of a map, to be labelled, which say how they were drawn."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..core.design import name_strata
from ..core.keys import Key
from ..core.labels import Label
from ..errors import InputError, InputTypeError
from ..measures.checks import checked_number, whole_number
from ..optional import module
from ..present.blocks import Block
from ..present.json_csv import Record
from ..present.result import ENDINGS, Result
from ..present.text import brief, counted, listed, number, percent
from ..sources.drawn_design import SIZE, STRATUM, UNIT
from ..sources.draws import (
    DrawnPlaces,
    EqualArea,
    PixelSource,
    PlaceSource,
    PolygonSource,
    Taker,
    block_sizes,
    in_blocks,
    joined,
    lattice,
)
from ..sources.map_classes import MapClasses, PixelClasses, map_classes
from ..sources.rasters import bounded_cache
from ..sources.values import Blocks, check_choice
from .planning import Rule, SamplePlan, rows_of_number

DrawMethod = Literal["stratified", "simple", "systematic"]

DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON", ".fgb": "FlatGeobuf"}
"""Files of points, by the ends of their names."""

LATTICE = (
    "A systematic sample has no unbiased estimate of its variance. Standard errors will be those of a simple random "
    "sample: mostly too large, and too small where the map, or its errors, repeat at the distance of the points."
)
DISTANCE = (
    "Points keep a distance of at least {} m, so that chances are only nearly in proportion to area, and standard "
    "errors, which take no account of the distance, are mostly a little too large."
)
OF_BLOCKS = "Blocks were drawn, and pixels in them. Standard errors will be those of {}, not of {}."


class DrawnStratum(NamedTuple):
    """A stratum that was drawn from.

    Parameters
    ----------
    stratum
        The class of the map; the empty key if the whole map is one stratum.
    size
        Its area, in hectares.
    units
        Its pixels, or its polygons.
    n
        Points that were drawn in it.
    """

    stratum: Key
    size: float
    units: int
    n: int


class DrawnPoint(NamedTuple):
    """A point that was drawn.

    Parameters
    ----------
    id
        Its number, from 1. Points are in a random order.
    map_class
        The class of the map there.
    x, y
        Its coordinates in the coordinate reference system of the map; of a pixel those of its centre.
    lon, lat
        Longitude and latitude in degrees, on WGS 84.
    weight
        The area that it stands for, in hectares: the size of its stratum divided by the number of points there.
    stratum
        The stratum that it was drawn from; the empty key if the whole map is one.
    size
        The area of that stratum, in hectares.
    unit
        The block that it was drawn in, by its row and column, such as ``"r3c5"``; None without blocks.
    """

    id: int
    map_class: Label
    x: float
    y: float
    lon: float
    lat: float
    weight: float
    stratum: Key
    size: float
    unit: str | None


@dataclass(frozen=True, repr=False)
class DrawnSample(Result):
    """What `wmcc.draw_sample` returns: the points of a sample, which are still to be labelled.

    Parameters
    ----------
    map
        The name of the map.
    method
        ``"stratified"``, ``"simple"``, ``"systematic"`` or ``"blocks"``.
    seed, min_distance
        As they were given.
    crs
        The coordinate reference system of the coordinates.
    strata
        The strata with their sizes, and the points that were drawn in each.
    points
        The points.
    warnings
        What the way in which the sample was drawn means for its estimates.
    """

    map: str
    method: str
    seed: int
    min_distance: float | None
    crs: str
    strata: tuple[DrawnStratum, ...]
    points: tuple[DrawnPoint, ...]
    warnings: tuple[str, ...] = ()

    _kind = "drawn sample"
    _stored = ("map", "method", "seed", "min_distance", "crs", "n", "size", "strata", "points", "warnings")
    _endings: ClassVar[tuple[str, ...]] = (*DRIVERS, *ENDINGS)

    @property
    def n(self) -> int:
        """Points."""
        return len(self.points)

    @property
    def size(self) -> float:
        """Area of all strata, in hectares."""
        return sum(own.size for own in self.strata)

    def blocks(self) -> list[Block]:
        """Return what was drawn in each stratum; the points themselves are in the file, or the frame."""
        lines = [
            [_key_text(x.stratum), number(x.size), percent(x.size / self.size), f"{x.n:,}", number(x.size / x.n)]
            for x in self.strata
        ]
        if len(lines) > 1:
            lines.append(["Total", number(self.size), percent(1.0), f"{self.n:,}", ""])
        how = {"simple": "at random", "stratified": "at random in strata", "blocks": "at random in blocks"}
        title = f"Sample of {counted(self.n, 'point')}, drawn {how.get(self.method, 'on a lattice')}, seed {self.seed}"
        columns = [*([STRATUM] if self.method == "stratified" else []), SIZE, *([UNIT] * (self.method == "blocks"))]
        notes = [
            f"The column reference is empty. How points were drawn is in {listed(columns)}, which `tabulate` reads.",
            *self.warnings,
        ]
        return [Block(title, ["Stratum", "Size (ha)", "Share", "Points", "ha per point"], lines, notes)]

    def records(self) -> list[Record]:
        """Return a row for each point, with an empty reference."""
        return [self._record(point) for point in self.points]

    def _heads(self) -> list[str]:
        return list(self._record(DrawnPoint(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, (), 0.0, None)))

    def _record(self, own: DrawnPoint) -> Record:
        stratum = {STRATUM: own.stratum} if self.method == "stratified" else {}
        unit = {UNIT: own.unit} if self.method == "blocks" else {}
        known = own._asdict() | {"reference": None, "drawn_how": self.method} | stratum | {SIZE: own.size} | unit
        names = ("id", "map_class", "reference", "x", "y", "lon", "lat", "weight", "drawn_how", *stratum, SIZE, *unit)
        return {name: known[name] for name in names}

    def _file(self, form: str, name: str) -> bytes | None:
        """Return the points as a file of points: in the coordinates of the map, and of GeoJSON in degrees."""
        if form not in DRIVERS:
            return None
        frame = self.to_frame("pandas")
        text = isinstance(self.points[0].map_class, str)
        frame["reference"] = frame["reference"].astype("string" if text else "Int64")
        in_degrees = form == ".geojson"
        geopandas = module("geopandas")
        places = geopandas.points_from_xy(*(frame[x] for x in (("lon", "lat") if in_degrees else ("x", "y"))))
        layer = geopandas.GeoDataFrame(frame, geometry=places, crs="EPSG:4326" if in_degrees else self.crs)
        stem = os.path.splitext(os.path.basename(name))[0] or "sample"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"{stem}{form}")
            module("pyogrio").write_dataframe(layer, path, layer=stem, driver=DRIVERS[form])
            with open(path, "rb") as file:
                return file.read()


def _key_text(key: Key) -> str:
    return "the whole map" if key == () else str(key)


# ---- what was asked ----------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """How many points are to be drawn in each class, or in all of them together."""

    of_class: dict[Label, int] | None
    n: int


def _asked(plan: Any, classes: MapClasses, method: str | None) -> tuple[Asked, str]:
    """Read a plan: points of each class, or of the whole map; and the method that was meant."""
    if isinstance(plan, SamplePlan):
        plan = plan.n if list(plan.rows) == [()] else plan.rows
    if isinstance(plan, Mapping):
        if method not in (None, "stratified"):
            raise InputTypeError(
                f"`plan` has a number for each class, and `method` is {method!r}.",
                "give the number of points; or leave `method` out, and points are drawn in each class.",
                "method",
            )
        return _of_classes(plan, classes), "stratified"
    if isinstance(plan, bool) or not isinstance(plan, (int, float, np.integer)):
        raise InputTypeError(
            f"`plan` is {brief(plan)}; expected what `wmcc.plan_sample` returned, a mapping from classes to numbers of "
            "points, or a number of points.",
            argument="plan",
        )
    n = whole_number(plan, "plan", 1)
    if method != "stratified":
        return Asked(None, n), method or "simple"
    areas = np.array(list(classes.areas.values()))
    rule = Rule(areas / areas.sum(), np.full(len(areas), 2.0), np.full(len(areas), inf))
    rows = rows_of_number(n, rule, 2, "plan").astype(int).tolist()
    return Asked(dict(zip(classes.labels, rows, strict=True)), n), "stratified"


def _of_classes(plan: Mapping[Any, Any], classes: MapClasses) -> Asked:
    """Numbers of points by the classes of the map, which a plan has by their numbers or by their names."""
    names, areas = classes.names, classes.areas
    labels = {name: label for label, name in names.items()} | {label: label for label in classes.labels}
    odd = [key for key in plan if key not in labels]
    if odd:
        raise InputError(
            f"`plan` has {name_strata(odd)}, which the map does not have; its classes are "
            f"{name_strata(list(names.values()))}.",
            "name classes as the map has them.",
            "plan",
        )
    found = {labels[key]: whole_number(n, f"plan[{key!r}]", 0) for key, n in plan.items()}
    lacking = [label for label in classes.labels if label not in found]
    if lacking:
        sizes = [f"{number(areas[label])} ha" for label in lacking]
        raise InputError(
            f"`plan` has no number for {name_strata([names[x] for x in lacking], sizes)}, which the map has.",
            "give it points; 0 leaves a class out of what is assessed.",
            "plan",
        )
    if not any(found.values()):
        raise InputError("`plan` has no points: all its numbers are 0.", argument="plan")
    return Asked({label: found[label] for label in classes.labels}, sum(found.values()))


# ---- the door ------------------------------------------------------------------------------------------------


def draw_sample(
    data: Any,
    plan: SamplePlan | Mapping[Any, int] | int,
    *,
    method: DrawMethod | None = None,
    pred: str | None = None,
    cluster: Blocks | None = None,
    per_cluster: int | None = None,
    min_distance: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> DrawnSample:
    """Draw the places of a map that are to be labelled, by their area.

    Each place has a chance in proportion to its area on the ellipsoid, in its stratum or in the whole map. Of a raster
    pixels are drawn, each at most once; of a layer points in its polygons. Pixels that are not known are left out.

    Parameters
    ----------
    data
        The map, a raster or a layer of polygons: a path, `wmcc.Raster`, `wmcc.Layer`, a DataArray or a GeoDataFrame.
    plan
        What `wmcc.plan_sample` returned, a mapping from the classes of the map to numbers of points, or the number of
        points. A class of 0 points is left out of what is assessed.
    method
        ``"stratified"``: in each class; of a plan that is a number in proportion to their areas, and at least 2 in
        each. ``"simple"``: at random in the whole map. ``"systematic"``: on a lattice with a random start, of about so
        many points. By default ``"stratified"`` if the plan has classes, and else ``"simple"``.
    pred
        The column of the classes, if the map is a layer of polygons.
    cluster, per_cluster
        `wmcc.Blocks` of a raster, and the number of points in each that is drawn: blocks are drawn by their area, and
        pixels in them. The plan is the number of all points. A block with fewer pixels is joined with the next.
    min_distance
        The smallest distance of two points, in metres.
    seed
        Which random numbers are taken. The same map, plan and seed give the same points.
    threads, progress
        As in `wmcc.tabulate`.

    Returns
    -------
    DrawnSample
        Its ``save("points.gpkg")`` writes the points with an empty column ``reference``; also as ``.geojson``,
        ``.fgb``, ``.csv``, ``.xlsx`` or ``.parquet``. When it is filled in, ``tabulate("points.gpkg",
        true="reference", pred="map_class")`` knows how the points were drawn: from the columns ``drawn_size`` (the
        area of the stratum), ``drawn_from`` (the stratum) and ``drawn_unit`` (the block).

    Examples
    --------
    >>> import numpy as np, xarray as xr, wmcc
    >>> cover = np.repeat([[1, 1, 2], [1, 2, 2], [3, 1, 1]], 40, axis=0).repeat(40, axis=1)
    >>> x, y = 500_005 + 10.0 * np.arange(120), 5_540_000 - 10.0 * np.arange(120)
    >>> cover = wmcc.Raster(xr.DataArray(cover, {"y": y, "x": x}, ("y", "x")), crs="EPSG:32632", name="cover")
    >>> sample = wmcc.draw_sample(cover, {1: 40, 2: 30, 3: 30}, seed=1)
    >>> sample.n, sample.points[0].map_class, sample.strata[2].n
    (100, 1, 30)
    >>> labelled = sample.to_frame().assign(reference=sample.to_frame()["map_class"])
    >>> wmcc.tabulate(labelled, true="reference", pred="map_class").drawn.design.strata
    (1, 2, 3)
    """
    if method is not None:
        check_choice("method", method, DrawMethod)
    first = whole_number(seed, "seed", 0)
    metres = None if min_distance is None else checked_number(
        min_distance, "min_distance", lambda own: 0 < own < inf, "a distance in metres above 0"
    )  # fmt: skip
    classes = map_classes(data, pred, threads=threads, progress=progress)
    asked, how = _asked(plan, classes, method)
    _check(classes, how, cluster, per_cluster, metres, method)
    said = [] if metres is None else [DISTANCE.format(number(metres))]
    name = (classes.raster if isinstance(classes, PixelClasses) else classes.layer).name
    with bounded_cache():
        if cluster is not None:
            assert isinstance(classes, PixelClasses)
            how, drawn = "blocks", _drawn_in_blocks(classes, asked.n, cluster, per_cluster, first)
            m = asked.n // (per_cluster or 1)
            said.append(OF_BLOCKS.format(counted(m, "block"), counted(asked.n, "point")))
        elif how == "systematic":
            places, apart = lattice(classes, asked.n, np.random.default_rng(first))
            if not len(places.x):
                raise InputError("the lattice has no point on the map.", "draw more points, or another `seed`.", "plan")
            drawn = {(): places}
            said += [f"The points are {number(apart)} m apart; {asked.n:,} were asked for.", LATTICE]
        else:
            drawn, more = _drawn_at_random(classes, asked, metres, first)
            said += more
    return _sample(classes, drawn, name, how, first, metres, said, None if cluster is None else cluster.sides)


def _check(
    classes: MapClasses, how: str, cluster: Any, per_cluster: Any, metres: float | None, method: str | None
) -> None:
    """Refuse what does not go together."""
    if cluster is None:
        if per_cluster is not None:
            raise InputTypeError(
                "`per_cluster` is the number of points in a block, and there is no `cluster`.",
                "give cluster=wmcc.Blocks(64), for instance.",
                "cluster",
            )
        if how == "systematic" and metres is not None:
            raise InputTypeError(
                "`min_distance` does not work with a lattice, whose distance follows from the number of points.",
                "leave it out.",
                "min_distance",
            )
        return
    if not isinstance(cluster, Blocks):
        raise InputTypeError.of("cluster", cluster, "a `wmcc.Blocks`, such as wmcc.Blocks(64)")
    if not isinstance(classes, PixelClasses):
        raise InputTypeError("`Blocks` are made of pixels, and the map has polygons.", argument="cluster")
    if how == "stratified" or method == "systematic":
        raise InputTypeError(
            f"blocks are drawn from the whole map, and the sample is to be {how}.",
            "give the number of points as the plan, and leave `method` out.",
            "cluster",
        )
    if metres is not None:
        raise InputTypeError(
            "`min_distance` does not work with blocks, whose points are near each other.",
            "leave it out.",
            "min_distance",
        )


def _drawn_in_blocks(
    classes: PixelClasses, n: int, cluster: Blocks, per_cluster: Any, seed: int
) -> dict[Key, DrawnPlaces]:
    """Draw blocks, and pixels in them."""
    if per_cluster is None:
        raise InputTypeError(
            "`per_cluster` is missing: the number of points in each block.",
            "for instance per_cluster=10.",
            "per_cluster",
        )
    each = whole_number(per_cluster, "per_cluster", 1)
    if n % each:
        raise InputError(
            f"`plan` is {n:,} points and `per_cluster` {each:,}; expected a multiple of it.",
            f"give {max(n // each, 1) * each:,}.",
            "plan",
        )
    sizes = block_sizes(classes, cluster, each)
    return {(): in_blocks(classes, sizes, cluster, n // each, each, np.random.default_rng(seed))}


def _drawn_at_random(
    classes: MapClasses, asked: Asked, metres: float | None, seed: int
) -> tuple[dict[Key, DrawnPlaces], list[str]]:
    """Draw in each class, or in all together; and say what is odd about the numbers."""
    all_of, said = np.arange(len(classes.codes)), []
    parts: list[tuple[Key, str, Any, int]] = [((), "the map", all_of, asked.n)]
    if asked.of_class is not None:
        names, areas = classes.names, classes.areas
        parts = [
            (names[label], f"class {names[label]!r}", all_of[classes.codes == k], n)
            for k, (label, n) in enumerate(asked.of_class.items())
            if n
        ]
        for most, what in (
            (0, "left out, since the plan has no point there. The sample says nothing of this area"),
            (1, "one point only. Without a second one there is no standard error"),
        ):
            few = [label for label, n in asked.of_class.items() if n == most]
            if few:
                shown = name_strata([names[x] for x in few], [f"{number(areas[x])} ha" for x in few])
                said.append(f"{shown}: {what}.")
    sources: list[PlaceSource] = []
    for k, (_, what, among, n) in enumerate(parts):
        rng = np.random.default_rng((seed, k))
        if isinstance(classes, PixelClasses):
            sources.append(PixelSource(classes, among, n, what, rng))
        else:
            sources.append(PolygonSource(classes, among, rng))
    taken = Taker(classes, metres).take(sources, [n for *_, n in parts], lambda h: parts[h][1])
    return {key: own for (key, *_), own in zip(parts, taken, strict=True)}, said


def _sample(
    classes: MapClasses, drawn: Mapping[Key, DrawnPlaces], name: str, how: str, seed: int, metres: float | None,
    said: Sequence[str], sides: tuple[int, int] | None,
) -> DrawnSample:  # fmt: skip
    """Put the points of all strata together, in a random order."""
    crs = classes.raster.crs if isinstance(classes, PixelClasses) else classes.layer.crs
    names, areas, units = [classes.names[x] for x in classes.labels], classes.areas, classes.units
    by_name = {classes.names[label]: label for label in classes.labels}
    strata = tuple(
        DrawnStratum(
            key,
            sum(areas.values()) if key == () else areas[by_name[key]],
            sum(units.values()) if key == () else units[by_name[key]],
            len(own.x),
        )
        for key, own in drawn.items()
    )
    places = joined(list(drawn.values()))
    of = np.repeat(np.arange(len(strata)), [own.n for own in strata])
    lon, lat = EqualArea(crs).lonlat(places.x, places.y)
    across = None if sides is None else -(-classes.raster.shape[1] // sides[1])  # type: ignore[union-attr]
    order = np.random.default_rng((seed, len(of))).permutation(len(of))
    block = places.unit
    points = tuple(
        DrawnPoint(
            place + 1, names[int(places.codes[k])],
            float(places.x[k]), float(places.y[k]), float(lon[k]), float(lat[k]),
            strata[of[k]].size / strata[of[k]].n, strata[of[k]].stratum, strata[of[k]].size,
            None if block is None or across is None else "r{}c{}".format(*divmod(int(block[k]), across)),
        )
        for place, k in enumerate(order.tolist())
    )  # fmt: skip
    return DrawnSample(name, how, seed, metres, _crs_text(crs), strata, points, tuple(said))


def _crs_text(crs: Any) -> str:
    code = crs.to_authority()
    return crs.to_wkt() if code is None else ":".join(code)

"""From the options of a command to tables, and to a result for each."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..core.joint import JointTable
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, LabelWarning, MapWarning, UndefinedMeasureError, UndefinedMeasureWarning, WmccError
from ..present.groups import Groups
from ..present.result import Result
from ..present.text import counted
from ..sources import tabulate, tabulate_part
from ..sources.files import find, is_address
from ..sources.options import AREA, LayerOptions, is_layer, is_raster
from . import sizes, standard_input
from .guard import warn
from .startup import collect_garbage, load
from .stored import Stored, read

if TYPE_CHECKING:
    from .labels import Kind

SMALL = 1 << 26
"""Bytes that are read before a progress bar could be looked at."""

DESIGN = (
    "stratum", "population", "fpc", "lonely", "poststratum", "totals", "replicates", "method", "scales", "fay", "df",
)  # fmt: skip
"""Options that say how rows were drawn."""

FOLDER = "folder"
"""What ``--by`` and ``--cluster`` are for folders of images."""

POPULATION = "population"
"""What is given as ``--fpc`` if ``--population`` counts rows."""

ON_LAYERS = ("layer", "overlay", "overlay_layer", "uncovered", "sliver", "xy", "area")
"""Options of polygons and points alone."""

ON_RASTERS = ("band", "align", "blocks")
"""Options of rasters alone."""

OURS = (UndefinedMeasureWarning, LabelWarning, MapWarning)

T = TypeVar("T", bound=Result)


@dataclass(frozen=True)
class DataOptions:
    """What a command was asked to tabulate: its options by their names."""

    files: tuple[str, ...]
    images: bool = False
    weights: str | None = None
    weight_map: str | None = None
    true: str | None = None
    pred: tuple[str, ...] = ()
    weight: str | None = None
    by: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    stratum: tuple[str, ...] = ()
    population: str | None = None
    fpc: str | None = None
    lonely: str | None = None
    poststratum: tuple[str, ...] = ()
    totals: str | None = None
    replicates: tuple[str, ...] = ()
    method: str | None = None
    scales: str | None = None
    fay: float | None = None
    df: float | None = None
    engine: str | None = None
    input_format: str | None = None
    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: str | None = None
    positive: str | None = None
    join: str | None = None
    on: tuple[str, ...] = ()
    unmatched: str | None = None
    layer: str | None = None
    overlay: tuple[str, ...] = ()
    overlay_layer: str | None = None
    uncovered: str | None = None
    sliver: float | None = None
    xy: str | None = None
    crs: str | None = None
    area: str | None = None
    unit: str | None = None
    band: int | None = None
    align: str | None = None
    blocks: str | None = None

    @property
    def is_stored(self) -> bool:
        """Whether a stored table is meant, rather than data: no columns are named, and nothing is joined."""
        no_columns = self.true is None and not self.pred and self.join is None
        return no_columns and not (self.overlay or self.images or self.of_rasters)

    @property
    def of_rasters(self) -> bool:
        """Whether the files are rasters, the truth and maps, as their endings say."""
        return self.true is None and not (self.images or self.overlay or self.pred) and is_raster(self.files[0])

    @property
    def of_layers(self) -> bool:
        """Whether the files are polygons, or points with coordinates."""
        if self.images or self.of_rasters or self.is_stored:
            return False
        given = LayerOptions(overlay=self.overlay or None, xy=self._xy(), unit=self.unit)  # type: ignore[arg-type]
        return any(is_layer(name, self.weight, given) for name in self.files)

    @property
    def shown_unit(self) -> str | None:
        """The unit that is written beside areas: the one that was named, or that in which areas are measured."""
        if self.unit is not None or self.weight != AREA:
            return self.unit
        return "ha" if self.of_rasters or (self.of_layers and not self._has_area_column) else None

    @property
    def paths(self) -> list[str]:
        """The files, those of folders of images, and copies of standard input and pipes."""
        if self.images:
            from ..sources.images import ImageFolders

            return list(ImageFolders(*self._folders()).paths)
        if self.of_rasters:
            return [self.files[0], *(_named(given)[1] for given in self.files[1:])]
        return [self._path(name) for name in self.files]

    @property
    def other_paths(self) -> list[str]:
        """Files that options name: what is joined or laid over, weights, and sizes; and copies of pipes."""
        named = [self.join, self.weights if self.of_rasters else None, *(_named(x)[1] for x in self.overlay)]
        return [self._path(name) for name in (*(x for x in named if x is not None), *self.size_files)]

    def _path(self, name: str) -> str:
        if not standard_input.is_stream(name):
            return name
        return standard_input.table(name) if self.is_stored else standard_input.data(name, self.input_format)

    # ---- what does not go together ------------------------------------------------------------------------

    def check(self, least: int = 1, most: int | None = 1, stored: int | None = 1, units: bool = False) -> None:
        """Refuse options that do not go together; there are to be so many predictions, or so many stored tables.

        ``units`` if the command writes the unit of weights, which may be those of a table.
        """
        if self.weight != AREA or not (self.of_rasters or self.of_layers):
            self._refuse("{} is for --weight area of polygons: how areas are computed.", "area")
            if not units:
                self._refuse("{} is for --weight area of polygons or pixels: the unit of areas.", "unit")
        if self.images:
            self._check_images(least, most, stored)
            return
        if self.of_rasters:
            self._check_rasters(least, most, stored)
            return
        self._refuse(
            "{} is for folders of images, which are given with --images, and for rasters: truth.tif map.tif.", "weights"
        )
        self._refuse("{} is for folders of images, which are given with --images.", "weight_map")
        self._check_streams()
        if self.join is None:
            self._refuse("{} needs --join, the file that holds the predictions.", "on", "unmatched")
        elif not self.on:
            raise InputError("--join needs --on, the column that identifies a row in both files.", argument="on")
        if self.is_stored:
            folder = next(filter(os.path.isdir, self.files), None)
            if folder is not None:
                raise InputError(
                    f"{folder!r} is a folder; expected --true and --pred, columns of labels in it; or a stored table.",
                    "folders of images are given as --images truth/ pred/.",
                )
            names = ("weight", "by", "cluster", *DESIGN, "engine", "labels", "names", "ignore", "missing", "positive")
            self._refuse_maps()
            self._refuse(
                "{} is for data files, read with --true and --pred; a stored table is already tabulated.", *names
            )
            odd = next((x for x in self.files if not (standard_input.is_stream(x) or x.endswith(".json"))), None)
            if odd is None and stored is not None and len(self.files) > stored:
                raise InputError(
                    f"expected one stored table, or data with --true and --pred; got {len(self.files)} stored tables.",
                    "`wmcc merge` adds up tables; `wmcc drift` compares two of different rows, before and after.",
                )
            if odd is not None:
                raise InputError(
                    f"expected --true and --pred, columns of labels in {odd}; or a stored table.",
                    "data are given as FILE --true label --pred pred; `wmcc merge` adds up stored tables.",
                )
            return
        self._check_layers() if self.of_layers else self._refuse_maps()
        self._check_predictions(least, most)
        self._check_design()
        both = next((name for name in self.cluster if name in self.by), None)
        if both is not None and not self.stratum:
            raise InputError(
                f"--cluster and --by both name {both!r}: each group would be a single cluster.",
                "name a column that has several values in each group, or leave one of them out.",
                "cluster",
            )

    def _check_images(self, least: int, most: int | None, stored: int | None) -> None:
        if stored is None:
            raise InputError(
                "--images does not work here: the tables before and after are of different images.",
                "store each with `wmcc tabulate --images truth/ pred/ -o before.json`, and give the two tables.",
                "images",
            )
        names = ("true", "pred", "weight", "join", "on", "unmatched", *DESIGN, "engine", "input_format")
        self._refuse("{} is for data files; it does not work with --images.", *names)
        self._refuse("{} is for layers and rasters; it does not work with --images.", *ON_LAYERS, *ON_RASTERS, "crs")
        if self.weights is not None and self.weight_map is not None:
            raise InputError("--weights and --weight-map are both given; expected one of them.", argument="weight_map")
        for name in ("by", "cluster"):
            if getattr(self, name) not in ((), (FOLDER,)):
                raise InputError(
                    f"--{name} is {' and '.join(getattr(self, name))!r}; with --images expected the word folder, which "
                    "stands for the folder that an image is in.",
                    argument=name,
                )
        if self.by and self.cluster:
            raise InputError(
                "--cluster and --by both name 'folder': each group would be a single cluster.",
                "leave one of them out.",
                "cluster",
            )
        count = len(self.files) - 1
        file = next(filter(os.path.isfile, self.files), None)
        if file is not None:
            raise InputError(
                f"--images has the file {file!r}; expected folders, or patterns.",
                "put a pattern into quotes, so that the shell leaves it as it is: 'truth/*.png'.",
                "images",
            )
        places = [*self.files[:1], *(_named(given)[1] for given in self.files[1:])]
        if not any(
            "*" in x or os.path.isdir(os.path.expanduser(x)) for x in places
        ):  # nothing shows that folders are meant
            raise InputError(f"there is no folder {places[0]!r}.", argument="images")
        if count < least or (most is not None and count > most):
            several = "at least two predictions" if least > 1 else "one prediction"
            raise InputError(
                f"--images has {counted(len(self.files), 'folder')}; expected that of the truth and {several}.",
                "`wmcc compare` compares several predictions."
                if count > 1
                else f"give them in this order: truth/ pred/{' other/' * (least > 1)}.",
                "images",
            )

    def _check_rasters(self, least: int, most: int | None, stored: int | None) -> None:
        if stored is None:
            raise InputError(
                "rasters do not work here: before and after each need a true raster and a map.",
                "store each with `wmcc tabulate truth.tif map.tif -o before.json`, and give the two tables.",
            )
        names = ("join", "on", "unmatched", *DESIGN, "engine", "input_format", *ON_LAYERS)
        self._refuse("{} is for data files; it does not work with rasters.", *names)
        self._refuse("{} is for folders of images, which are given with --images.", "weight_map")
        if self.weight not in (None, AREA):
            raise InputError(
                f"--weight is {self.weight!r}; with rasters expected the word area.",
                "a raster of weights is given with --weights.",
                "weight",
            )
        if self.weight is not None and self.weights is not None:
            raise InputError("--weight and --weights are both given; expected one of them.", argument="weights")
        for name in ("by", "cluster"):
            given = getattr(self, name)
            if len(given) > 1 or not all(map(is_raster, given)):
                raise InputError(
                    f"--{name} is {' and '.join(given)!r}; with rasters expected one raster of zones.", argument=name
                )
        if self.cluster and self.blocks is not None:
            raise InputError("--cluster and --blocks are both given; expected one of them.", argument="blocks")
        odd = next((own for _, own in map(_named, self.files[1:]) if not is_raster(own)), None)
        if odd is not None:
            raise InputError(
                f"{self.files[0]} is a raster and {odd} is none; expected the true raster and maps of the same pixels.",
                "points in a table are scored on a raster with --overlay: points.csv --xy x,y --overlay map.tif.",
            )
        count = len(self.files) - 1
        if count < least or (most is not None and count > most):
            several = "at least two maps" if least > 1 else "one map"
            raise InputError(
                f"{counted(len(self.files), 'raster is', 'rasters are')} given; expected the true one and {several}.",
                "`wmcc compare` compares several maps."
                if count > 1
                else f"give them in this order: truth.tif map.tif{' other.tif' * (least > 1)}.",
            )
        self._sides()

    def _check_layers(self) -> None:
        if len(self.files) > 1:
            raise InputError(
                f"{len(self.files)} files are given; expected one file of polygons or points.",
                "a map that is laid over it is given with --overlay.",
            )
        self._refuse("{} is for rasters; it does not work with layers of polygons or points.", *ON_RASTERS)
        self._refuse("{} does not work with layers of polygons or points.", "join", "engine")
        if not self.overlay:
            self._refuse("{} needs --overlay, the map that is laid over FILE.", "overlay_layer", "uncovered", "sliver")
        self._overlay()
        self._xy()

    def _refuse_maps(self) -> None:
        """Refuse options of maps with a table; of areas in a table the unit may be named."""
        what = f"{standard_input.said(self.files[0])} has no geometry"
        self._refuse(f"{{}} is for layers of polygons or points, and {what}.", *ON_LAYERS)
        self._refuse(f"{{}} is for rasters; {standard_input.said(self.files[0])} is none.", *ON_RASTERS)
        self._refuse(f"{{}} is for layers and rasters; {what}.", "crs")

    def _check_design(self) -> None:
        for word, keys in (("population", "stratum"), ("fpc", "stratum"), ("totals", "poststratum")):
            given = getattr(self, word)
            if given is not None and sizes.as_number(given) is not None and (getattr(self, keys) or word == "totals"):
                which = "each post-stratum" if word == "totals" else "each stratum"
                raise InputError(
                    f"--{word} is one number, {given}; expected a number for {which}.",
                    f"give a file whose last column has the numbers and whose others have the keys of --{keys}, or the "
                    "name of a column of the data.",
                    word,
                )
        if len(self.replicates) > 1:
            pattern = next((name for name in self.replicates if any(x in name for x in "*?[")), None)
            if pattern is not None:
                raise InputError(
                    f"--replicates is given {len(self.replicates)} times, once as the pattern {pattern!r}; expected "
                    "one pattern, or the name of a column each time.",
                    argument="replicates",
                )

    def _check_predictions(self, least: int, most: int | None) -> None:
        on_raster = bool(self.overlay) and all(is_raster(_named(given)[1]) for given in self.overlay)
        if on_raster:
            self._refuse("{} names a column, and a raster has none; leave it out.", "pred")
        if self.true is None or not (self.pred or on_raster):
            lacking = "--pred" if self.true is not None else "--true"
            given = next(x for x in ("--true", "--pred", "--join", "--overlay") if getattr(self, x[2:]))
            raise InputError(f"{given} needs {lacking}; name both columns of labels.")
        if len(self.overlay) > 1 or on_raster:
            self._check_overlays(least, most)
            return
        if len(self.pred) < least:
            raise InputError(
                f"--pred names {counted(len(self.pred), 'column')}; expected at least {least}, to be compared.",
                "repeat --pred for each classifier.",
                "pred",
            )
        if most is not None and len(self.pred) > most:
            raise InputError(
                f"--pred names {counted(len(self.pred), 'column')}; expected one.",
                "`wmcc compare` compares several predictions.",
                "pred",
            )
        twice = next((name for name in self.pred if self.pred.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"--pred names {twice!r} more than once; expected different columns.", argument="pred")

    def _check_overlays(self, least: int, most: int | None) -> None:
        """Refuse more or fewer maps over points than are expected."""
        count = len(self.overlay)
        if count < least or (most is not None and count > most):
            raise InputError(
                f"--overlay names {counted(count, 'map')}; expected {f'at least {least}' if count < least else 'one'}.",
                "repeat it for each map, as --overlay A=a.tif --overlay B=b.tif."
                if count < least
                else "`wmcc compare` compares several maps.",
                "overlay",
            )

    @property
    def size_files(self) -> list[str]:
        """Files that options of sizes name."""
        given = (self.population, self.fpc, self.totals)
        return [name for name in given if name is not None and sizes.is_file(name)]

    def _check_streams(self) -> None:
        names = [*self.files, *([self.join] if self.join is not None else []), *dict.fromkeys(self.size_files)]
        standard_input.check_once(names)
        if self.input_format is not None and (self.is_stored or not any(map(standard_input.is_stream, names))):
            raise InputError(
                f"--input-format is for -, standard input; the ending of {names[0]!r} gives its format.",
                "rename the file with the right ending (.csv), or give it as standard input: `wmcc … - <FILE`.",
            )

    def _refuse(self, sentence: str, *names: str) -> None:
        for name in names:
            if getattr(self, name):
                raise InputError(sentence.format(f"--{name.replace('_', '-')}"), argument=name)

    # ---- reading --------------------------------------------------------------------------------------------

    def read(self) -> Stored:
        """Return what is stored, or the table of the data."""
        return read(self.files[0]) if self.is_stored else self.tabulated()

    def table(self) -> Table | Tables[Table]:
        """Return the table of one prediction; by group if groups were asked for or stored."""
        return cast("Table | Tables[Table]", self._expected(self.read(), Table))

    def joint(self) -> JointTable | Tables[JointTable]:
        """Return the joint table of several predictions; by group if groups were asked for or stored."""
        return cast("JointTable | Tables[JointTable]", self._expected(self.read(), JointTable))

    def _expected(self, found: Any, kind: type[Any]) -> Any:
        one = next(iter(found.values()), None) if isinstance(found, Tables) else found
        if one is None or isinstance(one, kind):
            return found
        name = standard_input.said(self.files[0])
        if kind is Table:
            raise InputError(
                f"{name} holds a table of several predictions; expected a table of one prediction.",
                "`wmcc compare`, `wmcc rank` and `wmcc report` read it.",
            )
        raise InputError(
            f"{name} holds a table of one prediction; a comparison needs the rows, or a table, of both.",
            "give data with --true and a --pred for each, or `wmcc tabulate` them with all --pred; "
            "`wmcc drift` compares tables of different rows.",
        )

    def check_bounds(self, bounds: Mapping[str, str], eps: object, relative: bool | None) -> None:
        """Refuse bounds of the weights where they do not go together with other options."""
        if not bounds:
            return
        side = next(iter(bounds))
        if eps or relative is not None:
            name = "eps" if eps else "relative" if relative else "absolute"
            raise InputError(
                f"--{name} cannot be given with --lower and --upper, which say how far weights may be off.",
                argument=name,
            )
        if self.images or self.of_rasters:
            what = "--images" if self.images else "rasters"
            raise InputError(f"--{side} names a column of a data file; it does not work with {what}.", argument=side)
        if self.population is not None and self.weight is None:
            raise InputError(
                f"--{side} is a bound of --weight; with --population, weights follow from the sizes of strata.",
                "give the weights of the design as --weight, and leave --population out.",
                side,
            )
        if self.is_stored:
            raise InputError(
                f"--{side} names a column of a data file; name its labels with --true and --pred.", argument=side
            )

    def bounds(self, columns: Mapping[str, str]) -> dict[str, Stored]:
        """Return the tables of the same rows with their smallest and their largest weights, by side."""
        return {side: self.tabulated(column) for side, column in columns.items()}

    def tabulated(self, weight: str | None = None, is_part: bool = False) -> Stored:
        """Read the data and tabulate them.

        ``weight`` takes the place of the column of weights; ``is_part`` if the data may be a part of a sample, in which
        some strata have no row.
        """
        if self.images:
            return self._of_images()
        if self.of_rasters:
            return self._of_rasters()
        paths = self.paths
        data: Any = paths[0] if len(paths) == 1 else paths
        join = None if self.join is None else self._path(self.join)
        keys = self.by or self.cluster or self.stratum or self.poststratum
        of_layers = self.of_layers
        load(arrow=not (keys or join or of_layers) and self.engine in (None, "arrow"))
        pred: Any = dict(zip(self.pred, self.pred, strict=True)) if len(self.pred) > 1 else next(iter(self.pred), None)
        options: dict[str, Any] = {
            "true": self.true,
            "pred": pred,
            "weight": weight or self.weight,
            "engine": self.engine,
            "progress": None if of_layers or _are_large([*paths, *([join] if join else [])]) else False,
            **self._labels(lambda: self._kind(data, join)),
        }
        if of_layers:
            options |= self._layer_options()
        if join is not None:
            options |= {"join": join, "on": list(self.on), "unmatched": self.unmatched or "error"}
        for name in ("by", "cluster", "stratum", "poststratum", "replicates"):
            if several_columns := getattr(self, name):
                options[name] = several_columns[0] if len(several_columns) == 1 else list(several_columns)
        options |= self._design()
        if self.missing is not None:
            options["missing"] = self.missing
        with _warned(""):
            found: Stored = (tabulate_part if is_part and self._has_sizes() else tabulate)(data, **options)
        return found

    def _has_sizes(self) -> bool:
        return (self.population, self.fpc, self.totals) != (None, None, None)

    def _design(self) -> dict[str, Any]:
        """Return what is known of strata, of post-strata and of replicate weights."""
        found: dict[str, Any] = {"lonely": self.lonely, "method": self.method, "fay": self.fay, "df": self.df}
        found["scales"] = None if self.scales is None else sizes.read_scales(self.scales)
        found["population"] = self._sizes("population", self.population, self.stratum)
        found["fpc"] = True if self.fpc == POPULATION else self._sizes("fpc", self.fpc, self.stratum)
        found["totals"] = self._sizes("totals", self.totals, self.poststratum)
        return {name: x for name, x in found.items() if x is not None}

    def _sizes(self, word: str, given: str | None, keys: tuple[str, ...]) -> Any:
        """Return the numbers of a file by key, one number, or the name of a column."""
        if given is None:
            return None
        if sizes.is_file(given):
            return sizes.read_sizes(given, word, keys)
        number = sizes.as_number(given)
        return given if number is None else number

    def _of_images(self) -> Stored:
        """Read folders of images and tabulate them."""
        options: dict[str, Any] = self._labels(lambda: int)
        for name in ("by", "cluster"):
            if getattr(self, name):
                options[name] = FOLDER
        if self.missing is not None:
            options["missing"] = self.missing
        collect_garbage()
        with _warned(""):
            found: Stored = tabulate(*self._weighted_folders(options), **options)
        return found

    def _of_rasters(self) -> Stored:
        """Read rasters and tabulate them."""
        options = self._labels(lambda: int) | self._given("missing", "crs", "band", "align", *self._units)
        options |= {name: own[0] for name in ("by", "cluster") if (own := getattr(self, name))}
        if self.blocks is not None:
            options["blocks"] = self._blocks(self.blocks)
        truth, pred = self._sides()
        collect_garbage()
        with _warned(""):
            found: Stored = tabulate(truth, pred, self.weights or self.weight, **options)
        return found

    @property
    def _units(self) -> tuple[str, ...]:
        """The option of the unit, if areas are measured in it."""
        return ("unit",) if self.weight == AREA else ()

    def _given(self, *names: str) -> dict[str, Any]:
        return {name: own for name in names if (own := getattr(self, name)) is not None}

    def _blocks(self, text: str) -> int | tuple[int, int]:
        """The sides of blocks: ``64``, or ``64,128``."""
        sides = [int(x) if x.strip().isdecimal() else 0 for x in text.split(",")]
        if not (1 <= len(sides) <= 2 and min(sides) > 0):
            raise InputError(
                f"--blocks is {text!r}; expected a number of pixels, or rows and columns, as 64,128.", argument="blocks"
            )
        return sides[0] if len(sides) == 1 else (sides[0], sides[1])

    def _layer_options(self) -> dict[str, Any]:
        """Return what `wmcc.tabulate` is told of layers."""
        found = self._given("layer", "overlay_layer", "uncovered", "sliver", "crs", "area", *self._units)
        if self.overlay:
            found["overlay"] = self._overlay()
        if self.xy is not None:
            found["xy"] = self._xy()
        return found

    def _overlay(self) -> Any:
        """The map that is laid over the data, or several by name."""
        named = [_named(given) for given in self.overlay]
        _check_names(named, "--overlay old=a.tif --overlay new=b.tif", "overlay")
        return dict(named) if len(named) > 1 else next((own for _, own in named), None)

    def _xy(self) -> tuple[str, str] | None:
        """The columns of coordinates."""
        if self.xy is None:
            return None
        names = [name.strip() for name in self.xy.split(",")]
        if len(names) != 2 or not all(names):
            raise InputError(f"--xy is {self.xy!r}; expected two columns of coordinates, as lon,lat.", argument="xy")
        return names[0], names[1]

    @property
    def _in_geoparquet(self) -> bool:
        """Whether the data are one file of Parquet with geometry, which tables need for areas only."""
        alone = len(self.files) == 1 and not (self.is_stored or self.images or self.join)
        return alone and is_layer(self.files[0], AREA, LayerOptions(unit="ha"))

    @property
    def _has_area_column(self) -> bool:
        """Whether a layer has a column of areas, which is then taken as it is."""
        from ..geo.layers import column_names

        return AREA in column_names(self.paths[0], self.layer)

    def _weighted_folders(self, options: Mapping[str, Any]) -> tuple[str, Any, Any]:
        """Return folders of the truth, of predictions and of weights, or what makes weights of the truth."""
        truth, preds, weights = self._folders()
        if self.weight_map is not None:
            from ..weightmaps import named

            weights = named(self.weight_map, ignore=options.get("ignore"))
        return truth, preds, weights

    @property
    def images_are_clusters(self) -> bool:
        """Whether folders of images are tabulated, and each image is a cluster."""
        return self.images and not self.cluster

    def pictures(self) -> dict[str, Any]:
        """Return the folders of images and the names of classes that a report is given; nothing without images."""
        if not self.images_are_clusters:
            return {}
        options = self._labels(lambda: int)
        return {"images": self._weighted_folders(options), "names": options.get("names")}

    def _folders(self) -> tuple[str, Any, Any]:
        """Return folders of the truth, of one prediction or of several by name, and of weights."""
        return *self._sides(), self.weights

    def error_maps(self) -> Any:
        """Return where the prediction is wrong, or each of several by name, for a report; None without places."""
        if not (self.of_rasters or self.of_layers or self._in_geoparquet):
            return None
        from ..mapping.error_map import error_map

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MapWarning)  # it was said when the data were tabulated
            if self.of_rasters:
                options = self._labels(lambda: int) | self._given("missing", "crs", "band", "align", *self._units)
                truth, pred = self._sides()
                if not isinstance(pred, dict):
                    return error_map(truth, pred, **options)
                return {name: error_map(truth, own, **options) for name, own in pred.items()}
            data = self.paths[0]
            options = self._labels(lambda: self._kind(data, None)) | {"true": self.true, "xy": self._xy()}
            options |= self._given("missing", "layer", "overlay_layer", "crs", *self._units)
            overlay = self._overlay()
            if isinstance(overlay, dict):
                pred = next(iter(self.pred), None)
                return {name: error_map(data, overlay=own, pred=pred, **options) for name, own in overlay.items()}
            maps = {name: error_map(data, overlay=overlay, pred=name, **options) for name in self.pred or (None,)}
            return maps if len(maps) > 1 else next(iter(maps.values()))

    def _sides(self) -> tuple[str, Any]:
        """Return the folder or raster of the truth, and that of one prediction, or of several by name."""
        truth, *others = self.files
        named = [_named(given) for given in others]
        place, argument = ("pred/", "images") if self.images else ("map.tif", None)
        _check_names(named, f"old=runs/1/{place} new=runs/2/{place}", argument)
        return truth, dict(named) if len(named) > 1 else named[0][1]

    def _kind(self, data: Any, join: Any) -> Kind:
        """What the columns of labels hold."""
        from .labels import kind_of, kind_of_layers

        if self.of_layers:
            return kind_of_layers(self._sides_of_layers(data))
        sides = [(data, str(self.true)), *((join or data, pred) for pred in self.pred)]
        return kind_of(sides, self.engine, join is not None)

    def _sides_of_layers(self, data: Any) -> Iterator[Any]:
        """Columns of labels of layers, as they are read."""
        from ..geo.layers import read_layer
        from ..sources.layers import from_text

        names = dict.fromkeys([str(self.true), *(() if self.overlay else self.pred)])
        read = read_layer(data, layer=self.layer, crs=self.crs, columns=[*names], xy=self._xy(), geometry=False)
        yield from_text(read.frame, data)
        for _, own in map(_named, self.overlay):
            if not is_raster(own):
                yield read_layer(own, layer=self.overlay_layer, columns=self.pred, crs=self.crs, geometry=False).frame

    def _labels(self, find_kind: Callable[[], Kind]) -> dict[str, Any]:
        """Labels of the kind that there is; data are looked at only where a label is given."""
        if not (self.labels or self.ignore or self.names or self.positive is not None):
            return {}
        from . import labels  # brings engines, which most requests do without

        kind = find_kind()
        found: dict[str, Any] = {}
        if self.labels:
            found["labels"] = labels.several(self.labels, kind, "--labels")
        if self.ignore:
            found["ignore"] = labels.several(self.ignore, kind, "--ignore")
        if self.names:
            found["names"] = labels.names(self.names, kind)
        if self.positive is not None:
            found["positive"] = labels.one(self.positive, kind, "--positive")
        return found


def _named(given: str) -> tuple[str, str]:
    """The name of a prediction and its folder: ``new=pred/``, or ``pred/``, which is called pred."""
    name, equals, folder = given.partition("=")
    if equals and name and not os.path.exists(given) and "/" not in name:
        return name, folder
    return given.rstrip("/" + os.sep) or given, given


def _check_names(named: Sequence[tuple[str, str]], example: str, argument: str | None) -> None:
    """Refuse two predictions of the same name."""
    names = [name for name, _ in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two predictions are called {twice!r}; expected different names.",
            f"give each a name, as {example}.",
            argument,
        )


def _are_large(names: list[str]) -> bool:
    if any(map(is_address, names)):
        return True
    return sum(os.path.getsize(path) for name in names for path in find(name).paths) > SMALL


def rehearse(ask: Callable[[Any], object], preds: Sequence[str] = (), clusters: bool = False) -> None:
    """Ask about a few rows first: what is wrong with the options is said before data are read, which may take long."""
    truth, guess = [0, 0, 0, 1, 1, 1] * 5, [0, 0, 1, 1, 1, 0] * 5
    drawn: dict[str, Any] = {"cluster": [k // 6 for k in range(30)]} if clusters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        preds_of = {name: guess[k:] + guess[:k] for k, name in enumerate(preds)}
        ask(tabulate(truth, preds_of or guess, **drawn))


def per_group(
    found: Any,
    ask: Callable[..., T],
    noted: tuple[type[WmccError], ...] = (InputError, UndefinedMeasureError),
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> T | Groups:
    """Ask about a table, or about each of several.

    What stands ``beside`` a table, such as one of the same rows with other weights, is handed on by name.
    """
    if not isinstance(found, Tables):
        with _warned(""):
            return ask(found, **beside)

    def ask_of(key: Any) -> T:
        return ask(found[key], **{name: own[key] for name, own in beside.items()})

    return Groups.of(found, ask_of, noted, _warned)


@contextmanager
def _warned(where: str) -> Iterator[None]:
    """Say what the library warns of, and of which group."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in OURS:
            warnings.simplefilter("always", kind)
        yield
    for other in (w for w in caught if not issubclass(w.category, OURS)):
        warnings.showwarning(other.message, other.category, other.filename, other.lineno)
    for sentence in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, OURS)):
        warn(f"{where}{sentence}")


def each(result: Result) -> Sequence[tuple[str, Any]]:
    """Return the results of groups with their titles; of one that is no group, itself."""
    if not isinstance(result, Groups):
        return [("", result)]
    return [(f"{result.title(key)}: ", one) for key, one in result.results.items() if not isinstance(one, str)]

"""From the options of a command to one call of `wmcc.tabulate`, and from tables to a result for each.

Options become the library's values, and the rules between them are the library's. Here are those of the command line
itself: what FILE... may be, how many predictions a command takes, and options that nothing here has a use for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal, TypeVar

from ..core.joint import JointTable
from ..core.table import Table
from ..core.tables import Tables
from ..errors import (
    InputError,
    LabelWarning,
    MapWarning,
    UndefinedMeasureError,
    UndefinedMeasureWarning,
    WmccError,
    missing_file,
)
from ..present.groups import Groups
from ..present.result import Result
from ..present.text import counted
from ..sources import tabulate, tabulate_part
from ..sources.files import find, is_address
from ..sources.recognised import is_layer, is_raster
from ..sources.request import AREA, MAP, Request, check
from ..sources.values import Area, Blocks, Design, Files, Join, Layer, Overlay, PostStrata, Replicates, Strata
from . import sizes, standard_input
from .guard import warn
from .options import NAMES, TABLE, written
from .startup import load
from .stored import read

SMALL = 1 << 26
"""Bytes that are read before a progress bar could be looked at."""

POPULATION = "population"
"""What is given as ``--fpc`` if ``--population`` counts rows."""

DESIGN = "design"
"""What is given as ``--df`` for the textbook's degrees of freedom of a sample in strata."""

STRATA = ("stratum", "population", "fpc", "lonely", "poststratum", "totals")

OURS = (UndefinedMeasureWarning, LabelWarning, MapWarning)

T = TypeVar("T", bound=Result)

Kind = Literal["images", "rasters", "stored", "layers", "columns"]


class DataOptions(SimpleNamespace):
    """What a command was asked to tabulate: the options of `options.DATA` by their names, and ``files``."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.used: set[str] = {"files", "images"}
        self.of_scores, self.chooses = bool(self.score or self.threshold), False

    def of(self, file: str) -> DataOptions:
        """Return the same options of one file."""
        return DataOptions(**{name: getattr(self, name) for name in NAMES} | {"files": (file,)})

    def take(self, name: str) -> Any:
        """Return an option, which is of use for these data then."""
        self.used.add(name)
        given = getattr(self, name)
        if not isinstance(given, tuple) or name in ("labels", "ignore", "names", "overlay"):
            return given
        return None if not given else given[0] if len(given) == 1 else list(given)

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of some options that were given, by their names, which are parameters of a value."""
        return {name: x for name in names if (x := self.take(name)) is not None}

    # ---- what the files are --------------------------------------------------------------------------------

    @cached_property
    def kind(self) -> Kind:
        """What the files are, as the options and the ends of their names say.

        A stored table is meant where no columns are named, and nothing is joined.
        """
        if self.images:
            return "images"
        if not (self.true or self.pred or self.score or self.overlay):
            if is_raster(self.files[0]):
                return "rasters"
            if not self.join:
                return "stored"
        weight = Area() if self.unit and self.weight == AREA else self.weight
        placed = self.overlay or self.xy or self.layer or self.crs or any(is_layer(x, weight) for x in self.files)
        return "layers" if placed else "columns"

    @property
    def of_pixels(self) -> bool:
        """Whether each file or folder holds the labels of one side: the truth, or a prediction."""
        return self.kind in ("images", "rasters")

    @property
    def kind_in_words(self) -> str:
        """What the files are, in a sentence."""
        words = {"images": "--images", "stored": "a stored table", "columns": standard_input.said(self.files[0])}
        return words.get(self.kind, self.kind)

    @property
    def predicted(self) -> list[tuple[str, str]]:
        """Names of predictions, and folders or rasters of them, where these are apart from the truth."""
        return list(map(_named, self.files[1:]))

    @property
    def maps(self) -> list[tuple[str, str]]:
        """Names of maps that are laid over the data, and their files."""
        return list(map(_named, self.overlay))

    @property
    def shown_unit(self) -> str | None:
        """The unit that is written beside areas: the one that was named, or that in which areas are measured."""
        if self.overlay and self.population == MAP:
            return self.unit or "ha"
        if self.unit is not None or self.weight != AREA:
            return self.unit  # type: ignore[no-any-return]
        return "ha" if self.kind == "rasters" or (self.kind == "layers" and not self._has_area_column) else None

    @property
    def _has_area_column(self) -> bool:
        """Whether a layer has a column of areas, which is then taken as it is."""
        from ..geo.layers import column_names

        return AREA in column_names(self.paths[0], self.layer)

    @cached_property
    def paths(self) -> list[str]:
        """The files, those of folders of images, and copies of standard input and pipes."""
        if self.images:
            from ..sources.images import ImageFolders

            return list(ImageFolders(*self._sides(), self.take("weights")).paths)
        if self.kind == "rasters":
            return [self.files[0], *(path for _, path in self.predicted)]
        return [self._path(name) for name in self.files]

    @property
    def other_paths(self) -> list[str]:
        """Files that options name: what is joined or laid over, weights, and sizes; and copies of pipes."""
        named = [self.join, self.weights if self.kind == "rasters" else None, *(path for _, path in self.maps)]
        return [self._path(name) for name in (*filter(None, named), *self._size_files)]

    @property
    def _size_files(self) -> list[str]:
        return [name for name in (self.population, self.fpc, self.totals) if name is not None and sizes.is_file(name)]

    def _path(self, name: str) -> str:
        if not standard_input.is_stream(name):
            return name
        return standard_input.table(name) if self.kind == "stored" else standard_input.data(name, self.input_format)

    # ---- what does not go together -------------------------------------------------------------------------

    def check(
        self, least: int = 1, most: int | None = 1, stored: int | None = 1, units: bool = False, scores: bool = False
    ) -> None:
        """Refuse what cannot be tabulated, before it is read.

        There are to be so many predictions, or so many stored tables; ``units`` if the command writes the unit of
        weights, which may be those of a table; ``scores`` if it is of scores, and chooses the threshold itself.
        """
        if units:
            self.used.add("unit")
        if scores:
            self.of_scores = self.chooses = True
            self._check_chosen()
        elif self.score or self.kind == "stored":
            self.used.add("threshold")
        self._check_streams()
        if self.kind == "stored":
            self._check_stored(stored)
            self._refuse_unused()
            return
        if stored is None and self.of_pixels:
            what, how = (
                ("--images does", "--images truth/ pred/") if self.images else ("rasters do", "truth.tif map.tif")
            )
            hint = f"store each with `wmcc tabulate {how} -o before.json`, and give the two tables."
            raise InputError(f"{what} not work here: before and after each need a truth and a prediction.", hint)
        self._check_places()
        self._check_count(least, most)
        call = self.call()
        self._refuse_unused()
        check(call)

    def _refuse_unused(self) -> None:
        """Refuse an option that these data have no use for."""
        odd = next(
            (name for name in NAMES if getattr(self, name) not in (None, False, ()) and name not in self.used), None
        )
        if odd is None:
            return
        home = TABLE[odd].home
        if self.replicates and odd in STRATA:
            raise InputError(
                f"--replicates and {written(odd)} were given; replicate weights already describe how rows were drawn.",
                f"leave {written(odd)} out.",
                odd,
            )
        why = f"is for {home}; it does not work with {self.kind_in_words}"
        if self.kind == "stored" and not home.startswith("--join"):
            why = "is for data files, read with --true and --pred; a stored table is already tabulated"
        elif home.startswith(("--join", "--overlay", "--score")):
            why = f"needs {home}"
        raise InputError(f"{written(odd)} {why}.", argument=odd)

    def _one_of(self, first: str, second: str) -> None:
        if getattr(self, first) and getattr(self, second):
            raise InputError(
                f"{written(first)} and {written(second)} are both given; expected one of them.", argument=second
            )

    def _check_chosen(self) -> None:
        """Refuse labels, and a threshold, where a threshold is to be chosen."""
        if self.pred or (self.true and not self.score):
            given = "--pred" if self.pred else "--true without --score"
            raise InputError(
                f"{given} was given; expected --true and --score, the columns of labels and of scores.",
                argument="score",
            )
        if self.threshold:
            hint = "`wmcc score --threshold` scores the labels of one threshold."
            raise InputError("--threshold was given, which this command chooses.", hint, "threshold")

    def _check_stored(self, stored: int | None) -> None:
        folder = next(filter(os.path.isdir, self.files), None)
        if folder is not None:
            said = f"{folder!r} is a folder; expected --true and --pred, columns of labels in it; or a stored table."
            raise InputError(said, "folders of images are given as --images truth/ pred/.")
        odd = next((x for x in self.files if not (standard_input.is_stream(x) or x.endswith(".json"))), None)
        if odd is not None and self.chooses:
            said = (
                f"expected --true and --score, the columns of labels and of scores in {odd}; or a stored score table."
            )
            raise InputError(said, "for instance FILE --true label --score probability.", "score")
        if odd is not None:
            hint = "data are given as FILE --true label --pred pred; `wmcc merge` adds up stored tables."
            raise InputError(f"expected --true and --pred, columns of labels in {odd}; or a stored table.", hint)
        if stored is not None and len(self.files) > stored:
            said = f"expected one stored table, or data with --true and --pred; got {len(self.files)} stored tables."
            hint = "`wmcc merge` adds up tables; `wmcc drift` compares two of different rows, before and after."
            raise InputError(said, hint)

    def _check_places(self) -> None:
        """Refuse files that are no folders, no rasters, or several layers."""
        if self.images:
            file = next(filter(os.path.isfile, self.files), None)
            if file is not None:
                hint = "put a pattern into quotes, so that the shell leaves it as it is: 'truth/*.png'."
                raise InputError(f"--images has the file {file!r}; expected folders, or patterns.", hint, "images")
            places = [self.files[0], *(path for _, path in self.predicted)]
            if not any("*" in x or os.path.isdir(os.path.expanduser(x)) for x in places):  # else the library looks
                raise missing_file(places[0], "folder")
        elif self.kind == "rasters":
            odd = next((path for _, path in self.predicted if not is_raster(path)), None)
            if odd is not None:
                raise InputError(
                    f"{self.files[0]} is a raster and {odd} is none; expected the true raster and maps of the same "
                    "pixels.",
                    "points in a table are scored on a raster with --overlay: points.csv --xy x,y --overlay map.tif.",
                )
        elif self.kind == "layers" and len(self.files) > 1:
            hint = "a map that is laid over it is given with --overlay."
            raise InputError(f"{len(self.files)} files are given; expected one file of polygons or points.", hint)

    def _check_count(self, least: int, most: int | None) -> None:
        """Refuse fewer or more predictions than a command takes."""
        on_raster = any(is_raster(path) for _, path in self.maps)
        if self.of_pixels:
            count = len(self.files) - 1
            one, place = ("folder", "truth/ pred/ other/") if self.images else ("raster", "truth.tif map.tif other.tif")
            place = place if least > 1 else place.rpartition(" ")[0]
            name, more = f"{counted(count, f'predicted {one}')} after the true one", f"give them in this order: {place}"
        elif self.score:
            self._one_of("pred", "score")
            self._one_of("overlay", "score")
            count, name, more = len(self.score), f"--score names {counted(len(self.score), 'column')}", "repeat --score"
        elif self.overlay and (on_raster or len(self.overlay) > 1):
            count, name, more = (
                len(self.overlay),
                f"--overlay names {counted(len(self.overlay), 'map')}",
                "repeat --overlay",
            )
        else:
            count, name, more = len(self.pred), f"--pred names {counted(len(self.pred), 'column')}", "repeat --pred"
        for word in ("pred", "score"):
            names = getattr(self, word)
            twice = next((x for x in names if names.count(x) > 1), None)
            if twice is not None:
                raise InputError(
                    f"{written(word)} names {twice!r} more than once; expected different columns.", argument=word
                )
        if not self.of_pixels and (self.true is None or not (self.pred or self.score or on_raster)):
            given = next(x for x in ("true", "pred", "score", "join", "overlay") if getattr(self, x))
            lacking = "--pred" if self.true is not None else "--true"
            both = "the columns of labels and of scores" if self.score else "both columns of labels"
            raise InputError(f"{written(given)} needs {lacking}; name {both}.")
        if count < least:
            few = f"at least {least}, to be compared" if least > 1 else "one"
            raise InputError(f"{name}; expected {few}.", f"{more}.")
        if most is not None and count > most:
            raise InputError(f"{name}; expected one.", "`wmcc compare` compares several predictions.")

    def _check_streams(self) -> None:
        names = [*self.files, *filter(None, [self.join]), *dict.fromkeys(self._size_files)]
        standard_input.check_once(names)
        if self.kind != "stored" and any(map(standard_input.is_stream, names)):
            self.used.add("input_format")
        if self.input_format is not None and "input_format" not in self.used:
            said = f"--input-format is for -, standard input; the ending of {names[0]!r} gives its format."
            hint = "rename the file with the right ending (.csv), or give it as standard input: `wmcc … - <FILE`."
            raise InputError(said, hint)

    # ---- one call --------------------------------------------------------------------------------------------

    def call(self, weight: str | None = None, reads: bool = False) -> Request:
        """Return what these options ask of `wmcc.tabulate`.

        ``weight`` takes the place of the column of weights. Labels, files of sizes and streams are there if it
        ``reads``, and else as they were typed.
        """
        self.used |= {"labels", "ignore", "names", "positive", "missing"}
        if self.images:
            values = self._of_images()
        else:
            values = self._of_rasters() if self.kind == "rasters" else self._of_columns(weight, reads)
        call = Request(**{"by": self.take("by"), "cluster": self.take("cluster"), **values})
        call = call._replace(missing=self.missing or "error")
        return call._replace(**self._labels()) if reads else call

    def _of_images(self) -> dict[str, Any]:
        self._one_of("weights", "weight_map")
        truth, pred = self._sides()
        weights = self.take("weights")
        if self.take("weight_map") is not None:
            from ..weightmaps import named

            weights = named(self.weight_map, ignore=self._labels().get("ignore"))
        return {"y_true": truth, "y_pred": pred, "sample_weight": weights}

    def _of_rasters(self) -> dict[str, Any]:
        truth, pred = self._sides()
        blocks, area, weights = self.take("blocks"), self._area(), self.take("weights")
        self._one_of("weight", "weights")
        self._one_of("cluster", "blocks")
        if self.take("weight") not in (None, AREA):
            raise InputError(
                f"--weight is {self.weight!r}; with rasters expected the word area, or a raster as --weights.",
                argument="weight",
            )
        crs, band, resample = self.take("crs"), self.take("band"), self.take("resample")
        values = {
            "y_true": as_raster(truth, crs, band),
            "y_pred": _each(pred, lambda path: as_raster(path, crs, band, resample)),
            "sample_weight": area if weights is None else as_raster(weights, crs),
        }
        for name in ("by", "cluster"):
            given = getattr(self, name)
            if len(given) > 1 or not all(map(is_raster, given)):
                raise InputError(
                    f"{written(name)} is {' and '.join(given)!r}; with rasters expected one raster of zones.",
                    argument=name,
                )
            if given:
                values[name] = as_raster(given[0], crs, resample=resample)
        return values if blocks is None else values | {"cluster": as_blocks(blocks)}

    def _of_columns(self, weight: str | None, reads: bool) -> dict[str, Any]:
        """Return what is asked of columns of files, of layers, and of maps that are laid over them."""
        place = self._path if reads else str
        paths = self.paths if reads else list(self.files)
        data: Any = paths[0] if len(paths) == 1 else paths
        join, engine = self.take("join"), None
        if self.kind != "layers" or join is not None:
            engine = self.take("engine")
        if self.xy or self.layer or self.crs:
            data = Layer(data, self.take("layer"), xy=_xy(self.take("xy")), crs=self.take("crs"))
        elif engine is not None:
            data = Files(data, engine=engine)
        if join is not None:
            other: Any = place(join)
            other = other if engine is None else Files(other, engine=engine)
            data = Join(data, other, self.take("on"), **self.given("unmatched"))
        if self.overlay:
            data = self._overlaid(data)
        true, pred, weight = self.take("true"), self.take("pred"), weight or self.take("weight")
        if isinstance(pred, list):
            pred = dict(zip(pred, pred, strict=True))
        weight = self._area() if weight == AREA else weight
        columns = {"true": true, "pred": pred, "weight": weight}
        if self.score:
            cuts = self.take("thresholds")
            columns |= {"score": self.take("score"), "thresholds": cuts and sizes.read_numbers(cuts, "thresholds")}
        return {"y_true": data, **columns, "design": self._design(reads)}

    def _overlaid(self, data: Any) -> Overlay:
        """Lay the map, or several by name, over the data."""
        layer, crs = self.take("overlay_layer"), self.take("overlay_crs")
        self.take("overlay")
        _check_names(self.maps, "--overlay old=a.tif --overlay new=b.tif", "overlay")
        maps = {
            name: as_raster(path, crs, self.take("band")) if is_raster(path) else Layer(path, layer, crs=crs)
            for name, path in self.maps
        }
        laid = maps if len(maps) > 1 else next(iter(maps.values()))
        return Overlay(data, laid, **self.given("uncovered", "sliver"))

    def _area(self) -> Any:
        """Return what weighs by area, if ``--weight area`` was given: a column, or areas of polygons or pixels."""
        if self.weight != AREA:
            return None
        unit = self.take("unit") if self.kind in ("rasters", "layers") else None
        return AREA if unit is None else Area(unit)

    def _design(self, reads: bool) -> Design | None:
        """Return how rows were drawn."""
        df = self.take("df")
        how = self.given("replicates", "method", "scales", "fay")
        if df is not None and df != DESIGN and not how and self.stratum:
            said = f"--df is {df!r}; with --stratum expected the word design: the clusters or rows less the strata."
            raise InputError(said, "leave --df out for degrees of freedom that allow for uneven units.", "df")
        if how or (df is not None and df != DESIGN):
            scales = sizes.read_scales(how.pop("scales")) if "scales" in how else None
            return Replicates(how.pop("replicates", None), scales=scales, df=_freedom(df), **how)

        def known(word: str, keys: tuple[str, ...]) -> Any:
            return sizes.known(self.take(word), word, keys) if reads else self.take(word)

        strata = None
        if df is not None or any(getattr(self, name) for name in STRATA[:4]):
            fpc = True if self.take("fpc") == POPULATION else known("fpc", self.stratum)
            population = known("population", self.stratum)
            strata = Strata(self.take("stratum"), population=population, fpc=fpc, df=df, **self.given("lonely"))
        if not (self.poststratum or self.totals):
            return strata
        return PostStrata(self.take("poststratum"), known("totals", self.poststratum), design=strata)

    def _labels(self) -> dict[str, Any]:
        """Labels of the kind that there is; data are looked at only where a label is given."""
        if not (self.labels or self.ignore or self.names or self.positive is not None):
            return {}
        from . import labels  # brings engines, which most requests do without

        over_raster = any(is_raster(path) for _, path in self.maps)
        kind = int if self.of_pixels else labels.kind_of(self._label_columns(), over_raster)
        lists = {name: getattr(self, name) for name in ("labels", "ignore")}
        values: dict[str, Any] = {x: labels.several(texts, kind, f"--{x}") for x, texts in lists.items() if texts}
        if self.names:
            values["names"] = labels.names(self.names, kind)
        if self.positive is not None:
            values["positive"] = labels.one(self.positive, kind, "--positive")
        return values

    def _label_columns(self) -> Iterator[tuple[Any, Sequence[str]]]:
        """Return files, or frames of layers, and which columns of labels are there."""
        paths = self.paths
        if self.kind != "layers":
            yield paths[0] if len(paths) == 1 else paths, [self.true, *self.pred]
            if self.join is not None:
                yield self._path(self.join), self.pred
            return
        from ..geo.layers import read_layer
        from ..sources.layers import from_text

        names = list(dict.fromkeys([self.true, *(() if self.overlay or self.join else self.pred)]))
        place = {"layer": self.layer, "crs": self.crs, "xy": _xy(self.xy)}
        yield from_text(read_layer(paths[0], columns=names, geometry=False, **place).frame, paths[0]), names
        if self.join is not None:
            yield self._path(self.join), self.pred
        for _, path in self.maps:
            if not is_raster(path):
                layer = {"layer": self.overlay_layer, "crs": self.overlay_crs}
                yield read_layer(path, columns=self.pred, geometry=False, **layer).frame, self.pred

    def _sides(self) -> tuple[str, Any]:
        """Return the folder or raster of the truth, and that of one prediction, or of several by name."""
        place, named = "pred/" if self.images else "map.tif", self.predicted
        _check_names(named, f"old=runs/1/{place} new=runs/2/{place}", "images" if self.images else None)
        return self.files[0], dict(named) if len(named) > 1 else named[0][1]

    # ---- reading ---------------------------------------------------------------------------------------------

    def read(self) -> Any:
        """Return what is stored, or the table of the data; of scores that of the labels that ``--threshold`` makes."""
        if self.score:
            from .scores import cut

            cut(self.threshold, self._said)  # refused before data are read
        return self._labelled(self.given_table())

    def scores(self) -> Any:
        """Return score tables, as they are stored or as the data have them."""
        from .scores import is_scores

        found = self.given_table()
        if not is_scores(found):
            said = f"{self._said} holds a table of labels; expected scores."
            raise InputError(said, "give data with --true and --score, or `wmcc tabulate` them with -o.", "score")
        return found

    def given_threshold(self, found: Any) -> Any:
        """Return ``--threshold`` for these score tables; None for the best one."""
        from .scores import BEST, cut, is_scores

        if not is_scores(found):
            self._labelled(found)  # which says so
        return None if self.threshold == (BEST,) else cut(self.threshold, self._said)

    def given_table(self) -> Any:
        """Return what is stored, or the table of the data."""
        return read(self.files[0]) if self.kind == "stored" else self.tabulated()

    def part(self) -> Any:
        """Return the table of data that may be a part of a sample; of scores as it is, unless ``--threshold`` asks."""
        found = self.tabulated(is_part=True)
        return self._labelled(found) if self.threshold else found

    def _labelled(self, found: Any) -> Any:
        if not (self.threshold or found._kind.startswith("score")):
            return found
        from .scores import labelled

        with _warned(""):
            return labelled(found, self.threshold, self._said)

    @property
    def _said(self) -> str:
        return standard_input.said(self.files[0])

    def table(self) -> Any:
        """Return the table of one prediction; by group if groups were asked for or stored."""
        return self._expected(self.read(), Table)

    def joint(self, groups: bool = False) -> Any:
        """Return the joint table of several predictions; by group if groups were asked for or stored.

        ``groups`` if groups of one prediction will do as well.
        """
        found = self.read()
        alone = groups and isinstance(found, Tables) and not found.names
        return found if alone else self._expected(found, JointTable)

    def _expected(self, table: Any, kind: type[Any]) -> Any:
        one = next(iter(table.values()), None) if isinstance(table, Mapping) else table
        if one is None or isinstance(one, kind):
            return table
        name = standard_input.said(self.files[0])
        if kind is Table:
            hint = "`wmcc compare`, `wmcc rank` and `wmcc report` read it."
            raise InputError(f"{name} holds a table of several predictions; expected a table of one prediction.", hint)
        raise InputError(
            f"{name} holds a table of one prediction; a comparison needs the rows, or a table, of both.",
            "give data with --true and a --pred for each, or `wmcc tabulate` them with all --pred; "
            "`wmcc drift` compares tables of different rows.",
        )

    def tabulated(self, weight: str | None = None, is_part: bool = False) -> Any:
        """Read the data and tabulate them.

        ``weight`` takes the place of the column of weights; ``is_part`` if the data may be a part of a sample, in which
        some strata have no row.
        """
        keys = self.by or self.cluster or self.stratum or self.poststratum or self.of_pixels or self.score
        load(not (keys or self.join or self.kind == "layers") and self.engine in (None, "arrow"))
        call = self.call(weight, reads=True)
        if not (self.of_pixels or self.kind == "layers" or _are_large([*self.paths, *self.other_paths])):
            call = call._replace(progress=False)
        sized = (self.population, self.fpc, self.totals) != (None, None, None)
        with _warned(""):
            table: Any = tabulate_part(call) if is_part and sized else tabulate(**call._asdict())
        if not (self.score and self.by):
            return table
        from .scores import ByGroup

        return ByGroup.of(table, self.by)

    # ---- bounds, pictures and maps ---------------------------------------------------------------------------

    def check_bounds(self, bounds: Mapping[str, str], eps: object = None, relative: bool | None = None) -> None:
        """Refuse bounds of the weights where they do not go together with other options."""
        if not bounds:
            return
        side = next(iter(bounds))
        if eps not in (None, ()) or relative is not None:
            name = "eps" if eps not in (None, ()) else "relative" if relative else "absolute"
            raise InputError(
                f"--{name} cannot be given with --lower and --upper, which say how far weights may be off.",
                argument=name,
            )
        if self.of_pixels or self.kind == "stored":
            raise InputError(
                f"--{side} names a column of a data file; it does not work with {self.kind_in_words}.", argument=side
            )
        if self.population is not None and self.weight is None:
            said = f"--{side} is a bound of --weight; with --population, weights follow from the sizes of strata."
            raise InputError(said, "give the weights of the design as --weight, and leave --population out.", side)

    def bounds(self, columns: Mapping[str, str]) -> dict[str, Any]:
        """Return the tables of the same rows with their smallest and their largest weights, by side."""
        return {side: self._labelled(self.tabulated(column)) for side, column in columns.items()}

    @property
    def images_are_clusters(self) -> bool:
        """Whether folders of images are tabulated, and each image is a cluster."""
        return self.images and not self.cluster

    def pictures(self) -> dict[str, Any]:
        """Return the folders of images and the names of classes that a report is given; nothing without images."""
        if not self.images_are_clusters:
            return {}
        call = self.call(reads=True)
        return {"images": (call.y_true, call.y_pred, call.sample_weight), "names": call.names}

    def error_maps(self) -> Any:
        """Return where the prediction is wrong, or each of several by name, for a report; None without places."""
        # One file of Parquet with geometry may be read as a table: only areas need its polygons.
        geoparquet = self.kind == "columns" and len(self.files) == 1 and is_layer(self.files[0], Area())
        if self.join is not None or not (self.kind in ("rasters", "layers") or geoparquet):
            return None
        from ..mapping.error_map import error_map, error_maps

        call = self.call(reads=True)
        of_table = "true", "sample_weight", "weight", "cluster", "design", "labels", "names", "ignore", "missing"
        shared = {name: getattr(call, name) for name in of_table}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MapWarning)  # it was said when the data were tabulated
            if self.kind == "rasters":
                return _each(call.y_pred, lambda prediction: error_map(call.y_true, prediction, **shared))
            data = call.y_true
            if isinstance(data, Overlay):
                if isinstance(data.map, dict):
                    return error_maps(call, list(data.map))
                return error_map(data, pred=next(iter(self.pred), None), **shared)
            return _each(call.pred, lambda prediction: error_map(data, pred=prediction, **shared))


def _each(given: Any, ask: Callable[[Any], Any]) -> Any:
    """Ask about one, or about each of several by name."""
    return {name: ask(one) for name, one in given.items()} if isinstance(given, Mapping) else ask(given)


def as_raster(path: str, crs: str | None, band: int | None = None, resample: Any = None) -> Any:
    """Return a raster with what is said of it, or its path if nothing is; ``crs`` is for one that has none."""
    if (crs, band, resample) == (None, None, None):
        return path
    from ..geo.raster import Raster

    raster = Raster(path, band, resample=resample)
    return raster if crs is None or raster.crs is not None else Raster(path, band, crs=crs, resample=resample)


def as_map(path: str, crs: str | None, band: int | None, layer: str | None = None) -> Any:
    """Return a raster or a layer of polygons with what is said of it."""
    return as_raster(path, crs, band) if is_raster(path) else Layer(path, layer, crs=crs)


def _freedom(text: str | None) -> float | None:
    """The degrees of freedom of replicate weights."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        said = f"--df is {text!r}; with --replicates expected a number, the clusters of the survey less its strata."
        raise InputError(said, "the word design is for samples in strata.", "df") from None


def as_blocks(text: str) -> Blocks:
    """The sides of blocks: ``64``, or ``64,128``."""
    sides = [int(x) if x.strip().isdecimal() else 0 for x in text.split(",")]
    if len(sides) > 2 or not all(sides):
        raise InputError(
            f"--blocks is {text!r}; expected a number of pixels, or rows and columns, as 64,128.", argument="blocks"
        )
    return Blocks(*sides)


def _xy(text: str | None) -> tuple[str, str] | None:
    """The columns of coordinates."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(f"--xy is {text!r}; expected two columns of coordinates, as lon,lat.", argument="xy")
    return names[0], names[1]


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
        hint = f"give each a name, as {example}."
        raise InputError(f"two predictions are called {twice!r}; expected different names.", hint, argument)


def _are_large(names: list[str]) -> bool:
    if any(map(is_address, names)):
        return True
    return sum(os.path.getsize(path) for name in names for path in find(name).paths) > SMALL


def per_group(
    table: Any,
    ask: Callable[..., T],
    noted: tuple[type[WmccError], ...] = (InputError, UndefinedMeasureError),
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> T | Groups:
    """Ask about a table, or about each of several.

    What stands ``beside`` a table, such as one of the same rows with other weights, is handed on by name.
    """
    if not isinstance(table, Mapping):
        with _warned(""):
            return ask(table, **beside)

    def ask_of(key: Any) -> T:
        return ask(table[key], **{name: its[key] for name, its in beside.items()})

    return Groups.of(table, ask_of, noted, _warned)


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

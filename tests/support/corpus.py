"""The golden corpus: what some hundred calls over all sources answer, to the last bit, stored in corpus.json.

``corpus_cases.py`` has the calls, each as what it reads and flat keywords. `call` makes of these what `wmcc` takes
today, and `facts` reads what a table holds: where the grammar or the stored form changes, these two change, and neither
the cases nor their answers.

    python tests/support/corpus.py              says what differs from the stored answers
    python tests/support/corpus.py --write      stores the answers of all cases; those that cannot run here keep theirs,
                                                so that those of PyTorch can be stored first, and all others after them
    python tests/support/corpus.py --sentences  stores refusals that come in other words, unless anything else differs

Answers are those of one thread; `test_corpus.py` asks for two.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import math
import os
import platform
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import flat
import numpy as np

import wmcc
from wmcc.errors import UndefinedMeasureWarning, WmccError

STORED = Path(__file__).with_name("corpus.json")

Answer = dict[str, Any]


class Case(NamedTuple):
    """A call: a name that stays, the kind of source that it reads, and all that it is given, by keyword.

    ``exact`` is False where sums are those of numbers that a library computes, such as areas, so that their last bits
    are those of a machine. ``depth`` is how much is asked of the table: ``"table"``, ``"scores"`` (with an interval)
    or ``"certificate"`` (as well).
    """

    name: str
    source: str
    given: Mapping[str, Any]
    exact: bool = True
    depth: str = "scores"


class Group(NamedTuple):
    """Cases that need the same packages; they are made one after another, in an empty folder.

    ``"java"`` is among the packages where Spark is.
    """

    cases: Callable[[], Iterator[Case]]
    needs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """The first of these that is not here."""
        for name in self.needs:
            try:
                if name == "java":
                    from engines import has_java

                    if not has_java():
                        return "Java"
                else:
                    importlib.import_module(name)
            except ImportError:
                return name
        return None


class Opened(NamedTuple):
    """A raster of which something must be said: its band, which number is nodata, and so on."""

    data: Any
    options: Mapping[str, Any]


# ---- the two functions that know how calls and tables look today ----------------------------------------------


def call(case: Case, threads: int | None) -> Any:
    """Make the call; of a stream, all its updates."""
    given = {name: _today(value) for name, value in case.given.items()}
    if "threads" not in given:
        given["threads"] = threads
    if case.source != "stream":
        data = [given.pop("data")] if "data" in given else []
        return flat.tabulate(*data, **given)
    updates = given.pop("updates")
    known = {name: given.pop(name) for name in ("population", "fpc", "lonely", "nested", "totals") if name in given}
    stream = wmcc.Accumulator(**given)
    for update in updates:
        more = dict(update) | known
        data = [more.pop("data")] if "data" in more else []
        at = {"at": more.pop("at")} if "at" in more else {}
        data, more = flat.values_of(*data, **more)
        stream.update(*data, **more, **at)
    if any("score" in update for update in updates):
        return stream.scores
    return stream.tables if any("by" in update for update in updates) else stream.table


def _today(value: Any) -> Any:
    if isinstance(value, Opened):
        return wmcc.Raster(value.data, **value.options)
    if type(value) in (list, tuple):
        return type(value)(map(_today, value))
    return {key: _today(own) for key, own in value.items()} if type(value) is dict else value


SUMS = ("n", "w", "w2", "w_min", "w_max", "w_exact", "w2_exact", "replicates")


def facts(table: Any, exact: bool = True) -> dict[str, Any]:
    """All that a table holds, whatever its stored form is called; if not ``exact``, without sums of weights."""
    stored = table.to_dict()
    cells = stored["cells"]
    axes = {name: places for name, places in cells.items() if name not in SUMS}
    sums = [cells["n"]]
    if exact:
        ends = [[x.hex() for x in cells[name]] for name in ("w_min", "w_max")]
        sums += [cells["w_exact"], cells["w2_exact"], *ends, *cells.get("replicates", [])]
    design = dict(stored.get("design") or {})
    if not exact and design.get("poststrata"):
        design["poststrata"] = {name: x for name, x in design["poststrata"].items() if name != "weights"}
    return {
        "kind": stored["kind"],
        "labels": stored["labels"],
        "void": stored["void"],
        "positive": stored.get("positive"),
        "names": stored.get("names"),
        "ignored": stored["ignored"],
        "sampled": stored["drawn"],
        "clusters": stored.get("clusters"),
        "replicates": stored.get("replicates"),
        "design": design,
        "groups": [stored.get(name) for name in ("by", "groups", "same_classes", "declared")],
        "axes": list(axes),
        "cells": sorted(map(list, zip(*axes.values(), *sums, strict=True)), key=repr),
    }


# ---- answers ----------------------------------------------------------------------------------------------------


def answer(case: Case, threads: int | None = 1) -> Answer:
    """What a call answers: a table and what is read from it, or an error and its sentence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = call(case, threads)
        except WmccError as error:
            return {"error": type(error).__name__, "says": _here(error.message)}
        except TypeError as error:  # which Python itself raises of a wrong keyword
            return {"error": "TypeError", "says": _here(str(error))}
        found = _of_table(table, case)
    ours = sorted({f"{x.category.__name__}: {_here(str(x.message))}" for x in caught if _is_ours(x.category)})
    return {**found, "warns": ours} if ours else found


def _is_ours(kind: type[Warning]) -> bool:
    return kind.__module__.startswith("wmcc.") and not issubclass(kind, UndefinedMeasureWarning)


def _here(text: str) -> str:
    """A sentence without what changes from run to run, or with PROJ: folders, addresses, what systems are called."""
    text = re.sub(r"(EPSG:\d+) \([^()]*\)", r"\1", re.sub(r"0x[0-9a-f]{6,}", "0x…", text))
    for folder in {os.path.realpath(os.getcwd()), os.getcwd()}:
        text = text.replace(f"{folder}{os.sep}", "").replace(folder, ".")
    return text


def _of_table(table: Any, case: Case) -> Answer:
    if isinstance(table, wmcc.results.ScoreTable):
        return _of_scores(table)
    if isinstance(table, (dict, wmcc.results.ClassScores)):  # by group, or by class
        each = {str(key): _of_scores(own) for key, own in table.items()}
        whole = _of_table(table.table, case) if isinstance(table, wmcc.results.ClassScores) else {}
        return whole | {f"{what} of {name}": x for name, own in each.items() for what, x in own.items()}
    grouped = isinstance(table, wmcc.Tables)
    whole = table.total() if grouped else table
    text = json.dumps(facts(table, case.exact), sort_keys=True)
    found: Answer = {"rows": int(whole.rows), "labels": " ".join(map(str, whole.labels))[:40]}
    found |= {"groups": len(table)} if grouped else {}
    found["digest"] = hashlib.sha256(text.encode()).hexdigest()[:20]
    if not case.exact:
        found["w"] = [x.hex() for x in whole.to_dict()["cells"]["w"]]
    if case.depth == "table":
        return found
    each = {name: whole[name] for name in whole.names} if isinstance(whole, wmcc.JointTable) else {"": whole}
    for name, own in each.items():
        for key, value in _scores(own, case.depth).items():
            found[f"{key} of {name}" if name else key] = value
    if len(each) == 2:
        found["compared"] = _said(lambda: _ends(next(iter(wmcc.compare(whole, "ecc").pairs.values()))))
    return found


def _of_scores(scores: wmcc.results.ScoreTable) -> Answer:
    """What a score table holds, and what is read from it: areas, the best threshold, the curve; comparisons."""
    held = [facts(scores.tables), [edge.hex() for edge in scores.edges or ()], list(scores.names)]
    digest = hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:20]
    found: Answer = {"rows": scores.rows, "positive": str(scores.positive), "digest": digest}
    if scores.names:
        found["compared roc_auc"] = _said(lambda: _of_pairs(wmcc.compare(scores, "roc_auc")))
        found["compared best"] = _said(lambda: _of_pairs(wmcc.compare(scores, "mcc", threshold="best")))
    for name, own in {name: scores[name] for name in scores.names}.items() or {"": scores}.items():
        for key, value in _of_one_score(own).items():
            found[f"{key} of {name}" if name else key] = value
    return found


def _of_pairs(comparison: Any) -> list[float]:
    return [x for own in comparison.pairs.values() for x in (own.value, own.low, own.high, own.p_value)]


def _of_one_score(scores: wmcc.results.ScoreTable) -> Answer:
    def interval(name: Any) -> list[float]:
        found = wmcc.interval(scores, name)
        return [found.value, found.low, found.high]

    def best() -> list[float]:
        found = wmcc.best_threshold(scores, "mcc")
        return [found.expected, found.low, found.high, *found.plausible]

    def curve() -> list[float]:
        found = wmcc.curve(scores, "f1")
        return [float(np.nansum(x)) for x in (found.values, found.se, found.low, found.band_high)]

    def chosen() -> list[float]:
        found = wmcc.best_threshold(scores, "mcc")
        return [found.threshold, found.value]

    return {
        "steps": len(scores.steps),
        "best": _said(chosen),
        "interval best": _said(best),
        "curve": _said(curve),
        "interval roc_auc": _said(lambda: interval("roc_auc")),
        "interval average_precision": _said(lambda: interval("average_precision")),
    }


def _ends(of: Any) -> list[float]:
    return [of.low, of.high]


def _scores(table: wmcc.Table, depth: str) -> Answer:
    names = ["ecc", "mpc2", "accuracy", *(["mcc"] if len(table.labels) == 2 else [])]
    found = {name: _said(lambda name=name: [getattr(wmcc.measures, name)(table)]) for name in names}
    found["interval"] = _said(lambda: _ends(wmcc.interval(table, "ecc")))
    if depth == "certificate":
        for name in ("ecc", "mpc2", "mean_f1"):  # by two searches, and at a corner
            found[f"certified {name}"] = _said(lambda name=name: _ends(wmcc.certify(table, name, eps=0.1)))
    return found


def _said(read: Callable[[], list[float]]) -> Any:
    """Numbers to the last bit; or the sentence that stands for them."""
    try:
        numbers = [float(x).hex() for x in read()]
    except WmccError as error:
        return f"{type(error).__name__}: {_here(error.message)}"
    return numbers[0] if len(numbers) == 1 else numbers


# ---- what is the same -------------------------------------------------------------------------------------------


def environment() -> str:
    """What the last bits of computed numbers depend on: libraries, and instructions of the processor."""
    packages = ["numpy", "scipy", "pyproj", "shapely", "rasterio"]
    found = [platform.machine()]
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    simd = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])  # type: ignore[call-overload]
    return ", ".join([*found, *simd[-1:]])


def alike(stored: Any, found: Any, bits: bool) -> bool:
    """Whether two answers are the same: to the last bit, or computed numbers to nine digits."""
    if bits or stored == found or type(stored) is not type(found):
        return bool(stored == found)
    if isinstance(stored, list):
        return len(stored) == len(found) and all(alike(a, b, bits) for a, b in zip(stored, found, strict=True))
    try:
        a, b = float.fromhex(stored), float.fromhex(found)
    except (TypeError, ValueError):
        return False
    return (a != a and b != b) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


COMPUTED = ("interval", "certified", "compared", "curve", "w")
"""What is not rounded once from exact sums."""


def differences(stored: Answer | None, found: Answer, bits: bool) -> dict[str, tuple[Any, Any]]:
    """What differs, by its name: what is stored, and what was found."""
    stored = stored or {}
    names = dict.fromkeys([*stored, *found])
    loose = {name for name in names if not bits and ("w" in stored or name.split()[0] in COMPUTED)}
    return {
        name: (stored.get(name), found.get(name))
        for name in names
        if not alike(stored.get(name), found.get(name), name not in loose)
    }


def read() -> tuple[str, dict[str, Answer]]:
    """Where answers were made, and the answers by group and name."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    return stored["made with"], stored["calls"]


def write(answers: dict[str, Answer]) -> None:
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(x, ensure_ascii=False)}" for name, x in answers.items())
    text = f'{{"made with": {json.dumps(environment())}, "calls": {{\n{lines}\n}}}}\n'
    STORED.write_text(text, encoding="utf-8")


def answers(group: str, cases: Iterator[Case], threads: int | None) -> dict[str, Answer]:
    """The answers of a group, by its name and theirs; the folder is its own."""
    found: dict[str, Answer] = {}
    for case in cases:
        name = f"{group}: {case.name}"
        assert name not in found, f"two cases are called {name!r}"
        found[name] = answer(case, threads)
    return found


def main() -> int:
    """Compare, or store."""
    from corpus_cases import GROUPS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sentences", action="store_true")
    options = parser.parse_args()
    made, stored = read() if STORED.exists() else ("", {})
    bits, kept, worse = made == environment(), {}, 0
    for group, own in GROUPS.items():
        before = {name: x for name, x in stored.items() if name.startswith(f"{group}: ")}
        if lacking := own.missing():
            print(f"{group}: {lacking} is not installed")
            kept |= before
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found = answers(group, own.cases(), 1)
        for name in dict.fromkeys([*before, *found]):
            a, b = before.get(name), found.get(name)
            if changed := differences(a, b or {}, bits):
                said = b is not None and (a is None or "error" in a) and "error" in b
                worse += not said
                print(f"{name}\n" + "".join(f"    {key}: {x!r} -> {y!r}\n" for key, (x, y) in changed.items()), end="")
        kept |= found
    if options.write or (options.sentences and not worse):
        write(kept)
    elif options.sentences:
        print(f"{worse} answers differ in more than words; nothing was stored.")
    return 0 if options.write or not worse else 1


if __name__ == "__main__":
    import corpus  # so that the cases are made of the same classes

    sys.exit(corpus.main())

"""`wmcc score`."""

from __future__ import annotations

import functools
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from . import options as o

if TYPE_CHECKING:
    from ..inference.estimate import Interval
    from ..results.scores import Score

ENDS = ("value", "low")
"""What a gate may look at."""


def _gate(run: o.Run) -> o.Run:
    """Take ``--on low`` for the gate, where there is one; other values are keys of ``--join``."""

    @functools.wraps(run)
    def with_gate(**given: Any) -> None:
        on = given.pop("on")
        ends = [x for x in on if given["fail_under"] and x in ENDS]
        if given["fail_under"] and given["join"] is None and len(ends) < len(on):
            from ..errors import InputError

            odd = next(x for x in on if x not in ENDS)
            raise InputError(f"--on is {odd!r}; beside --fail-under expected value or low.", argument="on")
        run(**given, on=tuple(x for x in on if x not in ends), low="low" in ends)

    return with_gate


@o.command()
@_gate
@o.data()
@o.options("confidence")
@o.option("eps", "Also certify ranges for weights off by this much.")
@o.options("relative", "lower", "upper", "zero_division", "fail_under")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Score data or a stored table.

    MCC (of two classes), ECC, MPC1, MPC2, accuracy, balanced accuracy, kappa, mean IoU and mean F1, with confidence
    intervals; precision, recall, F1, IoU and MCC of each class. With --eps, also certified ranges for weights off by
    that much; with --lower and --upper, for weights between these. With --images truth/ pred/, also the mean over
    images of each measure; `wmcc images` has more.
    Without --true and --pred, FILE is a table that `wmcc tabulate -o` or `wmcc merge -o` wrote; or FILE... are rasters,
    truth.tif map.tif.

    Examples::

        wmcc score parcels.csv --true label --pred pred --weight area
        wmcc score parcels.csv --true label --pred pred --weight area --by region
        wmcc score parcels.csv --true label --pred pred --weight area --confidence 0.9 --eps 0.1
        wmcc score parcels.csv --true label --pred pred --ignore water --format json
        wmcc score parcels.csv --true label --pred pred --weight area --fail-under ecc=0.8 --on low
        wmcc tabulate parcels.csv --true label --pred pred -o table.json
        wmcc score table.json
    """
    from ..core.labels import listed
    from ..errors import InputError
    from ..results.scores import score
    from .guard import fail
    from .request import each, per_group

    bounds = asked.bounds
    request.check_bounds(bounds, asked.eps, asked.relative)
    asked.check_model()
    division, bars = _division(asked.zero_division), list(map(_bar, asked.fail_under))

    def ask(table: Any, **sides: Any) -> Any:
        found = score(table, zero_division=division, confidence_level=asked.confidence)
        if request.images_are_clusters and table.drawn.kind == "clusters":
            found = found.with_image_means()
        return found if asked.eps is None and not sides else found.with_ranges(asked.eps, asked.model, **sides)

    table = request.table()
    for bar in bars:
        if bar.label not in (None, *map(str, table.classes)):
            raise InputError(
                f"--fail-under names the class {bar.label!r}; the classes are {listed(table.classes)}.",
                argument="fail_under",
            )
    result = per_group(table, ask, (InputError,), request.bounds(bounds))
    output.write(result)
    found = [(where, bar.failure(one, asked.low)) for where, one in each(result) for bar in bars]
    fail([f"{where}{sentence}" for where, sentence in found if sentence])


def _division(text: str) -> Any:
    """What ``--zero-division`` stands for: a number, ``nan``, or a word that the library knows."""
    try:
        return float(text)
    except ValueError:
        if text in ("warn", "raise"):
            return text
        from ..errors import InputError

        raise InputError(
            f"--zero-division is {text!r}; expected a number, nan, warn or raise.", argument="zero_division"
        ) from None


class Bar(NamedTuple):
    """What a measure of a table, or of one of its classes, is not to be below."""

    measure: str
    label: str | None
    least: float
    text: str

    def failure(self, score: Score, low: bool) -> str | None:
        """Say that the measure, or the lower end of its interval, is below this or undefined; None if it is not."""
        title, value, interval = self._found(score)
        if isnan(value):
            return f"{title} is undefined; at least {self.text} was asked for."
        if low and (interval is None or interval.problem):
            why = "" if interval is None else f": {interval.problem}"
            return f"{title} has no interval{why}; at least {self.text} was asked for."
        name, x = (f"the lower end of the interval of {title}", interval.low) if low and interval else (title, value)
        return None if x >= self.least else f"{name} is {_told_apart(x, self.least)}, below {self.text}."

    def _found(self, score: Score) -> tuple[str, float, Interval | None]:
        """Return what it is called, its value, NaN where it is undefined, and its interval."""
        from ..measures import CLASS_MEASURES, MEASURES

        if self.label is None:
            measure, known = MEASURES[self.measure], score.measures[self.measure]
            value = nan if known is None else measure(score.table, zero_division=nan)
            return measure.title, value, score.intervals.get(self.measure)
        places = [k for k, c in enumerate(score.classes) if str(c.label) == self.label]
        title = f"{CLASS_MEASURES[self.measure].title} of {self.label}"
        if not places:
            return title, nan, None
        value = CLASS_MEASURES[self.measure](score.table, zero_division=nan)[places[0]]
        return title, float(value), score.class_intervals[self.measure][places[0]]


def _bar(text: str) -> Bar:
    """Read ``ecc=0.8`` or ``recall/road=0.7``."""
    from ..errors import InputError
    from ..measures import CLASS_MEASURES, MEASURES

    name, _, number = text.rpartition("=")
    measure, slash, label = name.partition("/")
    known = CLASS_MEASURES if slash else MEASURES
    try:
        least = float(number)
    except ValueError:
        least = nan
    if isnan(least) or measure not in known:
        said = f"--fail-under is {text!r}; expected a measure and a number, as ecc=0.8 or recall/road=0.7."
        hint = f"the measures are {', '.join(MEASURES)}; those of a class are {', '.join(CLASS_MEASURES)}."
        raise InputError(said, hint, "fail_under")
    return Bar(measure, label if slash else None, least, number.strip())


def _told_apart(x: float, least: float) -> str:
    """Write a number below another with as many digits as show that it is."""
    return next(text for digits in range(4, 18) if float(text := f"{x:.{digits}f}") < least or digits == 17)

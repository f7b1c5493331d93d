"""`wmcc threshold`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data(1, None, scores=True)
@o.option("measure", "The measure: mcc, accuracy, mean_f1 …; or of the positive class recall, f1 …", default="mcc")
@o.option(
    "at_least", "Only thresholds at which another measure is at least this, as recall=0.9; repeat it for several.",
    metavar="NAME=X", type=str, multiple=True,
)  # fmt: skip
@o.option("eps", "How far each weight may be off; the threshold is then the one with the highest certified score.")
@o.options("confidence")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Find the threshold at which a measure is best, and what to expect of it.

    A threshold that is chosen on the data looks better there than it is. So the value to expect on new data comes
    first, by cross-fitting, and an interval that allows for the choice; then the apparent value. Of several --score,
    and with --by, there is a threshold for each. `wmcc score --threshold` scores a threshold on other data.

    Examples::

        wmcc threshold parcels.csv --true label --score prob --weight area --ignore water
        wmcc threshold parcels.csv --true label --score prob --score prob_b --ignore water --measure accuracy
        wmcc threshold parcels.csv --true label --score prob --weight area --ignore water --at-least recall=0.9
        wmcc tabulate parcels.csv --true label --score prob --weight area --ignore water -o scores.json
        wmcc threshold scores.json --eps 0.1
    """
    from ..inference.scores.crossfit import Constraints
    from ..inference.scores.grid import asked_measure
    from ..results.best_threshold import best_threshold
    from .request import per_group
    from .scores import one_by_one

    least = dict(map(_constraint, asked.at_least)) or None
    asked_measure(asked.measure)  # before data are read, which may take long
    Constraints.of(least)
    how: dict[str, Any] = {"at_least": least, "eps": asked.eps, "confidence_level": asked.confidence}
    output.write(per_group(one_by_one(request.scores()), lambda scores: best_threshold(scores, asked.measure, **how)))


def _constraint(text: str) -> tuple[str, float]:
    """Read ``recall=0.9``."""
    from ..errors import InputError
    from .sizes import as_number

    name, _, number = text.partition("=")
    least = as_number(number)
    if least is None:
        raise InputError(
            f"--at-least is {text!r}; expected a measure and a number, as recall=0.9.", argument="at_least"
        )
    return name.strip(), least

"""What a report says, section by section."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.table import Table
from ..inference.comparison import p_cell
from ..inference.interval import why_unsure
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Shares
from ..present.text import decimal, heaviest, number, percent, share
from ..results.score import Score
from ..robustness.radius import Radius
from .document import DRAWN, Block, Document, Funnel, Grid, Heat, Items, Mark, Section
from .findings import Findings
from .made import Made
from .methods import methods
from .verdict import verdict

SHOWN = 10
"""Cells in the list of those whose weights matter."""


def document(found: Findings, made: Made, title: str) -> Document:
    """Put what was found into sections."""
    several = found.comparisons is not None
    sections = [Section("Scores", _scores(found)), Section("Other rows, other weights", _uncertainties(found))]
    if several:
        sections.append(Section("Who leads", [_pairs(found)]))
    for name, score in found.scores.items():
        parts = [
            Section("Confusion table", [Heat(_of("True against predicted class", name, several), score.table)], 3),
            Section("Classes", [_classes(score, _of("Each class against the rest", name, several))], 3),
            Section("Whose weights matter", _influences(found, name), 3),
        ]
        sections += [Section(name if several else "The prediction", []), *parts]
    sections.append(Section("Weights", _weights(found.first)))
    sections.append(Section("Warnings", _warnings(found)))
    sections.append(Section("How to read this", [Items(methods(found))]))
    sections.append(Section("How it was made", [Items(made.items)]))
    return Document(title, _summary(found), verdict(found), sections, found)


def _of(caption: str, name: str, several: bool) -> str:
    return f"{caption}, {name}" if several else caption


def _by(name: str, sentence: str, several: bool) -> str:
    return f"{name}: {sentence}" if several else sentence


def _summary(found: Findings) -> str:
    table, K = found.first.table, len(found.first.table.labels)
    classes = "1 class" if K == 1 else f"{K:,} classes"
    parts = [f"{table.rows:,} rows", classes, f"total weight {number(table.total)}"]
    parts += [f"{table.ignored:,} rows ignored"] if table.ignored else []
    clusters = found.first.cluster_count
    parts += [] if clusters is None else [f"{clusters:,} clusters"]
    count = len(found.names)
    return ", ".join([*parts, "one prediction" if count == 1 else f"{count} predictions"])


def _scores(found: Findings) -> list[Block]:
    names = [m for m in MEASURES.values() if all(getattr(s, m.name) is not None for s in found.scores.values())]
    grids: list[Block] = []
    if len(found.names) <= 2:
        head = ["Measure"] + [x for name in found.names for x in (_value_head(found, name), found.level)]
        rows = [
            [m.title]
            + [
                x
                for s in found.scores.values()
                for x in (decimal(getattr(s, m.name)), s.intervals[m.name].ends)
            ]
            for m in names
        ]  # fmt: skip
        grids.append(Grid("Scores of all rows", head, rows))
    else:
        head = ["Prediction", *(m.title for m in names)]
        values = [[n, *(decimal(getattr(s, m.name)) for m in names)] for n, s in found.scores.items()]
        spans = [[n, *(s.intervals[m.name].ends for m in names)] for n, s in found.scores.items()]
        grids += [Grid("Scores of all rows", head, values), Grid(f"{found.level}s", head, spans)]
    several = found.comparisons is not None
    return [*grids, *(_by(name, s.disagreement, several) for name, s in found.scores.items() if s.disagreement)]


def _value_head(found: Findings, name: str) -> str:
    return "Value" if len(found.names) == 1 else name


def _uncertainties(found: Findings) -> list[Block]:
    text = (
        "A score can be off in two ways. Other rows could have been drawn: that is the interval. And the weights may "
        "not be exact: the band is where the score lies for all weights within ±ε of the given ones, each on its own; "
        "it is proved, not estimated."
    )
    return [text, Funnel(found)]


def _pairs(found: Findings) -> Grid:
    assert found.comparisons is not None
    several = len(found.comparisons.pairs) > 1
    head = ["First", "Second", "First − second", found.level, "p", *["p (Holm)"] * several, "The leader leads up to"]
    rows = []
    for (a, b), x in found.comparisons.pairs.items():
        lead = found.lead(a, b)
        known = "—" if lead is None else _proved(lead)
        adjusted = found.comparisons.p_adjusted[a, b]
        rows.append([a, b, decimal(x.difference), x.ends, p_cell(x.p_value), *[p_cell(adjusted)] * several, known])
    notes = ["—: not looked for, only for the leader and each of the others."] if several else []
    leads = [lead for lead in found.leads.values() if lead is not None]
    if any(lead.stopped for lead in leads):
        notes.append(
            "†: the search for a proof stopped at its limit of boxes; the lead may hold for larger changes, too."
        )
    if any(lead.value != 0 and not lead.safe > 0 for lead in leads):
        notes.append("not proved: we could not prove that the lead survives even a small change of the weights.")
    return Grid(f"Differences of {found.measure.title}", head, rows, 2, notes=notes)


def _proved(lead: Radius) -> str:
    if lead.value == 0:
        return "no lead"
    return (f"±{share(lead.safe)}" if lead.safe > 0 else "not proved") + " †" * lead.stopped


def _classes(score: Score, caption: str) -> Grid:
    head = ["Class", "Rows", "Weight", *(m.title for m in CLASS_MEASURES.values()), "Interval of MCC"]
    found = score.class_intervals["mcc"]
    rows, shown = [], heaviest([c.weight for c in score.classes], DRAWN)
    for c, x in ((score.classes[k], found[k]) for k in shown):
        positive = " (positive)" * (score.table.positive is not None and c.label == score.table.positive)
        values = (decimal(getattr(c, name)) for name in CLASS_MEASURES)
        rows.append([f"{c.label}{positive}", f"{c.n:,}", number(c.weight), *values, x.ends])
    least = -1.0 if any(x.low < 0 or x.value < 0 for x in found) else 0.0
    marks = [None if x.problem else Mark(x.value, x.low, x.high, least, 1.0) for x in (found[k] for k in shown)]
    weak = min((x for x in found if x.problem is None), key=lambda x: x.value, default=None)
    notes = [f"The weakest is {weak.label}, with an MCC of {decimal(weak.value)}."] if weak and len(rows) > 2 else []
    unsure = sum(not x.reliable for x in found)
    notes += [f"* Not to be relied on, or none: {unsure:,} of {len(found):,} classes."] if unsure else []
    notes += _left_out(len(found))
    return Grid(caption, head, rows, marks=marks, scale=f"MCC, {least:.0f} to 1", notes=notes)


def _left_out(classes: int) -> list[str]:
    if classes <= DRAWN:
        return []
    return [f"These are the {DRAWN:,} heaviest of {classes:,} classes; the report as JSON lists all."]


def _influences(found: Findings, name: str) -> list[Block]:
    known = found.sensitivities[name]
    if known is None:
        return [f"{found.measure.title} is undefined here."]
    shown = known.cells[:SHOWN]
    most = max((abs(c.effect) for c in shown), default=0.0) or 1.0
    rows = [
        [str(c.true), str(c.pred), f"{c.n:,}", number(c.weight), f"{c.effect:+.4f}", percent(c.share)] for c in shown
    ]
    marks: list[Mark | None] = [Mark(c.effect, min(c.effect, 0.0), max(c.effect, 0.0), -most, most) for c in shown]
    head = ["True", "Predicted", "Rows", "Weight", "Effect", "Share"]
    more = len(known.cells) - len(shown)
    notes = [f"… and {more:,} more cells."] if more > 0 else []
    text = (
        f"Effect: how {found.measure.title} would move if the weights in a cell were 100 % larger, to first order. "
        f"If all weights are off by a small ε, each on its own, it moves by up to {number(known.slope_relative, 3)} ε."
    )
    caption = _of("Cells, those whose weights matter most first", name, found.comparisons is not None)
    return [text, Grid(caption, head, rows, 2, marks, "Effect", notes)]


def _weights(score: Score) -> list[Block]:
    known = score.diagnosis
    shares, shown = Shares.of(score.table).r.tolist(), heaviest([c.weight for c in known.classes], DRAWN)
    rows = [
        [
            str(c.label),
            f"{c.n:,}",
            percent(c.n / known.n),
            number(c.weight),
            percent(shares[k]),
            number(c.n_eff, 4),
        ]
        for k, c in ((k, known.classes[k]) for k in shown)
    ]
    head = ["True class", "Rows", "Share of rows", "Weight", "Share of weight", "Effective rows"]
    worth = f"{known.n:,} rows are worth {number(known.n_eff, 4)} of equal weight"
    text = (
        f"{worth}: uneven weights multiply variances by {number(known.design_effect, 3)}. "
        f"The heaviest row holds {percent(known.heaviest_row)} of the weight."
    )
    if known.design_effect == 1:
        text = "All rows weigh the same."
    marks: list[Mark | None] = [Mark(shares[k], 0.0, shares[k], 0.0, 1.0) for k in shown]
    caption, notes = "What the weights leave of each true class", _left_out(len(shares))
    return [text, Grid(caption, head, rows, marks=marks, scale="Share of weight", notes=notes)]


def _never_true(table: Table) -> list[str]:
    """Say so where labels are predicted that are never true: they may be misspelt, or the column the wrong one."""
    called = table.pred_counts > 0
    names = [f"{label!r}" for label, no in zip(table.labels, called & (table.true_counts == 0), strict=True) if no]
    if len(names) == called.sum():
        return ["no label that is predicted is ever true: is it the right column?"]
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return [f"predicted, but never true: {', '.join(names[:3])}{more}."] if names else []


def _warnings(found: Findings) -> list[Block]:
    several = found.comparisons is not None
    heard: list[tuple[str, Sequence[str]]] = []
    for name, score in found.scores.items():
        heard += [(name, _never_true(score.table)), (name, score.warnings)]
    if found.comparisons is not None:
        titled = {" − ".join(pair): x for pair, x in found.comparisons.pairs.items()}
        heard.append(("Differences", why_unsure(titled)))
    undefined = f"{found.measure.title} is undefined, and counts as 0."
    heard += [(name, [undefined]) for name, curve in found.curves.items() if curve is None]
    said = [("", _by(name, x.removeprefix("* "), several)) for name, own in heard for x in own]
    return [Items(said)] if said else ["There are none."]

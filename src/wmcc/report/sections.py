"""What a report says, section by section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from ..core.table import Table
from ..inference.answer import TITLES_OF_SCORES, why_unsure
from ..inference.reliability import doubts_of
from ..mapping.accuracy import MapAccuracy
from ..measures import MEASURES
from ..measures.base import Shares
from ..present.blocks import Block, Mark
from ..present.groups import Groups
from ..present.text import counted, decimal, heaviest, listed, number, share
from ..results.images import ImageScores
from ..results.scores import Score, class_block
from ..robustness.radii import Radius
from .document import DRAWN, AreaFigure, Document, Funnel, Heat, Items, Part, Section, starred
from .findings import Findings
from .methods import methods
from .provenance import Provenance
from .verdict import verdict

APPARENT = "Values and intervals are apparent: the threshold was chosen on these rows, where it looks best."


def document(found: Findings, how: Provenance, title: str) -> Document:
    """Put what was found into sections."""
    several = found.comparisons is not None
    of_maps = [part for name, own in found.maps.items() for part in _map(own, name, several)]
    sections = [
        *_thresholds(found),
        *of_maps,
        Section("Scores", _scores(found)),
        *_where_wrong(found, several),
        Section("Uncertainty from sampling and weights", _uncertainties(found)),
    ]
    if several:
        sections.append(Section("Who leads", [_pairs(found)]))
    if found.images is not None:
        sections += _images(found, found.images)
    sections += _predictions(found, several)
    if found.drawings:
        sections.append(Section("Figures", list(found.drawings)))
    sections += [Section("Weights", _weights(found.first)), Section("Warnings", _warnings(found))]
    sections += [Section("How to read this", [Items(methods(found))]), Section("How it was made", [Items(how.items)])]
    sections = [x._replace(parts=[_finished(part, found.unit) for part in x.parts]) for x in sections]
    return Document(title, _summary(found), verdict(found), sections, found)


def _predictions(found: Findings, several: bool) -> list[Section]:
    """What is known of each prediction, and which of its weights matter most; maps come first, by themselves."""
    if found.maps:
        weights = [Section(name, _influences(found, name), 3) for name in found.names]
        title = "Which weights matter most"
        return [Section(title, []), *weights] if several else [weights[0]._replace(title=title, level=2)]
    sections = []
    for name, score in found.scores.items():
        sections.append(Section(name if several else "The prediction", []))
        sections += _classifier(score, name, several)
        sections.append(Section("Which weights matter most", _influences(found, name), 3))
    return sections


def _finished(part: Part, unit: str | None) -> Part:
    """Say what weights are in, and below each table with an asterisk what that means, unless its notes do."""
    if isinstance(part, Heat):
        return part._replace(unit=unit)
    if not isinstance(part, Block):
        return part
    head = [f"Weight, {unit}" if unit and cell == "Weight" else cell for cell in part.head]
    explained = any(note.startswith("* ") for note in part.notes)
    return replace(part, head=head, notes=[*part.notes, *([] if explained else starred(part.rows))])


def _where_wrong(found: Findings, several: bool) -> list[Section]:
    """Pictures of maps, and the errors of their classes."""
    if not found.error_maps:
        return []
    own: dict[str, list[Part]] = {
        name: [found.map_pictures[name], replace(x.class_block(), title=_of("Error by class", name, several))]
        for name, x in found.error_maps.items()
    }
    if not several:
        return [Section("Where the map is wrong", parts) for parts in own.values()]
    return [Section("Where the maps are wrong", []), *(Section(name, parts, 3) for name, parts in own.items())]


def _thresholds(found: Findings) -> list[Section]:
    """The curve of scores over all thresholds, and the choice of one."""
    if not found.thresholds:
        return []
    every = [*found.thresholds.values()]
    several, cuts = len(every) > 1, listed([number(x.threshold) for x in every])
    what = f"The threshold{'s' * several} of this report{' are' if several else ' is'} {cuts}"
    text = f"A threshold makes labels of scores: a score of at least it is {every[0].curve.positive}. {what}"
    text += (
        ": chosen on these rows, where the choice looks better than it is. Expected is the value on new data, and its "
        "interval allows for the choice. The apparent value, and the intervals of scores below, are as if the "
        "threshold had been fixed in advance."
        if found.chosen
        else ", as given, and intervals are as for a threshold that was fixed in advance. The best on these rows:"
    )
    blocks = Groups(("Prediction",), {(x.name,): x.best for x in every}).blocks() if several else every[0].best.lines()
    of_all = [(x.name, TITLES_OF_SCORES[own.measure], own) for x in every for own in x.whole]
    rows = [[*[name] * several, title, decimal(own.value), own.ends] for name, title, own in of_all]
    head = [*["Prediction"] * several, "Measure", "Value", found.level]
    notes = why_unsure({f"{name} {title}".strip(): own for name, title, own in of_all})
    whole = Block("All thresholds together", head, rows, notes, 1 + several)
    return [Section("Thresholds" if several else "The threshold", [text, *blocks, *every, whole])]


def _at(found: Findings) -> str:
    """Say which thresholds scores are of."""
    cuts = [number(x.threshold) for x in found.thresholds.values()]
    return f" at the threshold{'s' * (len(cuts) > 1)} {listed(cuts)}" if cuts else ""


def _images(found: Findings, images: ImageScores) -> list[Section]:
    """Data set or images: both means, how images are distributed, and those with the lowest scores."""
    several = len(images.names) > 1
    parts: list[Part] = [images.mean_block(), _spread(images), *images.pair_blocks()]
    sections = [Section("Data set and images", parts)]
    for name in images.names:
        parts = [images.worst_block(name)]
        if name in found.galleries:
            parts.append(found.galleries[name])
        sections.append(Section(_of("Classes over images", name, several), [images.class_block(name)], 3))
        sections.append(Section(_of("The lowest images", name, several), parts, 3))
    return sections


def _spread(images: ImageScores) -> Block:
    """How the scores of images are distributed, of each prediction; a bar holds the middle half of them."""
    low, high = MEASURES[images.measure].range
    rows, marks = [], []
    for name, own in images.predictions.items():
        values = own.values[~np.isnan(own.values)]
        ends = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist() if len(values) else [nan] * 5
        rows.append([name, *map(decimal, ends)])
        marks.append(Mark(ends[2], ends[1], ends[3], low, high) if len(values) else None)
    head = ["Prediction", "Lowest", "Quarter below", "Half below", "Three quarters below", "Highest"]
    return Block("Images by their score", head, rows, marks=marks, scale=f"Middle half, {low:.0f} to {high:.0f}")


def _classifier(score: Score, name: str, several: bool) -> list[Section]:
    return [
        Section("Confusion table", [Heat(_of("True against predicted class", name, several), score.table)], 3),
        Section("Classes", [_classes(score, _of("Each class against the rest", name, several))], 3),
    ]


def _map(found: MapAccuracy, name: str, several: bool) -> list[Section]:
    """The same in the words of maps, with areas."""
    (whole, accuracies, areas), matrices = (
        [replace(x, title=_of(x.title, name, several)) for x in own]
        for own in ([found.blocks()[0], *found.class_blocks()], found.matrix_blocks())
    )
    figure = AreaFigure(
        _of("Mapped and estimated areas" if not found.counted else "Areas of map and reference", name, several), found
    )
    notes = [x.removeprefix("* ") for x in found.notes]
    said = Items([("", x) for x in notes if x not in _of_all(found.table)])
    heat = Heat(_of("Reference against mapped class", name, several), found.table)
    return [
        Section(name if several else "The map", []),
        Section("Accuracy and area", [whole, figure, areas, accuracies, said], 3),
        Section("Error matrix", [*matrices] or [heat], 3),
    ]


def _of(caption: str, name: str, several: bool) -> str:
    return f"{caption}, {name}" if several else caption


def _by(name: str, sentence: str, several: bool) -> str:
    return f"{name}: {sentence}" if several else sentence


def _said_count(found: Findings) -> str:
    what, count = "map" if found.maps else "prediction", len(found.names)
    return f"one {what}" if count == 1 else f"{count} {what}s"


def _summary(found: Findings) -> str:
    table = found.first.table
    counts = f"{table.counts} {found.unit}" if found.unit and table.unsampled is None else table.counts
    return ", ".join([counts, table.kinds, _said_count(found)])


def _scores(found: Findings) -> list[Part]:
    scores, several = found.scores, len(found.names) > 1
    shown = [m for m in MEASURES.values() if any(m.name in s.shown for s in scores.values())]
    title = "Scores" if found.first.paired else f"Scores of {counted(found.first.n, 'row')}{_at(found)}"
    notes = [APPARENT] if found.chosen else []
    notes += list(dict.fromkeys(s.alike for s in scores.values() if s.alike))
    notes += [_by(name, s.disagreement, several) for name, s in scores.items() if s.disagreement]
    if len(scores) <= 2:
        columns: list[tuple[str, Mapping[str, str]]] = []
        for name, s in scores.items():
            columns.append((name if several else "Value", {m.name: decimal(getattr(s, m.name)) for m in shown}))
            columns.append((found.level, {m.name: s.intervals[m.name].ends for m in shown}))
            columns += s.freedom.items()
        rows = [[m.title, *(own[m.name] for _, own in columns)] for m in shown]
        return [Block(title, ["Measure", *(name for name, _ in columns)], rows, notes)]
    head = ["Prediction", *(m.title for m in shown)]
    values = [[name, *(decimal(getattr(s, m.name)) for m in shown)] for name, s in scores.items()]
    spans = [[name, *(s.intervals[m.name].ends for m in shown)] for name, s in scores.items()]
    few = [[name, *(own[m.name] for m in shown)] for name, s in scores.items() for own in s.freedom.values()]
    blocks: list[Part] = [Block(title, head, values), Block(f"{found.level}s", head, spans, [] if few else notes)]
    return [*blocks, Block("Degrees of freedom (df) of the intervals", head, few, notes)] if few else blocks


def _uncertainties(found: Findings) -> list[Part]:
    text = (
        "A score is uncertain for two reasons. The rows are a sample: the interval shows the sampling error. The "
        "weights may be inexact: the band shows it for all weights within ±ε of the given ones, each on its own. "
        "The band is proved, not estimated."
    )
    together = (
        "All predictions are of the same rows with the same weights, so their intervals move together, and so do their "
        "bands. One prediction can lead for certain though they overlap: “Who leads” goes by the difference."
    )
    return [text, Funnel(found), *([together] if len(found.names) > 1 else []), *_bounded(found)]


def _bounded(found: Findings) -> list[Part]:
    """The ranges for weights within bounds of their own, if these were given."""
    if not found.bounded:
        return []
    text = (
        "Each weight also has bounds of its own. The ranges below are proved for all weights between the smallest and "
        "the largest that each row may have."
    )
    scores = Groups(("Prediction",), {(name,): one for name, one in found.bounded.items()})
    return [text, *scores.blocks(), *(block for x in found.bounded_rankings.values() for block in x.lines())]


def _pairs(found: Findings) -> Block:
    assert found.comparisons is not None
    several = len(found.comparisons.pairs) > 1
    leads_up_to = {pair: _proved(found.lead(*pair)) for pair in found.comparisons.pairs}
    made = found.comparisons.pair_block(
        f"Differences of {found.measure.title}", {"The leader leads up to": leads_up_to}
    )
    notes = ["—: not computed; only the leader is checked against each of the others."] if several else []
    if found.chosen:
        notes.append("Values are those to expect on new data; intervals and p allow for the choice of the thresholds.")
    leads = [lead for lead in found.leads.values() if not lead.problem]
    if any(lead.stopped for lead in leads):
        notes.append("†: the search for a proof stopped at its limit; the lead may also hold for larger changes.")
    if any(not lead.safe > 0 for lead in leads):
        notes.append("not proved: we could not prove that the lead survives even a small change of the weights.")
    return replace(made, notes=notes)


def _proved(lead: Radius | None) -> str:
    if lead is None:
        return "—"
    if lead.problem:
        return "no lead"
    return (f"±{share(lead.safe)}" if lead.safe > 0 else "not proved") + " †" * lead.stopped


def _classes(score: Score, caption: str) -> Block:
    found, made = score.class_intervals["mcc"], class_block(score, DRAWN)
    shown = [found[k] for k in heaviest([c.total for c in score.classes], DRAWN)]
    least = -1.0 if any(x.low < 0 or x.value < 0 for x in found) else 0.0
    weak = min((x for x in found if x.problem is None), key=lambda x: x.value, default=None)
    notes = [f"The weakest is {weak.label}, with an MCC of {decimal(weak.value)}."] if weak and len(shown) > 2 else []
    unsure = sum(not x.reliable for x in found)
    notes += [f"* Unreliable or not estimable: {unsure:,} of {len(found):,} classes."] if unsure else []
    return Block(
        caption,
        [*made.head, "Interval of MCC"],
        [[*row, x.ends] for row, x in zip(made.rows, shown, strict=True)],
        notes + _left_out(len(found)),
        marks=[None if x.problem else Mark(x.value, x.low, x.high, least, 1.0) for x in shown],
        scale=f"MCC, {least:.0f} to 1",
    )


def _left_out(classes: int) -> list[str]:
    if classes <= DRAWN:
        return []
    return [f"These are the {DRAWN:,} heaviest of {classes:,} classes; the report as JSON lists all."]


def _influences(found: Findings, name: str) -> list[Part]:
    known = found.sensitivities[name]
    if known.problem:
        return [f"{known.problem}."]
    (made,) = known.blocks()
    effects = [c.effect for c in known.cells[: len(made.rows)]]
    most = max(map(abs, effects), default=0.0) or 1.0
    sides = ["Reference", "Map"] if found.maps else ["True", "Predicted"]
    text = (
        f"Per 100 %: how {found.measure.title} would move if the weights in a cell were 100 % larger, to first order. "
        f"If all weights are off by a small ε, each on its own, it moves by up to {number(known.slope_relative, 3)} ε."
    )
    table = replace(
        made,
        title=_of("Cells, most influential first", name, found.comparisons is not None),
        head=[*sides, *made.head[2:]],
        marks=[Mark(x, min(x, 0.0), max(x, 0.0), -most, most) for x in effects],
        scale="Per 100 %",
    )
    return [text, table]


def _weights(score: Score) -> list[Part]:
    if score.paired:
        return [
            "The weights are a matrix over pairs of rows. Its entries are not rows: there is no effective sample size."
        ]
    known = score.diagnosis
    shares = Shares.of(score.table).r.tolist()
    *overall, classes = known.blocks()
    shown = heaviest([c.total for c in known.classes], len(classes.rows))
    marks = [Mark(shares[k], 0.0, shares[k], 0.0, 1.0) for k in shown]
    notes = [x for x in classes.notes if x not in known.warnings]  # the report has them all at one place
    parts = [*overall, replace(classes, notes=notes, marks=marks, scale="Share of weight")]
    return ["All rows weigh the same.", *parts[1:]] if known.design_effect == 1 else [*parts]


def _never_true(table: Table) -> list[str]:
    """Say so where labels are predicted that are never true: they may be misspelt, or the column the wrong one."""
    called = table.pred_counts[: len(table.classes)] > 0  # that void labels are never true is known
    never = called & (table.true_counts[: len(table.classes)] == 0)
    names = [f"{label!r}" for label, no in zip(table.classes, never, strict=True) if no]
    if names and len(names) == called.sum():
        return ["no predicted label occurs among the true labels: check the columns of labels."]
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return [f"predicted, but never true: {', '.join(names[:3])}{more}."] if names else []


def _of_all(table: Table) -> list[str]:
    """What the warnings say once, since it is of all intervals of the report."""
    return [f"Intervals: {why}." for why in doubts_of(table.drawn)]


def _warnings(found: Findings) -> list[Part]:
    several = found.comparisons is not None
    heard: list[tuple[str, Sequence[str]]] = []
    for name, score in found.scores.items():
        heard += [(name, _never_true(score.table)), (name, score.warnings)]
        if found.maps:
            heard.append((name, found.maps[name].warnings))
    if found.comparisons is not None:
        titled = {" − ".join(pair): x for pair, x in found.comparisons.pairs.items()}
        heard.append(("Differences", why_unsure(titled)))
    undefined = f"{found.measure.title} is undefined, and counts as 0."
    heard += [(name, [undefined]) for name in found.names if found.undefined(name)]
    once = {x for score in found.scores.values() for x in _of_all(score.table)}
    plain = [(name, x.removeprefix("* ")) for name, own in heard for x in own]
    said = list(dict.fromkeys(("", _by(name, x, several and x not in once)) for name, x in plain))
    return [Items(said)] if said else ["There are none."]

"""`wmcc compare`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data(2, None, groups=True)
@o.options("measure", "of", "confidence", "margin")
@o.option("eps", "Also certify ranges for weights off by this much.")
@o.options("relative", "lower", "upper")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Compare classifiers on the same rows, and test their differences.

    Shows the difference of the scores of each pair, its interval and a p-value corrected for the number of pairs. With
    --eps it adds the range of the difference for all weights off by that much; with --lower and --upper, for all
    weights between these. Of several --score it compares the labels of one --threshold, or of the best threshold of
    each, and allows for the choice; --measure roc_auc and average_precision need no threshold. With one --pred and
    --by it compares the groups with each other, as parts of one sample.

    Examples::

        wmcc compare parcels.csv --true label --pred pred --pred pred_c --weight area
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --cluster region --margin 0.02
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --measure iou --of forest
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.1
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --by region
        wmcc compare parcels.csv --true label --pred pred --weight area --by region
        wmcc compare parcels.csv --true label --score prob --score prob_b --weight area --ignore water --threshold best
    """
    from ..errors import InputError
    from ..inference.contrasts import compare
    from .request import per_group

    request.check_bounds(asked.bounds, asked.eps, asked.relative)
    asked.check_model()
    other = next(iter({**asked.chosen("eps"), **asked.bounds}), None)
    if asked.of is not None and other is not None:
        raise InputError(
            f"--of cannot be given with --{other}: certified ranges are for measures of all classes together."
        )

    if request.threshold == ("best",) or asked.measure in o.SCORE_MEASURES:
        output.write(_of_scores(request, asked))
        return

    def compared(tables: Any) -> Any:
        of = o.class_of(tables.classes, asked.of)
        return compare(tables, asked.measure, of=of, confidence_level=asked.confidence, margin=asked.margin)

    def ask(joint: Any, **sides: Any) -> Any:
        found = compared(joint)
        if asked.eps is None and not sides:
            return found
        from ..results.uncertainties import Uncertainty
        from ..robustness.ranking import certify_ranking

        return Uncertainty(found, certify_ranking(joint, asked.measure, eps=asked.eps, model=asked.model, **sides))

    found = request.joint(groups=True)
    if getattr(found, "names", None) == ():  # groups of one prediction
        if other is not None:
            raise InputError(f"--{other} cannot be given here: certified ranges are for predictions of the same rows.")
        output.write(compared(found))
        return
    output.write(per_group(found, ask, beside=request.bounds(asked.bounds)))


def _of_scores(request: o.DataOptions, asked: o.CommandOptions) -> Any:
    """Compare the best thresholds of scores, or scores as a whole."""
    from ..errors import InputError
    from ..inference.contrasts import compare
    from .request import per_group

    what = asked.measure if asked.measure in o.SCORE_MEASURES else "--threshold best"
    odd = next(iter(asked.chosen("of", "eps", "lower", "upper")), None)
    if odd is not None:
        hint = "precision, recall, f1 and iou are those of the positive class." if odd == "of" else None
        raise InputError(f"--{odd} cannot be given with {what}.", hint, odd)
    if request.threshold and asked.measure in o.SCORE_MEASURES:
        raise InputError(f"--threshold cannot be given with {what}, which is of all thresholds.", argument="threshold")
    how: dict[str, Any] = {"confidence_level": asked.confidence, "margin": asked.margin}
    how["threshold"] = None if asked.measure in o.SCORE_MEASURES else "best"
    return per_group(request.scores(), lambda scores: compare(scores, asked.measure, **how))

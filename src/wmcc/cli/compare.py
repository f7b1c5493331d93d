"""`wmcc compare`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data(2, None)
@o.options("measure", "of", "confidence", "margin")
@o.option("eps", "Also certify ranges for weights off by this much.")
@o.options("relative", "lower", "upper")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Compare classifiers on the same rows, and test their differences.

    Shows the difference of the scores of each pair, its interval and a p-value corrected for the number of pairs. With
    --eps it adds the range of the difference for all weights off by that much; with --lower and --upper, for all
    weights between these.

    Examples::

        wmcc compare parcels.csv --true label --pred pred --pred pred_c --weight area
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --cluster region --margin 0.02
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --measure iou --of forest
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.1
        wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --by region
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

    def ask(joint: Any, **sides: Any) -> Any:
        of = o.class_of(joint.classes, asked.of)
        found = compare(joint, asked.measure, of=of, confidence_level=asked.confidence, margin=asked.margin)
        if asked.eps is None and not sides:
            return found
        from ..results.uncertainties import Uncertainty
        from ..robustness.ranking import certify_ranking

        return Uncertainty(found, certify_ranking(joint, asked.measure, eps=asked.eps, model=asked.model, **sides))

    output.write(per_group(request.joint(), ask, beside=request.bounds(asked.bounds)))

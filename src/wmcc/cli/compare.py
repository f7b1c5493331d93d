"""`wmcc compare`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data(2, None)
@o.options("measure", "of", "confidence", "margin")
@o.option("eps", "Also certify ranges for weights off by this much.")
@o.options("relative")
@o.bounds
@o.output
def command(
    request: o.DataOptions,
    measure: str,
    of: str | None,
    confidence: float,
    margin: float | None,
    eps: float | None,
    relative: bool | None,
    bounds: dict[str, str],
    output: o.Output,
) -> None:
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
    from .startup import load_student

    output.check(request.files)
    request.check_bounds(bounds, eps is not None, relative)
    load_student()
    model = o.model_of(relative, eps)
    o.check(measure, of, confidence=confidence, margin=margin, eps=(eps,), model=model)
    if of is not None and (eps is not None or bounds):
        name = "--eps" if eps is not None else f"--{next(iter(bounds))}"
        raise InputError(
            f"--of cannot be given with {name}: certified ranges are for measures of all classes together."
        )

    def ask(joint: Any, **sides: Any) -> Any:
        found = compare(joint, measure, of=o.class_of(joint, of), confidence_level=confidence, margin=margin)
        if eps is None and not sides:
            return found
        from ..results.uncertainties import Uncertainty
        from ..robustness.ranking import certify_ranking

        return Uncertainty(found, certify_ranking(joint, measure, eps=eps, model=model, **sides))

    output.write(per_group(request.joint(), ask, beside=request.bounds(bounds)))

"""`wmcc images`."""

from __future__ import annotations

from . import options as o


@o.command()
@o.data(1, None)
@o.option("measure", "The measure: mean_iou, mean_f1, ecc, accuracy …", default="mean_iou")
@o.options("worst", "confidence")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Score the data set and each image.

    Shows the score of all rows together and the mean over images of their own scores, each with its interval; the same
    of each class, over the images that have it; and the images with the lowest scores. Several predictions are compared
    image by image. Images are the clusters of a table: those of --images truth/ pred/, or of --cluster.

    Examples::

        wmcc images parcels.csv --true label --pred pred --weight area --cluster region
        wmcc images parcels.csv --true label --pred pred --pred pred_b --weight area --cluster region --measure ecc
        wmcc tabulate parcels.csv --true label --pred pred --weight area --cluster region -o table.json
        wmcc images table.json --worst 3 --format json
    """
    from ..measures.checks import whole_number
    from ..results.images import image_scores
    from .request import per_group

    level, worst = asked.confidence, whole_number(asked.worst, "worst", 0)
    output.write(
        per_group(request.read(), lambda table: image_scores(table, asked.measure, confidence_level=level, worst=worst))
    )

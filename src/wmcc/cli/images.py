"""`wmcc images`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import complete
from . import options as o

if TYPE_CHECKING:
    from ..results.images import ImageScores
    from .output import Output
    from .request import DataOptions


@o.command("""
    wmcc images parcels.csv --true label --pred pred --weight area --cluster region
    wmcc images parcels.csv --true label --pred pred --pred pred_b --weight area --cluster region --measure ecc
    wmcc tabulate parcels.csv --true label --pred pred --weight area --cluster region -o table.json
    wmcc images table.json --worst 3 --format json
""")
@o.data(1, None)
@click.option(
    "--measure",
    metavar="NAME",
    default="mean_iou",
    show_default=True,
    help="The measure: mean_iou, mean_f1, ecc, accuracy …",
    shell_complete=complete.measures,
)
@click.option(
    "--worst",
    type=int,
    metavar="N",
    default=8,
    show_default=True,
    help="How many images with the lowest scores to list.",
)
@o.confidence
@o.output
def command(request: DataOptions, measure: str, worst: int, confidence: float, output: Output) -> None:
    """Score the data set and each image.

    Shows the score of all rows together and the mean over images of their own scores, each with its interval; the same
    of each class, over the images that have it; and the images with the lowest scores. Several predictions are compared
    image by image. Images are the clusters of a table: those of --images truth/ pred/, or of --cluster.
    """
    from ..results.images import image_scores
    from .request import per_group, rehearse
    from .startup import load_student

    output.check(request.files)
    load_student()

    def ask(table: Any) -> ImageScores:
        return image_scores(table, measure, confidence_level=confidence, worst=worst)

    rehearse(ask, request.pred if len(request.pred) > 1 else (), clusters=True)
    output.write(per_group(request.read(), ask))

# The public names of wmcc.results, once: __init__.py reads this file, and loads a name when it is asked for.

from ..core.score_table import ClassScores as ClassScores
from ..core.score_table import ScoreTable as ScoreTable
from ..inference.comparison import Comparison as Comparison
from ..inference.comparison import Difference as Difference
from ..inference.diagnostics import Diagnosis as Diagnosis
from ..inference.estimate import Interval as Interval
from ..inference.scores.curve import ThresholdCurve as ThresholdCurve
from ..inference.scores.measures import ScoreInterval as ScoreInterval
from ..mapping.accuracy import MapAccuracy as MapAccuracy
from ..mapping.drawing import DrawnSample as DrawnSample
from ..mapping.error_map import ErrorMap as ErrorMap
from ..mapping.estimates import Estimate as Estimate
from ..mapping.planning import SamplePlan as SamplePlan
from ..robustness.certificate import Certificate as Certificate
from ..robustness.certificate import Curve as Curve
from ..robustness.radii import Radius as Radius
from ..robustness.ranking import Lead as Lead
from ..robustness.ranking import Ranking as Ranking
from ..robustness.sensitivities import Sensitivity as Sensitivity
from ..robustness.trimming import TrimmingCurve as TrimmingCurve
from .best_threshold import BestThreshold as BestThreshold
from .images import ImageScores as ImageScores
from .scores import Score as Score
from .uncertainties import Uncertainty as Uncertainty
from .uncertainties import uncertainty as uncertainty

"""What a statement would cost, known before it runs, and the limits from which on a person is asked.

Estimators of engines are imported from their own modules, since each takes its engine's package:
`askback.guards.cost.duckdb`, `.postgres`, `.sqlite` and `.trino`.
"""

from askback.errors import EstimateFailed
from askback.guards.cost.estimate import (
    CalledEstimator,
    CostLimits,
    CostWords,
    Estimate,
    Estimator,
    Measure,
    PlanEstimator,
)

__all__ = [
    "CalledEstimator",
    "CostLimits",
    "CostWords",
    "Estimate",
    "EstimateFailed",
    "Estimator",
    "Measure",
    "PlanEstimator",
]

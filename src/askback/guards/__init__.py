"""Ask before something dangerous runs: `guard` stands before functions that delete, send, cost or reveal."""

from askback.guards.guard import Guard, guard
from askback.guards.risk import Risk, RiskOption

__all__ = ["Guard", "Risk", "RiskOption", "guard"]

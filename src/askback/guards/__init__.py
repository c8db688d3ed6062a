"""Ask before something dangerous runs: `guard` stands before functions that delete, send, cost or reveal."""

from askback.guards.arguments import Risk, RiskOption
from askback.guards.guard import Guard, guard

__all__ = ["Guard", "Risk", "RiskOption", "guard"]

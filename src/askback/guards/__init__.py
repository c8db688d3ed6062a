"""Ask before it hurts: `guard` stands before what deletes, sends, costs or reveals."""

from askback.guards.guard import Guard, guard
from askback.guards.risk import Risk, RiskOption

__all__ = ["Guard", "Risk", "RiskOption", "guard"]

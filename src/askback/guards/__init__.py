"""Ask before it hurts: `guard` stands before what deletes, sends, costs or reveals."""

from askback.guards.guard import Guard, guard
from askback.guards.risk import Option, Risk

__all__ = ["Guard", "Option", "Risk", "guard"]

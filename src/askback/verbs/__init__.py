"""What a body awaits: questions, effects and visits, and what is kept behind hosted pages."""

from askback.verbs.hosted import connect, disconnect, secret
from askback.verbs.questions import Ask, ask, ask_all, choose, confirm, once, visit

__all__ = ["Ask", "ask", "ask_all", "choose", "confirm", "connect", "disconnect", "once", "secret", "visit"]

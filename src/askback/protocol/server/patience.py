"""What clients of the rounds era are known to put up with: not in any capability, only in their code."""

from dataclasses import dataclass

from askback.runtime.carrier import Pause

USUAL_ROUNDS = 10
"""After so many results with questions the SDKs for Python, TypeScript, Go and C# give a call up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPatience:
    """How a client takes it that a person is not done yet."""

    max_rounds: int | None = USUAL_ROUNDS
    """None: it counts time, not rounds, so its person need not be asked once more to keep the call alive."""
    takes_state_alone: bool = True
    """Whether it comes back by itself when nothing is asked."""

    def pause(self, rounds: int) -> Pause:
        """What to do about a visit that is still open, in a call that has taken so many rounds."""
        if self.max_rounds is not None and rounds >= self.max_rounds:
            return Pause.GIVE_UP
        is_last_chance = self.max_rounds is not None and rounds == self.max_rounds - 1
        return Pause.ASK_AGAIN if is_last_chance or not self.takes_state_alone else Pause.END_ROUND


ASKBACK = "askback"
"""How our own driver calls itself; it bounds a call in time. One that lies makes its own calls fail, and no others."""


def patience_of(name: str, *, without_polling: frozenset[str]) -> ClientPatience:
    """What this client puts up with; those in `refusing` come back only where something is asked.

    LangChain is one of these, and calls itself what its transport does: only its operator can name it.
    """
    if name in without_polling:
        return ClientPatience(takes_state_alone=False)
    return ClientPatience(max_rounds=None) if name == ASKBACK else ClientPatience()

"""Where a conversation takes place: what was decided for the server, and what is known of the call."""

from dataclasses import dataclass
from typing import Any, Protocol

from askback.model.journal import Journal
from askback.model.texts import Words
from askback.runtime.approvals import Approvals
from askback.runtime.once import EffectClaimStore
from askback.runtime.visit_context import Grounds
from askback.schema.dialect import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPolicy:
    """What is decided once per server."""

    words: Words = Words()
    reply_retries: int = 3
    """How often a reply that does not fit is asked again; more would be nagging."""
    seconds: float | None = None
    max_reply_bytes: int = 65_536
    """A form is filled in by hand; a larger reply is not a person's, and would travel in every later round."""


class Setting(Grounds, Protocol):
    """Where a conversation takes place; looked at only when something is asked."""

    @property
    def journal(self) -> Journal: ...

    @property
    def policy(self) -> AskPolicy: ...

    @property
    def dialect(self) -> Dialect:
        """The words that the client's revision has for a form."""
        ...

    @property
    def keeper(self) -> EffectClaimStore: ...

    @property
    def is_later_round(self) -> bool: ...

    @property
    def approvals(self) -> Approvals:
        """Those that last beyond their call."""
        ...

    @property
    def target(self) -> str:
        """The name of the tool or prompt, or the resource's URI, that is called."""
        ...

    async def conversation_id(self) -> str:
        """One of a kind, on every round the same; given now where this call has none yet."""
        ...

    def question_id(self, place: str) -> str:
        """A new one each time: the next question at this place, as whoever shows it may know it."""
        ...

    async def premises(self, verb: str) -> Any:
        """Raises `VisitorUnknown` where the server has no pages for this caller."""
        ...

    @property
    def takes_returns(self) -> bool:
        """Whether questions that a body returns must be asked otherwise: the revision cannot carry them."""
        ...

"""A Visit, a link that the person is asked to open, and what is known of a visit: how it is stored and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from askback.model.form import digest_of

VisitKind = Literal["elsewhere", "secret", "connect"]
"""A page of the application, our page for a secret, our pages around a sign-in with another service."""

REMEMBERED = 86_400.0
"""Seconds for which it is known at least how a visit ended: a body that runs again wants to know it again."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visit:
    """What the person is told, and where they are sent. `id` names the visit on revisions that name visits."""

    mode: ClassVar[Literal["url"]] = "url"
    """What a client must be able to show for it."""
    message: str
    url: str
    id: str
    meta: Mapping[str, Any] | None = None
    template: str = ""
    """The link before its id came in, where that is known."""

    @property
    def digest(self) -> str:
        """Digest of the message and the template, or else the site: the rest of a URL often changes with every run."""
        return digest_of(self.message, under=self.template or "/".join(self.url.split("/", 3)[:3]))


@dataclass(frozen=True, slots=True)
class VisitSettled:
    """Done; with whatever the application said of it."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class VisitAborted:
    """It did not work out, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class VisitDeclined:
    """The person said no, on the page or before they came there."""


Ending = VisitSettled | VisitAborted | VisitDeclined


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVisit:
    """One visit, as the server keeps it."""

    id: str
    kind: VisitKind
    server: str
    """The name of the server that asked: a page of another one is not for it, even where they share a store."""
    owner: str
    """The caller who was asked; empty if unknown, which only pages of the application allow."""
    client: str
    """How the caller's client calls itself. For show: it could call itself anything (R27)."""
    message: str
    asked_at: float
    until: float
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its kind needs to know."""
    thing: str = ""
    """What it is to bring: visits of one owner for the same thing are over when one of them is."""
    remembered: float = REMEMBERED
    """Seconds for which its end is kept: as long as a client may come back for it."""
    call: str = ""
    place: str = ""
    """Where it stands on record, if there is one."""


class ParkedVisit(NamedTuple):
    """A visit that a call has left for one after it."""

    id: str
    what: str
    """A digest of what is visited and by whom."""
    asked_at: float
    until: float
    """When its time is over; if it has ended by then, that stays known for longer."""
    free_at: float
    """Until then its own call may come back, and no other call takes it."""
    holder: str = ""
    """Who took its end already, where that is left to the next call along with it."""

"""A Visit: a link that the person is asked to open. A frozen value; where it may lead is not judged here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askback.model.form import digest_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visit:
    """What the person is told, and where they are sent. `id` names the visit on revisions that name visits."""

    message: str
    url: str
    id: str
    meta: Mapping[str, Any] | None = None
    template: str = ""
    """The link before its id came in, where that is known."""

    @property
    def digest(self) -> str:
        """Of the message and the template; without one, of the site: the rest is often made anew on every run."""
        return digest_of(self.message, under=self.template or "/".join(self.url.split("/", 3)[:3]))

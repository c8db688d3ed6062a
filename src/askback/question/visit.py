"""A Visit: a link that the person is asked to open. A frozen value; where it may lead is not judged here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askback.question.form import digest_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visit:
    """What the person is told, and where they are sent. `id` names the visit on revisions that name visits."""

    message: str
    url: str
    id: str
    meta: Mapping[str, Any] | None = None

    @property
    def digest(self) -> str:
        """Of the message and of the site. The rest of a link is often made anew on every run: ids, tokens."""
        return digest_of(self.message, under="/".join(self.url.split("/", 3)[:3]))

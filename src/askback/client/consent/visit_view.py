"""A visit as both surfaces put it before a person: who, where and why, the whole link, and what to beware of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from askback.client.consent.verdict import MAX_URL_LENGTH
from askback.client.labels import who_asks
from askback.model.safe import safe_line

if TYPE_CHECKING:  # a person knows verdicts, so verdicts cannot know persons
    from askback.client.person import VisitAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitView:
    """Safe text, ready to be drawn."""

    who: str
    where: tuple[str, str, str]
    """The host in three pieces: what stands before the registrable domain, the domain, what stands behind it."""
    why: str
    url: str
    """The whole link as it will be opened, or as it was written where it never will be."""
    warnings: tuple[str, ...]
    note: str
    """A fact that is no reason for care; often empty."""
    refusal: str | None


def view_visit(asked: "VisitAsked") -> VisitView:
    """What a person is shown of a visit before anything is opened: the host cut around its registered domain."""
    verdict = asked.verdict
    before, domain, after = verdict.host.rpartition(verdict.domain) if verdict.domain else ("", "", "")
    url = verdict.href if verdict.allowed else asked.url
    return VisitView(
        who=who_asks(asked.asker),
        where=(safe_line(before, MAX_URL_LENGTH), safe_line(domain, MAX_URL_LENGTH), safe_line(after)),
        why=safe_line(asked.purpose),
        url=safe_line(url, MAX_URL_LENGTH),
        warnings=tuple(
            safe_line(warning, MAX_URL_LENGTH) for warning in verdict.warnings if warning != verdict.refusal
        ),
        note="" if verdict.refusal else verdict.note,
        refusal=verdict.refusal,
    )

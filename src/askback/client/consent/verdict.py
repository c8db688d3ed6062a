"""The Verdict on one link. Knows nothing of how it was reached."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a link is, as a browser reads it. A refused one keeps its parts, so that it can be shown."""

    refusal: str | None
    """Why it is never opened, in one sentence; None where a person may decide."""
    href: str = ""
    """The link as a browser writes it: what is shown and, if allowed, opened. Empty where no browser could read it."""
    host: str = ""
    """In ASCII, lower case; IPv6 addresses in brackets."""
    domain: str = ""
    """The part of the host that somebody registered; the whole host for addresses and single words."""
    unicode_host: str = ""
    warnings: tuple[str, ...] = ()
    """Plain sentences, the gravest first. They may name the host in Unicode: shown like any text of a server."""

    note: str = ""
    """A fact that is no reason for care."""

    @property
    def allowed(self) -> bool:
        """Whether a person may be asked to open it at all."""
        return self.refusal is None

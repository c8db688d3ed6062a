"""The protocol's revisions as a table: in which era each is, and what it can express."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal

from mcp_types import ClientCapabilities

from askback.errors import CannotAsk
from askback.schema.dialect import Dialect

Mode = Literal["form", "url"]
NOUN: dict[Mode, str] = {"form": "form", "url": "link"}
INSTEAD: dict[Mode, str] = {
    "form": "in the tool, catch CannotAsk and go on with a default, or take the value as an argument.",
    "url": "in the tool, catch CannotAsk and say what the person can do instead.",
}
"""What an author can do where nobody can be asked. What a link is for must be no argument: models read those."""
Modes = frozenset[Mode]
"""What the client of one call can show."""

TOOLS_CALL, PROMPTS_GET, RESOURCES_READ = "tools/call", "prompts/get", "resources/read"
TOOLS_LIST = "tools/list"

CONVERSATION_METHODS = frozenset({TOOLS_CALL, PROMPTS_GET, RESOURCES_READ})
"""The only requests whose body may ask: no other result has room for questions (R32)."""


KINDS = {TOOLS_CALL: "tool", PROMPTS_GET: "prompt", RESOURCES_READ: "resource"}
"""What a call is to, in a word."""


class Era(Enum):
    """How a server asks."""

    SILENT = "no elicitation at all"
    PUSH = "a request to the client while the call waits"
    ROUNDS = "a result with questions; the client calls again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What one protocol revision can carry."""

    version: str
    era: Era
    dialect: Dialect = Dialect.TITLED
    says_mode: bool = True
    visits: bool = True


JUNE_2025 = Revision(
    version="2025-06-18", era=Era.PUSH, dialect=Dialect.UNTITLED, says_mode=False, visits=False
)
NOVEMBER_2025 = Revision(version="2025-11-25", era=Era.PUSH)
JULY_2026 = Revision(version="2026-07-28", era=Era.ROUNDS)

_FIRST: dict[Mode, Revision] = {"form": JUNE_2025, "url": NOVEMBER_2025}
"""Since when there is such a thing."""

REVISIONS = {revision.version: revision for revision in (JUNE_2025, NOVEMBER_2025, JULY_2026)}


@lru_cache(maxsize=16)
def revision_of(version: str) -> Revision:
    """The revision of a version string; an older or unknown one cannot ask."""
    return REVISIONS.get(version) or Revision(version=version, era=Era.SILENT, visits=False)


def target_of(method: str, params: Mapping[str, Any]) -> tuple[str, Any]:
    """What a call is about: the name or the URI, and its arguments."""
    if method == RESOURCES_READ:
        return str(params.get("uri", "")), {}
    return str(params.get("name", "")), params.get("arguments") or {}


def declares(capabilities: ClientCapabilities | None, mode: Mode) -> bool:
    """Whether a client declared that it can show this; an empty declaration means forms (R01)."""
    declared = capabilities.elicitation if capabilities is not None else None
    if declared is None:
        return False
    if mode == "url":
        return declared.url is not None
    return declared.form is not None or declared.url is None


def modes_of(
    revision: Revision, declared: ClientCapabilities | None, *, stated: Modes | None = None
) -> Modes:
    """What a client can show. `stated` is what its operator says of clients that declare nothing at all."""
    if revision.era is Era.SILENT:
        return frozenset()
    if declared is None and stated is not None:
        # Said of clients in general; one whose revision knows no links would have to say it itself.
        return stated if revision.visits else stated - {"url"}
    return frozenset(mode for mode in NOUN if declares(declared, mode))


def cannot_show(mode: Mode, revision: Revision) -> CannotAsk:
    """The refusal to ask what this client cannot show, with the reason and what would help."""
    if revision.era is Era.SILENT:
        reason = f"This client speaks MCP {revision.version}, which knows no questions to the user."
        advice = f"Connect with a client that speaks {_FIRST[mode].version} or later; {INSTEAD[mode]}"
    elif mode == "url" and not revision.visits:
        reason = f"This client speaks MCP {revision.version}, which knows forms and no links."
        advice = f"Connect with a client that speaks {_FIRST[mode].version} or later; {INSTEAD[mode]}"
    else:
        reason = f"This client did not declare that it can show a {NOUN[mode]} (elicitation.{mode})."
        advice = f"Use a client that declares it, or switch it on there; {INSTEAD[mode]}"
    return CannotAsk(mode=mode, reason=reason, advice=advice)


def require_mode(mode: Mode, revision: Revision, modes: Modes) -> None:
    """Raise `CannotAsk` where this client cannot show that."""
    if mode not in modes:
        raise cannot_show(mode, revision)

"""What a client says it can show, in the words of each revision."""

from collections.abc import Collection, Mapping
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from askback.protocol.revisions import Era, Mode, Revision, revision_of

INITIALIZE = "initialize"

MODES: tuple[Mode, ...] = ("form", "url")


def supported_modes(modes: Collection[Mode], revision: Revision) -> frozenset[Mode]:
    """A person's modes that this revision can express."""
    if revision.era is Era.SILENT:
        return frozenset()
    return frozenset(mode for mode in modes if mode == "form" or revision.visits)


def elicitation_capability(modes: Collection[Mode], revision: Revision) -> dict[str, Any] | None:
    """The `elicitation` capability, with exactly these modes (R45); nothing where nothing can be shown."""
    shown = supported_modes(modes, revision)
    if not shown:
        return None
    return {mode: {} for mode in MODES if mode in shown} if revision.says_mode else {}


def declare_modes(
    method: str, params: Mapping[str, Any] | None, *, modes: Collection[Mode], pinned: str | None
) -> dict[str, Any] | None:
    """These parameters of a request with the person's modes among the capabilities, wherever they are stated."""
    if method == INITIALIZE:
        hello = dict(params or {})
        hello["protocolVersion"] = pinned or hello["protocolVersion"]
        return _with(hello, "capabilities", modes, revision_of(hello["protocolVersion"]))
    match params:
        case {"_meta": {**meta}} if CLIENT_CAPABILITIES_META_KEY in meta:
            revision = revision_of(meta[PROTOCOL_VERSION_META_KEY])
            return {**params, "_meta": _with(meta, CLIENT_CAPABILITIES_META_KEY, modes, revision)}
        case _:
            return None if params is None else dict(params)


def _with(holder: dict[str, Any], place: str, modes: Collection[Mode], revision: Revision) -> dict[str, Any]:
    others = {name: value for name, value in holder[place].items() if name != "elicitation"}
    said = elicitation_capability(modes, revision)
    return {**holder, place: others if said is None else {**others, "elicitation": said}}

"""The revisions of MCP that have links, as the SDK's client is told to speak them."""

REVISIONS = ("2025-11-25", "2026-07-28")


def mode_of(revision: str) -> str:
    return "legacy" if revision == REVISIONS[0] else revision

"""Versions as a client and a server compare them: what a refusal names, and which of that both speak."""

from collections.abc import Collection
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

NEWEST = LATEST_MODERN_VERSION
"""In which a server is asked first what it speaks."""


def has_rounds(versions: Collection[Any]) -> bool:
    """Whether one of them is of the rounds era, and we speak it."""
    return any(version in versions for version in MODERN_PROTOCOL_VERSIONS)


def mutual_versions(error: MCPError) -> list[str]:
    """Versions of the rounds era that a refusal names and that we speak."""
    return [version for version in MODERN_PROTOCOL_VERSIONS if version in _supported(error)]


def is_final(error: MCPError) -> bool:
    """Whether a refusal names versions and none in which a server is greeted the older way."""
    named = _supported(error)
    return bool(named) and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in named)


def _supported(error: MCPError) -> list[Any]:
    if error.code != UNSUPPORTED_PROTOCOL_VERSION:
        return []
    match error.data:
        case {"supported": [*supported]}:
            return supported
        case _:
            return []

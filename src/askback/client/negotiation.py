"""Which revision is spoken: the newest that both sides know, or the one that was pinned."""

from typing import Any

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import DiscoverResult
from pydantic import ValidationError

from askback.errors import NotUnderstood
from askback.protocol.client.dispatcher import is_lost
from askback.protocol.client.versions import NEWEST, has_rounds, is_final, mutual_versions
from askback.protocol.revisions import Era, Revision, revision_of


async def negotiate(session: ClientSession, pinned: Revision | None) -> Revision:
    """Let `session` speak a revision; raises where the pinned one is not to be had."""
    if pinned is None:
        await _newest(session)
    elif pinned.era is Era.ROUNDS:
        session.adopt(await _pinned(session, pinned.version))
    else:
        await session.initialize()
    assert session.protocol_version is not None
    if pinned is not None and session.protocol_version != pinned.version:
        raise NotUnderstood(f"asked to speak {pinned.version}, it answered in {session.protocol_version}")
    return revision_of(session.protocol_version)


async def _pinned(session: ClientSession, version: str) -> DiscoverResult:
    try:
        return DiscoverResult.model_validate(await _discovered(session, version))
    except (MCPError, ValidationError) as error:
        if isinstance(error, MCPError) and is_lost(error):
            raise
        raise NotUnderstood(f"it does not answer in {version}") from error


async def _newest(session: ClientSession) -> None:
    """Ask what the server speaks; one that does not know the question, or is slow to, is greeted the older way."""
    discovered = await _discover(session)
    if discovered is not None:
        session.adopt(discovered)
        return
    try:
        await session.initialize()
    except MCPError as error:
        if not (versions := mutual_versions(error)):
            raise
        # It was slow to say so, and is a server of the rounds era after all.
        session.adopt(DiscoverResult.model_validate(await session.send_discover(versions[-1])))


async def _discover(session: ClientSession) -> DiscoverResult | None:
    """What the server is, if it is one of the rounds era."""
    try:
        found = DiscoverResult.model_validate(await _discovered(session))
    except ValidationError:
        return None
    except MCPError as error:
        if is_final(error):
            raise
        return None
    return found if has_rounds(found.supported_versions) else None


async def _discovered(session: ClientSession, version: str = NEWEST) -> dict[str, Any]:
    """Asked once more in a version that the refusal names."""
    try:
        return await session.send_discover(version)
    except MCPError as error:
        if not (versions := mutual_versions(error)):
            raise
        return await session.send_discover(versions[-1])

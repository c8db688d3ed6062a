"""Questions that bodies put in other ways than `ask`: all of them are on record, on both hosts and every revision."""

from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from askback.testing import REVISIONS, accept, run_tool
from tests.server.audit.books import HOSTS, mcpserver
from tests.support.cafe import fastmcp as of_fastmcp
from tests.support.cafe import mcpserver as of_mcpserver
from tests.support.cafe.order import MESSAGE, STYLES, TO_PAY
from tests.support.visit_shops import LINKS

pytestmark = pytest.mark.anyio

BODIES = {"MCPServer": of_mcpserver.BODIES, "FastMCP": of_fastmcp.BODIES}

COMBINATIONS = [
    (style, name, revision)
    for style, name, revision in product(STYLES, HOSTS, REVISIONS)
    if (style, revision) != ("ctx.elicit_url", "2025-06-18") and (style, name) != ("Resolve", "FastMCP")
]
"""That revision knows no links, and that host no resolvers."""


@pytest.mark.parametrize(("style", "name", "revision"), COMBINATIONS)
async def test_each_way_of_asking_is_told_alike(style: str, name: str, revision: str, tmp_path: Path):
    is_link = style == "ctx.elicit_url"
    books = HOSTS[name](BODIES[name][style], tmp_path)
    answer = accept() if is_link else accept(drink="tea")
    await run_tool(books.server, "t", answers=[answer], revision=revision, capabilities=LINKS)
    asked, answered = [entry for entry in await books.entries() if entry.event in ("asked", "answered")]
    assert (asked.event, asked.message) == ("asked", TO_PAY if is_link else MESSAGE)
    assert (asked.channel, asked.place) == ("link" if is_link else "form", answered.place)
    assert (answered.event, answered.action, answered.word) == ("answered", "accept", "client")
    digest = books.ledger.digest_of({"drink": "tea"}, call=answered.call, place=answered.place)
    assert answered.digest == (None if is_link else digest)
    assert asked.question
    if is_link:
        assert asked.asks == {"url": "https://till.example"}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_visits_that_a_body_raises_are_told(revision: str, tmp_path: Path):
    gone: list[str] = []

    async def body() -> str:
        if gone:
            return "paid"
        gone.append("there")
        link = ElicitRequestURLParams(
            message=TO_PAY, url="https://ada:key@till.example/pay/7?token=x", elicitation_id="7"
        )
        raise UrlElicitationRequiredError([link])

    books = mcpserver(body, tmp_path)
    answers: list[Any] = [accept()] if revision == "2026-07-28" else []
    with nullcontext() if answers else pytest.raises(MCPError, match="URL elicitation"):
        await run_tool(books.server, "t", answers=answers, revision=revision, capabilities=LINKS)
    told = [row for row in await books.told("place", "asks", "action") if row[1]]
    assert told[0] == ("asked", "visit-1", {"url": "https://till.example"}, None)
    assert told[1:] == ([("answered", "visit-1", None, "accept")] if answers else [])

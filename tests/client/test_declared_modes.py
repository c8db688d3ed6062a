"""What a server is told that the person can be shown: exactly that, in the words of its revision."""

from typing import Any

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY

from askback.client import Driver, Mode
from askback.testing.person import ScriptedPerson
from tests.client.stranger_servers import JULY, Context, Heard, Stranger, done

DECLARED: dict[str, dict[tuple[Mode, ...], Any]] = {
    "2025-06-18": {(): None, ("form",): {}, ("url",): None, ("form", "url"): {}},
    "2025-11-25": {
        (): None,
        ("form",): {"form": {}},
        ("url",): {"url": {}},
        ("form", "url"): {"form": {}, "url": {}},
    },
}
DECLARED[JULY] = DECLARED["2025-11-25"]

CASES = [
    pytest.param(revision, modes, said, id=f"{revision}-{'+'.join(modes) or 'nothing'}")
    for revision, by_modes in DECLARED.items()
    for modes, said in by_modes.items()
]


async def answer_at_once(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done()


def capabilities(heard: Heard) -> dict[str, Any]:
    if heard.method == "initialize":
        return heard.params["capabilities"]
    return heard.meta[CLIENT_CAPABILITIES_META_KEY]


@pytest.mark.verifies("R45")
@pytest.mark.parametrize(("revision", "modes", "said"), CASES)
async def test_the_modes_of_the_person_are_declared_and_no_others(
    revision: str, modes: tuple[Mode, ...], said: Any
):
    server = Stranger(answer_at_once, revision=revision)
    person = ScriptedPerson(modes=frozenset(modes))
    async with Driver(server.transport(), person, revision=revision) as driver:
        await driver.call_tool("order")
    told = [heard for heard in server.heard if revision == JULY or heard.method == "initialize"]
    assert told
    assert [capabilities(heard).get("elicitation") for heard in told] == [said] * len(told)


@pytest.mark.verifies("R45")
async def test_without_a_person_nothing_is_declared(revision: str):
    server = Stranger(answer_at_once, revision=revision)
    async with Driver(server.transport()) as driver:
        await driver.call_tool("order")
    assert "elicitation" not in capabilities(server.heard[-1] if revision == JULY else server.heard[1])


@pytest.mark.verifies("R45")
async def test_a_host_can_declare_less_than_its_person_shows():
    server = Stranger(answer_at_once)
    async with Driver(server.transport(), ScriptedPerson(), modes={"form"}) as driver:
        await driver.call_tool("order")
    assert capabilities(server.calls[0])["elicitation"] == {"form": {}}


async def test_a_pinned_revision_is_asked_for_and_spoken(revision: str):
    server = Stranger(answer_at_once, revision=revision)
    async with Driver(server.transport(), ScriptedPerson(), revision=revision) as driver:
        assert driver.revision == revision
    assert [heard.method for heard in server.heard] == [
        "server/discover" if revision == JULY else "initialize"
    ]


async def test_the_newest_revision_is_found_and_an_older_server_is_greeted_the_older_way(revision: str):
    server = Stranger(answer_at_once, revision=revision)
    async with Driver(server.transport(), ScriptedPerson()) as driver:
        assert driver.revision == revision

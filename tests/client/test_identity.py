"""Which sites a server is known to send people to: known of that very server, and not of its namesakes."""

from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from askback.client import Asker, Driver, PersonQueue, QuestionLimits, Turn, VisitAsked
from askback.client.consent import KnownSites
from askback.client.intake import Intake
from askback.client.labels import who_asks
from askback.client.limits import QuestionTally
from askback.client.target import resolve_target
from askback.protocol.client import IncomingVisit
from askback.testing import accept
from askback.testing.person import ScriptedPerson
from tests.client.inns import mcp
from tests.client.stranger_servers import Context, Heard, Stranger, asking, done, visit
from tests.support.servers.http import served


def identity(target: Any) -> str | None:
    return resolve_target(target).identity


def script(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(command="python3", args=["server.py"], cwd=folder)


def test_the_same_command_elsewhere_is_another_server(tmp_path: Path):
    assert resolve_target(script(tmp_path)).label == resolve_target(script(tmp_path / "other")).label
    assert identity(script(tmp_path)) != identity(script(tmp_path / "other"))
    assert identity(script(tmp_path)) == identity(script(tmp_path / "other" / ".."))


def test_a_command_without_a_folder_runs_where_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert identity(["python3", "server.py"]) == identity(script(tmp_path))


DIFFERENT = [
    ["python3", "server.py"],
    ["python3", "server.py", "--debug"],
    ["python3", "server.py --debug"],
    "https://mcp.example/one",
    "https://mcp.example/two",
    "https://mcp.example:8443/one",
    "http://mcp.example/one",
    "http://no address",
]


def test_other_words_and_other_addresses_are_other_servers():
    assert len({identity(target) for target in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize(
    "same",
    [
        "https://ada:key@mcp.example/one",
        "https://MCP.example:443/one",
        "https://mcp.example/one?key=s3cret#a",
    ],
)
def test_an_address_is_the_same_with_another_key(same: str):
    assert identity(same) == identity("https://mcp.example/one")


def test_nothing_of_a_command_or_an_address_can_be_read_from_it():
    for target in (["server", "s3cret"], "https://mcp.example/s3cret"):
        assert "s3cret" not in repr(identity(target))


async def sites_of(asker: Asker, sites: KnownSites, url: str) -> str:
    """What this server's link is warned of; the person agrees to it."""
    intake = Intake(
        PersonQueue(ScriptedPerson([accept()])), asker=asker, limits=QuestionLimits(), sites=sites
    )
    asked = await intake.read(IncomingVisit(message="Please pay.", url=url), purposes=("tool order",))
    await intake.put(Turn(asked), QuestionTally(QuestionLimits()))
    assert isinstance(asked, VisitAsked)
    return " ".join(asked.verdict.warnings)


async def test_a_server_of_the_same_label_inherits_no_trust():
    sites = KnownSites()
    mine, other = (Asker(label="server.py", identity=identity) for identity in ("1", "2"))
    await sites_of(mine, sites, "https://pay.example/7")
    assert "sent you to pay.example before" in await sites_of(mine, sites, "https://evil.example/7")
    assert "before" not in await sites_of(other, sites, "https://evil.example/7")
    assert "evil.example before" in await sites_of(other, sites, "https://pay.example/7")


async def test_a_server_whose_place_we_do_not_know_is_known_by_its_label():
    sites = KnownSites()
    await sites_of(Asker(label="mine"), sites, "https://pay.example/7")
    assert sites.before("mine") == {"pay.example"}


async def test_whoever_is_asked_is_not_shown_it_but_a_driver_has_it():
    async with served(mcp) as url, Driver(url) as driver:
        assert driver.asker.identity == identity(url)
        assert str(driver.asker.identity) not in who_asks(driver.asker)


async def pays(ctx: Context, heard: Heard) -> dict[str, Any]:
    return done() if "inputResponses" in heard.params else asking("s", pay=visit())


async def test_transports_without_a_label_inherit_nothing_and_leave_nothing(tmp_path: Path):
    sites, person = KnownSites(tmp_path / "sites.json"), ScriptedPerson([accept()])
    async with Driver(Stranger(pays).transport(), person, sites=sites) as driver:
        await driver.call_tool("order")
        assert driver.asker.label == "unnamed server"
    assert not (tmp_path / "sites.json").exists()


async def test_of_a_transport_with_a_label_its_sites_are_remembered(tmp_path: Path):
    sites = KnownSites(tmp_path / "sites.json")
    async with Driver(
        Stranger(pays).transport(), ScriptedPerson([accept()]), sites=sites, label="till"
    ) as driver:
        await driver.call_tool("order")
    assert sites.before("till") == {"pay.example"}

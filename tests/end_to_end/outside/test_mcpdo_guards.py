"""mcpdo before guards: it shows what is asked, sends what it is told, and nothing runs that nobody agreed to."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.end_to_end.outside.mcpdo import Guest, guest_at, text_of
from tests.guards.people.errands import FEW, NAMES, STATEMENT, Errands
from tests.guards.people.serving import command

pytestmark = [pytest.mark.strangers, pytest.mark.slow]


class There(NamedTuple):
    guest: Guest
    errands: Errands


PAIRS = ["legacy stdio MCPServer", "modern http FastMCP"]
"""Both eras, transports and hosts; that each goes with each is shown by the tests of forms, and at the desk."""


@pytest.fixture(scope="module", params=PAIRS)
def there(request: pytest.FixtureRequest) -> Iterator[There]:
    connection, _, host = request.param.rpartition(" ")
    with TemporaryDirectory(prefix="errands-") as folder:
        errands = Errands(Path(folder)).prepare()
        stdio, http = command(host, errands.folder), command(host, errands.folder, "http")
        with guest_at(connection, stdio=stdio, http=http) as guest:
            yield There(guest, errands)


@pytest.mark.verifies("R14", "R15")
def test_a_yes_and_nothing_else_deletes(there: There):
    guest, file = there.guest, there.errands.add("old.txt")
    asked = guest.call("delete", "path:=old.txt")
    assert asked["message"] == "Delete old.txt?"
    refused = guest.answer(asked, "--decline")
    assert refused["isError"] and text_of(refused).startswith("delete was not run: the person said no.")
    again = guest.answer(guest.call("delete", "path:=old.txt"), '{"yes": "certainly"}')
    assert again["message"].startswith("Delete old.txt?") and file.exists()
    assert text_of(guest.answer(again, "yes:=true")) == "old.txt is gone"
    assert not file.exists()


def test_a_yes_for_an_hour_covers_what_it_said(there: There):
    guest, errands = there
    asked = guest.call("send", "to:=ada", "text:=hello")
    choices = {
        one["const"]: one["title"] for one in asked["requestedSchema"]["properties"]["decision"]["oneOf"]
    }
    assert list(choices) == ["once", "conversation", "for 3600", "no"]
    assert choices["for 3600"] == "Yes, and for an hour: send with to = ada, whatever else changes"
    assert text_of(guest.answer(asked, "decision:=for 3600")) == "sent to ada"
    assert text_of(guest.call("send", "to:=ada", "text:=again")) == "sent to ada"
    assert errands.sent == ["ada: hello", "ada: again"]


def test_a_query_is_shown_in_full_and_run_for_a_few_rows(there: There):
    asked = there.guest.call("query", f"statement:={STATEMENT}")
    assert "- main.people.name: names, such as Robin Example" in asked["message"]
    assert asked["message"].endswith("  | ORDER BY id")
    assert text_of(there.guest.answer(asked, "decision:=limit")) == " ".join(NAMES[:FEW])

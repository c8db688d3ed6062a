"""The reading room's secrets, as an author would test them."""

from typing import Any

import pytest

from askback.testing import decline, filled_vault, run_tool
from examples.secrets.server import make_server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


# --8<-- [start:filled]
async def test_a_reader_with_a_key_is_not_asked_for_it():
    vault = await filled_vault("reading room", {"dictionary key": "a-right-key"})
    run = await run_tool(make_server(vault=vault), "define", {"word": "owl"})
    assert run.text == "owl: a word with 3 letters"
    assert not run.asked


async def test_a_key_that_is_not_taken_is_asked_for_again():
    vault = await filled_vault("reading room", {"dictionary key": "an-old-key"})
    run = await run_tool(
        make_server(vault=vault), "define_at_last", {"word": "owl"}, [decline()], capabilities=LINKS
    )
    assert [asked.mode for asked in run.asked] == ["url"]
    assert run.text == "Without a key nothing can be looked up."


# --8<-- [end:filled]


async def test_a_secret_with_fields_is_given_as_a_mapping():
    vault = await filled_vault("reading room", {"library account": {"card": "0123456789", "pin": "4711"}})
    run = await run_tool(make_server(vault=vault), "lend", {"title": "Moby Dick"})
    assert run.text == "Moby Dick is reserved on card 89, with a PIN of 4 digits."


async def test_what_is_kept_for_one_server_is_nothing_to_another():
    vault = await filled_vault("another room", {"dictionary key": "a-right-key"})
    run = await run_tool(make_server(vault=vault), "define", {"word": "owl"}, [decline()], capabilities=LINKS)
    assert run.text == "Without a key nothing can be looked up."

"""Ways around a guard that somebody tried: names, shapes, versions and orders that an author did not think of."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from askback import Askback, guard
from askback.errors import AuthorError
from askback.guards import Risk
from askback.guards.arguments import to_plain
from askback.ledger import Ledger
from askback.stores import MemoryStore
from askback.testing import accept, decline, run_tool
from tests.guards.post import HOSTS, Post
from tests.guards.serving import Serve, mcpserver
from tests.support.clock import Clock
from tests.support.deliveries import text_of
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio

YES, NO = accept(yes=True), decline()
HOUR = accept(decision="for 3600")


# An argument that is called like something of ours.


def burning() -> Callable[..., Any]:
    """A function of its own, since hosts leave marks on them."""

    async def burn(tool: str, whole: bool = False) -> str:
        return f"burnt {tool}"

    return burn


async def test_an_argument_called_tool_does_not_pass_for_the_tools_name(serve: Serve, revision: str):
    server = serve(burning(), guards=[guard("{tool} changes things. Run it?")])
    run = await run_tool(server, "burn", {"tool": "look"}, [YES], revision=revision)
    assert run.asked[0].message == "burn changes things. Run it?\n\nWith tool = look\nWith whole = false"


def _is_burn(tool: str) -> bool:
    return tool == "burn"


def _is_burn_among(**given: Any) -> bool:
    return given["tool"] == "burn"


def _burn_among(**given: Any) -> str | None:
    return f"Run {given['tool']}?" if given["tool"] == "burn" else None


@pytest.mark.parametrize(
    "asks",
    [
        guard(when=lambda tool: tool == "burn"),
        guard(when=_is_burn_among),
        guard(say=lambda tool: f"Run {tool}?" if tool == "burn" else None),
        guard(say=_burn_among),
    ],
)
async def test_nor_does_it_for_a_function_of_the_authors(serve: Serve, asks: Any):
    run = await run_tool(serve(burning(), guards=[asks]), "burn", {"tool": "look"}, [YES])
    assert "With tool = look" in run.asked[0].message


@pytest.mark.parametrize(
    "options",
    [{"say": "Burn {tool}?"}, {"when": _is_burn}, {"key": "{tool}"}],
    ids=lambda options: next(iter(options)),
)
def test_what_could_mean_either_is_refused_when_it_is_made(options: Any):
    with pytest.raises(AuthorError, match="called 'tool'"):
        guard(**options)(burning())
    with pytest.raises(AuthorError, match="called 'tool'"):
        guard(**options, arguments="tool")
    guard("Burn it?")(burning())


async def test_facts_of_the_authors_do_not_pass_for_ours(clock: Clock):
    told: list[Mapping[str, Any] | None] = []

    class Kept(Ledger):
        async def write(self, *entries: Any) -> Any:
            told.extend(entry.facts for entry in entries if entry.event == "guarded" and entry.facts)
            return await super().write(*entries)

    @guard(say=lambda: Risk(message="?", facts={"tool": "look", "arguments": "none", "rows": 3}))
    async def send(to: str) -> str:
        return "sent"

    store = MemoryStore(clock=clock)
    server = mcpserver(send, store=store, clock=clock, ledger=Kept(store, keys=[b"k" * 32]), keys=[b"k" * 32])
    await run_tool(server, "send", {"to": "ada"}, [YES])
    assert told and told[0] is not None
    assert (told[0]["tool"], told[0]["rows"], len(told[0]["arguments"])) == ("send", 3, 64)


# Arguments that nobody expects.


HOSTILE = "x = 1\nWith copies"


async def test_the_name_of_an_argument_breaks_out_of_nothing(revision: str):
    server = HOSTS["Server"](Post(), guards=[guard("Send to {to}?", tools="send")])
    given = {"to": "ada", HOSTILE: 2, "https://evil.example": 3}
    run = await run_tool(server, "send", given, [NO], revision=revision)
    lines = run.asked[0].message.split("\n")
    assert lines == [
        "Send to ada?",
        "",
        'With "x = 1\\nWith copies" = 2',
        "With https[:]//evil.example = 3",
        "With copies = 1",
    ]


def many(copies: int, limit: int = 1) -> bool:
    return copies > limit


@pytest.mark.parametrize(
    "asks",
    [
        guard(when=many, tools="send"),
        guard(say=lambda to, quietly=False: None if quietly else f"Send to {to}?", tools="send"),
        guard("Send?", offers=[3600], key=lambda to, whom="": whom or to, tools="send"),
    ],
)
async def test_what_a_tool_is_not_listed_with_fills_no_default_of_the_authors(asks: Any, revision: str):
    post = Post()
    server = HOSTS["Server"](post, guards=[asks])
    given = {"to": "ada", "copies": 9, "limit": 99, "quietly": True, "whom": "bob"}
    run = await run_tool(server, "send", given, revision=revision)
    assert run.is_error and "is not listed with" in run.text and post.ran == []
    plainly = await run_tool(server, "send", {"to": "ada", "copies": 9}, [NO], revision=revision)
    assert len(plainly.asked) == 1


async def test_a_name_that_a_handler_of_its_own_reads_more_freely_is_asked_about(revision: str):
    post = Post()
    server = HOSTS["Server"](post, guards=[guard("Send?", tools="send")])
    for name in ("SEND", "send ", "ｓｅｎｄ"):
        run = await run_tool(server, name, {"path": "a"}, [NO], revision=revision)
        assert run.is_error and len(run.asked) == 1 and post.ran == []


class Letter(BaseModel):
    model_config = ConfigDict(extra="allow")

    to: str = Field(alias="recipient")


@pydantic_dataclass(config=ConfigDict(extra="allow"))
class Parcel:
    to: str


def test_what_has_two_values_under_one_name_is_not_shown_as_one():
    with pytest.raises(AuthorError, match="twice"):
        to_plain(Letter.model_validate({"recipient": "eve", "to": "ada"}))
    with pytest.raises(AuthorError, match="twice"):
        to_plain({1: "eve", "int 1": "ada"})


def _validated(kind: Any, **given: str) -> Any:
    return kind(**given)


def test_what_a_dataclass_takes_beyond_its_fields_counts():
    assert to_plain(_validated(Parcel, to="ada", copy="eve")) == {"to": "ada", "copy": "eve"}


async def test_a_first_argument_called_like_a_methods_object_is_shown(revision: str):
    """FastMCP refuses such a function by itself."""

    async def drop(cls: str, name: str = "all") -> str:
        return f"dropped {cls}"

    run = await run_tool(mcpserver(guard()(drop)), "drop", {"cls": "users"}, [YES], revision=revision)
    assert run.asked[0].message == "Run drop?\n\nWith cls = users\nWith name = all"


class Shelf:
    @guard("Take {cls}?")
    async def take(self, cls: str) -> str:
        return f"took {cls}"

    async def give(self, cls: str) -> str:
        return f"gave {cls}"


async def test_nor_is_that_of_a_bound_method_hidden():
    server = mcpserver(Shelf().take, guard()(Shelf().give))
    taken = await run_tool(server, "take", {"cls": "a"}, [YES])
    given = await run_tool(server, "give", {"cls": "a"}, [YES])
    assert (taken.asked[0].message, taken.text) == ("Take a?", "took a")
    assert (given.asked[0].message, given.text) == ("Run give?\n\nWith cls = a", "gave a")


async def test_a_tool_is_known_by_the_names_of_its_functions_arguments_too():
    server: FastMCP[Any] = FastMCP("test")
    Askback(server, guards=[guard("Touch {path}?", arguments="path")])

    @server.tool
    async def touch(path: Annotated[str, Field(alias="file")]) -> str:
        return f"touched {path}"

    assert (await run_tool(server, "touch", {"file": "a"}, [NO])).is_error


# What an approval is for.


async def test_a_key_that_names_nothing_says_that_it_is_for_everything(serve: Serve):
    @guard("Pay {amount}?", offers=[3600], key="any amount")
    async def pay(amount: int) -> str:
        return f"paid {amount}"

    run = await run_tool(serve(pay), "pay", {"amount": 5}, [HOUR])
    assert 'Yes, and for an hour: pay with "any amount", whatever else changes' in str(run.asked[0].schema)


async def test_an_approval_is_not_for_another_guard_that_comes_to_stand_in_its_place(clock: Clock):
    store = MemoryStore(clock=clock)

    async def send(to: str) -> str:
        return f"sent to {to}"

    def by_whom(to: str) -> Any:
        return to

    old = guard(say=lambda to: f"Old: {to}?", offers=[3600], key=by_whom)
    new = guard(say=lambda to: f"New: {to}?", offers=[3600], key=by_whom)
    await run_tool(mcpserver(send, guards=[old], store=store, clock=clock), "send", {"to": "ada"}, [HOUR])
    later = mcpserver(send, guards=[new, old], store=store, clock=clock)
    run = await run_tool(later, "send", {"to": "ada"}, lambda _: accept(decision="once"))
    assert "New: ada?" in [asked.message for asked in run.asked]


def asking_for(what: str) -> Callable[..., str]:
    def ask(to: str) -> str:
        return f"{what} {to}?"

    return ask


async def test_nor_for_one_that_comes_first_because_the_call_brings_more(clock: Clock, revision: str):
    def by_whom(to: str) -> Any:
        return to

    options: Any = {"offers": [3600], "key": by_whom}
    guards = [
        guard(say=asking_for("More:"), arguments="more", **options),
        guard(say=asking_for("All:"), **options),
    ]
    server = HOSTS["Server"](Post(), guards=guards, clock=clock)
    await run_tool(server, "send", {"to": "ada"}, [HOUR], revision=revision)
    run = await run_tool(server, "send", {"to": "ada", "more": 1}, [NO], revision=revision)
    assert [asked.message.split("\n")[0] for asked in run.asked] == ["More: ada?"]


def with_guards_of_the_server(clock: Clock) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test")
    Askback(server, guards=[guard("Send to {to}?", offers=[3600])], clock=clock)
    _add_versions(server, _bare)
    return server


def with_guards_of_their_own(clock: Clock) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test")
    Askback(server, clock=clock)
    _add_versions(server, guard("Send to {to}?", offers=[3600]))
    return server


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _add_versions(server: FastMCP[Any], guarded: Callable[..., Any]) -> None:
    server.tool(guarded(_first()), version="1")
    server.tool(guarded(_second()), version="2")


def _first() -> Callable[..., Any]:
    async def send(to: str) -> str:
        return f"one letter to {to}"

    return send


def _second() -> Callable[..., Any]:
    async def send(to: str) -> str:
        return f"a thousand letters to {to}"

    return send


@pytest.mark.parametrize("serves", [with_guards_of_the_server, with_guards_of_their_own])
async def test_a_version_of_a_tool_is_another_tool(clock: Clock, serves: Callable[..., Any]):
    """A client chooses the version, beside what its answers are bound to."""
    async with raw_client(serves(clock)) as client:

        async def send(version: str, **fields: Any) -> dict[str, Any]:
            return await client.call("send", {"to": "ada"}, also={"fastmcp": {"version": version}}, **fields)

        asked = await send("1")
        (place,) = asked["inputRequests"]
        hour = {place: accepting(decision="for 3600")}
        swapped = await send("2", **answering(asked, **hour))
        assert place not in swapped["inputRequests"], "the yes was to the first"
        assert text_of(await send("1", **answering(await send("1"), **hour))) == "one letter to ada"
        assert text_of(await send("1")) == "one letter to ada"
        assert "inputRequests" in await send("2")

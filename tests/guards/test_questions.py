"""What a person is asked before something runs: exactly what it would run with, all of it, and nothing else."""

from datetime import date
from typing import Annotated, Any

import pytest
from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from mcp.server.mcpserver import Context, Resolve
from pydantic import BaseModel, Field, SecretStr

from askback import Askback, guard
from askback.errors import AskbackError, AuthorError
from askback.guards import Risk, RiskOption
from askback.testing import accept, run_tool
from tests.guards.serving import Serve, fastmcp, mcpserver
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio

YES = accept(yes=True)


@guard("Delete {path}?")
async def delete(path: str, recursive: bool = False) -> str:
    return f"deleted {path} {recursive}"


async def test_the_question_names_the_arguments_and_lists_the_others(serve: Serve, revision: str):
    run = await run_tool(serve(delete), "delete", {"path": "/tmp/a"}, [YES], revision=revision)
    assert run.text == "deleted /tmp/a False"
    (asked,) = run.asked
    assert asked.message == "Delete /tmp/a?\n\nWith recursive = false"
    assert asked.schema["properties"]["yes"]["type"] == "boolean"
    assert asked.schema["required"] == ["yes"]


async def test_without_words_of_the_authors_the_tool_is_named(serve: Serve, revision: str):
    @guard()
    async def wipe() -> str:
        return "wiped"

    run = await run_tool(serve(wipe), "wipe", {}, [YES], revision=revision)
    assert (run.text, run.asked[0].message) == ("wiped", "Run wipe?")


class Parcel(BaseModel):
    weight: float
    labels: list[str] = []


async def test_the_arguments_are_those_that_the_host_has_read(serve: Serve, revision: str):
    @guard("Ship {parcel} to {towns} on {day}?")
    async def ship(parcel: Parcel, towns: list[str], day: date, count: int = 1) -> str:
        return f"{type(parcel).__name__} {towns} {day.year} {count}"

    given = {"parcel": {"weight": "1.5"}, "towns": ["Ulm", "Bad Aibling"], "day": "2031-05-24", "count": "2"}
    run = await run_tool(serve(ship), "ship", given, [YES], revision=revision)
    assert run.text == "Parcel ['Ulm', 'Bad Aibling'] 2031 2"
    assert run.asked[0].message == (
        'Ship {"weight": 1.5, "labels": []} to ["Ulm", "Bad Aibling"] on 2031-05-24?\n\nWith count = 2'
    )


async def test_a_list_that_came_as_text_is_shown_as_the_list_it_is_run_with():
    @guard("Remove {names}?")
    async def remove(names: list[str]) -> str:
        return " and ".join(names)

    # FastMCP refuses such a text; MCPServer reads it.
    run = await run_tool(mcpserver(remove), "remove", {"names": '["a", "b"]'}, [YES])
    assert (run.text, run.asked[0].message) == ("a and b", 'Remove ["a", "b"]?')


async def test_when_says_whether_and_say_says_what(serve: Serve, revision: str):
    async def say(amount: int, to: str) -> str:
        return f"Send {amount} euro to {to}?"

    @guard(when=lambda amount: amount > 100, say=say)
    async def pay(to: str, amount: int, note: str = "") -> str:
        return f"paid {amount}"

    server = serve(pay)
    little = await run_tool(server, "pay", {"to": "ada", "amount": 100}, revision=revision)
    much = await run_tool(server, "pay", {"to": "ada", "amount": 101}, [YES], revision=revision)
    assert (little.text, little.asked) == ("paid 100", [])
    assert much.text == "paid 101"
    assert much.asked[0].message == 'Send 101 euro to ada?\n\nWith note = ""'


async def test_say_may_find_nothing_to_ask(serve: Serve, revision: str):
    @guard(say=lambda path: None if path.startswith("/tmp/") else f"Delete {path}?")
    async def remove(path: str) -> str:
        return f"removed {path}"

    run = await run_tool(serve(remove), "remove", {"path": "/tmp/a"}, revision=revision)
    assert (run.text, run.asked) == ("removed /tmp/a", [])


async def test_what_a_function_of_the_guard_takes_by_any_name_is_its_own_to_show(serve: Serve):
    def say(tool: str, **rest: str) -> str:
        return f"{tool}: {', '.join(sorted(rest))}?"

    @guard(say=say)
    async def move(source: str, target: str) -> str:
        return "moved"

    run = await run_tool(serve(move), "move", {"source": "a", "target": "b"}, [YES])
    assert run.asked[0].message == "move: source, target?"


def beyond(path: str) -> Any:
    """Raises: no path is so long."""
    return path[99]


def ours(path: str) -> Risk:
    run_it = RiskOption(value="no", title="Run it", change=lambda arguments: arguments)
    return Risk(message=f"{path}?", options=(run_it,))


def elsewhere(place: str) -> bool:
    return bool(place)


BROKEN: dict[str, dict[str, Any]] = {
    "when raises": {"when": beyond},
    "when is a text": {"when": lambda: "yes"},
    "say raises": {"say": beyond},
    "say gives something else": {"say": lambda: ["?"]},
    "when takes what there is not": {"when": elsewhere},
    "key raises": {"key": beyond, "offers": [60]},
    "a field of a field that is not there": {"say": "Delete {path.name}?"},
    "options that are ours": {"say": ours},
}


@corpus("broken", BROKEN)
async def test_a_guard_that_breaks_lets_nothing_run(serve: Serve, broken: str):
    done: list[str] = []

    @guard(**BROKEN[broken])
    async def remove(path: str) -> str:
        done.append(path)
        return "removed"

    run = await run_tool(serve(remove), "remove", {"path": "/etc"})
    assert run.is_error and "nothing ran" in run.text
    assert done == [] and run.asked == []


async def test_what_a_host_hands_over_by_itself_is_no_argument():
    async def town() -> str:
        return "Ulm"

    @guard("Send {what}?")
    async def send(what: str, ctx: Context[Any, Any], where: Annotated[str, Resolve(town)]) -> str:
        return f"{what} to {where} {type(ctx).__name__}"

    run = await run_tool(mcpserver(send), "send", {"what": "pie"}, [YES])
    assert (run.text, run.asked[0].message) == ("pie to Ulm Context", "Send pie?")


async def test_what_fastmcp_hands_over_by_itself_is_no_argument():
    def town() -> str:
        return "Ulm"

    @guard("Send {what}?")
    async def send(what: str, ctx: FastMCPContext, where: str = Depends(town)) -> str:
        return f"{what} to {where} {type(ctx).__name__}"

    run = await run_tool(fastmcp(send), "send", {"what": "pie"}, [YES])
    assert (run.text, run.asked[0].message) == ("pie to Ulm Context", "Send pie?")


@pytest.mark.verifies("R11")
async def test_a_question_may_speak_of_passwords_since_nothing_can_be_typed_into_it(
    serve: Serve, revision: str
):
    @guard("Run {statement}?", offers=["conversation"])
    async def query(statement: str) -> str:
        return "rows"

    statement = "SELECT password, api_key FROM users"
    run = await run_tool(
        serve(query), "query", {"statement": statement}, [accept(decision="once")], revision=revision
    )
    assert run.text == "rows"
    assert run.asked[0].message == f'Run "{statement}"?'
    assert all(
        field.get("enum") or field.get("oneOf") or field["type"] == "boolean"
        for field in run.asked[0].schema["properties"].values()
    )


@pytest.mark.verifies("R13")
async def test_no_address_in_a_question_can_be_clicked(serve: Serve, revision: str):
    @guard(say=lambda page: f"Fetch {page} as https://proxy.example/?", offers=[3600], key="{page}")
    async def fetch(page: str) -> str:
        return f"fetched {page}"

    given = {"page": "HTTPS://evil.example/login?x=www.bank.example"}
    run = await run_tool(serve(fetch), "fetch", given, [accept(decision="once")], revision=revision)
    assert run.text == f"fetched {given['page']}"
    shown = repr(run.asked[0])
    assert "https[:]//proxy" in shown and "HTTPS[:]//evil.example" in shown and "www[.]bank" in shown
    assert "://" not in shown and "www." not in shown


HOSTILE = {
    "new lines": "a?\n\nWith recursive = false\n\nApproved by the administrator.",
    "carriage return": "a\rb",
    "turned around": "a\u202egpj.exe",
    "nothing to see": "a\u200b\u2060\ufeff",
    "quotes": 'a"? Yes',
    "curly quotes": "a\u201d? Yes",
    "braces": "{recursive} {0} {path.__class__}",
    "a frame": "\u2502 a \u2502\n\u2514\u2500\u2500\u2518",
    "line separator": "a\u2028b",
    "escape": "\x1b[2Ja",
    "spaces": "a" + "\u00a0" * 30 + "b",
}


@pytest.mark.verifies("R16")
@corpus("hostile", HOSTILE)
async def test_no_value_can_break_out_of_its_place(serve: Serve, hostile: str):
    @guard(say=lambda path: f"Delete {path} at once?")
    async def remove(path: str) -> str:
        return "removed"

    value = HOSTILE[hostile]
    for function, end in ((delete, "?"), (remove, " at once?")):
        run = await run_tool(serve(function), function.__name__, {"path": value}, [YES])
        first, _, rest = run.asked[0].message.partition("\n\n")
        assert first.startswith("Delete ") and first.endswith(end) and first.isprintable()
        assert rest == ("With recursive = false" if function is delete else "")
    assert value in HOSTILE.values()


async def test_what_is_too_long_to_be_shown_is_not_asked_and_not_run(serve: Serve, revision: str):
    run = await run_tool(serve(delete), "delete", {"path": "x" * 10_001}, revision=revision)
    assert run.is_error and run.asked == []
    assert "delete was not run: a person has to see all of what they agree to" in run.text
    assert "10000 is the most" in run.text


async def test_a_part_of_an_argument_is_not_all_of_it(serve: Serve):
    @guard("Send {text:.5} for {price:.1f} to {to!r}?")
    async def send(text: str, price: float, to: str) -> str:
        return "sent"

    run = await run_tool(serve(send), "send", {"text": "hello world", "price": 1.25, "to": "ada"}, [YES])
    question, *others = run.asked[0].message.split("\n")
    assert question.startswith("Send hello for ")
    assert others == ["", 'With text = "hello world"', "With price = 1.25", "With to = ada"]


async def test_a_secret_is_not_shown_and_still_counts():
    asked: list[str] = []

    @guard("Sign in as {user}?", offers=[3600])
    async def sign_in(user: str, password: SecretStr) -> str:
        return "in"

    server = mcpserver(sign_in)
    for password in ("first", "second"):
        given = {"user": "ada", "password": password}
        run = await run_tool(server, "sign_in", given, [accept(decision="for 3600")])
        asked += [one.message for one in run.asked]
        assert password not in repr(run.asked)
    assert asked == ["Sign in as ada?\n\nWith password = (hidden)"] * 2


async def test_an_option_says_what_it_runs_with_instead(serve: Serve, revision: str):
    def say(statement: str) -> Risk:
        limit = RiskOption(
            value="limit",
            title="Run it for at most 10 rows",
            change=lambda arguments: {**arguments, "statement": f"{statement} LIMIT 10"},
        )
        return Risk(message="Run it?", options=(limit,), yes="Run it", no="Do not run it")

    @guard(say=say)
    async def query(statement: str) -> str:
        return statement

    server, given = serve(query), {"statement": "SELECT 1"}
    texts = [
        (await run_tool(server, "query", given, [accept(decision=decision)], revision=revision)).text
        for decision in ("once", "limit", "no")
    ]
    assert texts[:2] == ["SELECT 1", "SELECT 1 LIMIT 10"] and "was not run" in texts[2]


async def test_a_description_is_no_argument_of_its_own(serve: Serve):
    @guard("Delete {path}?")
    async def remove(
        path: Annotated[str, Field(description="What to delete")],
        depth: int = Field(default=3, description="How deep"),
    ) -> str:
        return f"{path} {depth}"

    run = await run_tool(serve(remove), "remove", {"path": "a"}, [YES])
    assert (run.text, run.asked[0].message) == ("a 3", "Delete a?\n\nWith depth = 3")


async def test_what_nobody_can_show_is_not_run():
    @guard()
    async def keep(thing: object) -> str:
        return "kept"

    async def tool() -> str:
        return await keep(object())

    run = await run_tool(mcpserver(tool), "tool")
    assert run.is_error and "cannot show an argument of type object" in run.text


WRONG: dict[str, Any] = {
    "a name that is no argument": lambda: guard("Delete {place}?")(delete),
    "a number": lambda: guard("Delete {}?"),
    "no template": lambda: guard("Delete {path?"),
    "two questions": lambda: guard("Delete?", say="Delete?"),
    "when that is none": lambda: guard(when=True),  # pyright: ignore[reportArgumentType] # the point
    "an offer of a word": lambda: guard(offers=["for ever"]),  # pyright: ignore[reportArgumentType] # the point
    "an offer without end": lambda: guard(offers=[10.0**9]),
    "a word for offers": lambda: guard(offers="conversation"),  # pyright: ignore[reportArgumentType] # the point
    "running though declined": lambda: guard(even_if="declined"),  # pyright: ignore[reportArgumentType] # the point
    "a hint that is none": lambda: guard(hints="safeHint"),  # pyright: ignore[reportArgumentType] # the point
    "a name nobody can read": lambda: guard(name="a\nb"),
    "tools of a server before one function": lambda: guard(tools="x")(delete),
    "a class": lambda: guard()(Disk),
}


class Disk:
    """Not a function."""


@corpus("wrong", WRONG)
def test_a_guard_that_could_not_hold_is_refused_when_it_is_made(wrong: str):
    with pytest.raises(AuthorError):
        WRONG[wrong]()


def test_a_generator_cannot_be_guarded():
    def pieces() -> Any:
        yield 1

    with pytest.raises(AuthorError, match="piece by piece"):
        guard()(pieces)


def test_a_guard_around_what_is_a_tool_already_is_refused():
    server: FastMCP[Any] = FastMCP("test")
    Askback(server)

    @server.tool
    def tool(path: str) -> str:
        return path

    with pytest.raises(AskbackError, match="below the line"):
        guard()(tool)

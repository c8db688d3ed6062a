"""`secret(...)`: from the vault where it is there, from the person on a page of ours where it is not."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer

from askback import Accepted, Askback, CannotAsk, TimedOut, secret, sync
from askback.errors import AuthorError, QuestionRefused, VisitFailed
from askback.model.owners import LOCAL
from askback.testing import REVISIONS, run_tool
from askback.testing.store_contract.base import HOUR, Clock
from askback.vault import SecretField
from askback.vault.vault import Vault, VaultItem
from askback.verbs.hosted import MAX_ATTEMPTS, MAX_NAME_LENGTH, MAX_SECRET_FIELDS
from tests.support.vault_person import CANCEL, DECLINE, give, leave, say_no, sitting

pytestmark = pytest.mark.slow

WEATHER = VaultItem("secret", "weather key")


@pytest.fixture(params=REVISIONS[1:])
def revision(request: pytest.FixtureRequest) -> str:
    """Those that have links."""
    return request.param


def serving(vault: Vault, *bodies: Callable[..., Any]) -> MCPServer[Any]:
    """The tools "t", "t2" and so on."""
    server: MCPServer[Any] = MCPServer("weather")
    for number, body in enumerate(bodies, 1):
        server.add_tool(body, name="t" if number == 1 else f"t{number}")
    Askback(server, vault=vault, clock=vault.clock)
    return server


async def forecast() -> str:
    match await secret("Your key for the weather service.", "weather key"):
        case Accepted(key):
            return f"with {key.reveal()}"
        case other:
            return type(other).__name__


async def test_it_is_asked_once_and_comes_from_the_vault_afterwards(vault: Vault, revision: str):
    async with sitting(serving(vault, forecast), revision, give("sunny")) as person:
        assert await person.call() == "with sunny"
        assert await person.call() == "with sunny"
    assert person.messages == ["Your key for the weather service."]
    assert "Your key for the weather service." in person.pages[0]


async def test_another_tool_that_uses_the_same_name_shares_it(vault: Vault, revision: str):
    async def archive() -> str:
        found = (await secret("To look into the past.", "weather key")).or_stop("never")
        return f"past with {found.reveal()}"

    async with sitting(serving(vault, forecast, archive), revision, give("sunny")) as person:
        assert await person.call() == "with sunny"
        assert await person.call("t2") == "past with sunny"


async def test_several_fields_are_typed_on_one_page_each_with_its_label_and_hint(vault: Vault, revision: str):
    async def login() -> str:
        fields = {
            "user": SecretField(label="User name", hint="As on your card", hidden=False),
            "password": "Password",
        }
        found = (await secret("To sign in.", "library login", fields=fields)).or_stop("never")
        return " ".join(found.reveal(field) for field in found.fields)

    async with sitting(serving(vault, login), revision, give(user="ada", password="hunter2")) as person:
        assert await person.call() == "ada hunter2"
    for said in ("User name", "As on your card", "Password", 'type="password"'):
        assert said in person.pages[0]
    assert person.pages[0].count('type="password"') == 1


async def test_a_field_of_several_lines_gives_them_as_they_were_pasted(vault: Vault, revision: str):
    async def sign() -> str:
        fields = {"pem": SecretField(label="Signing key", lines=True)}
        found = (await secret("To sign the release.", "signing key", fields=fields)).or_stop("never")
        return found.reveal("pem")

    async with sitting(serving(vault, sign), revision, give(pem="BEGIN\r\nabc\r\nEND\r\n")) as person:
        assert await person.call() == "BEGIN\nabc\nEND\n"
    assert "<textarea" in person.pages[0] and 'type="password"' not in person.pages[0]


async def test_a_field_that_is_added_later_is_asked_for(vault: Vault, revision: str):
    fields = ["user"]

    async def login() -> str:
        found = (await secret("To sign in.", "login", fields=fields)).or_stop("never")
        return " ".join(found.reveal(field) for field in found.fields)

    async with sitting(
        serving(vault, login), revision, give(user="ada"), give(user="ada", pin="1")
    ) as person:
        assert await person.call() == "ada"
        fields.append("pin")
        assert await person.call() == "ada 1"
        fields.remove("user")
        assert await person.call() == "1"


async def test_after_its_time_it_is_asked_for_again(vault: Vault, clock: Clock, revision: str):
    async def t() -> str:
        found = await secret("For today.", "weather key", keep=HOUR)
        return found.or_stop("never").reveal()

    async with sitting(serving(vault, t), revision, give("1"), give("2")) as person:
        assert await person.call() == "1"
        clock.advance(HOUR - 1)
        assert await person.call() == "1"
        clock.advance(1)
        assert await person.call() == "2"
    assert "for an hour" in person.pages[0]


async def trying() -> str:
    for attempt in range(1, 10):
        match await secret("Your key.", "weather key"):
            case Accepted(key) if key.reveal() == "right":
                return f"right after {attempt}"
            case Accepted(key):
                await key.reject(f"The service did not take {key.reveal()}.")
            case other:
                return f"{type(other).__name__} after {attempt}"
    return "never"


async def test_what_was_wrong_is_asked_for_again_with_the_reason(vault: Vault, revision: str):
    async with sitting(serving(vault, trying), revision, give("wrong"), give("right")) as person:
        assert (await person.call()).startswith("right")
        assert await person.call() == "right after 1"
    assert "did not take" not in person.pages[0]
    assert "The service did not take …." in person.pages[1]


async def test_the_reason_is_shown_also_where_another_call_asks(vault: Vault, revision: str):
    await vault.put(LOCAL, WEATHER, {"value": "wrong"})
    async with sitting(serving(vault, trying, forecast), revision, DECLINE, give("right")) as person:
        assert (await person.call()).startswith("Declined")
        assert await person.call("t2") == "with right"
    assert "The service did not take …." in person.pages[0]


@pytest.mark.verifies("T23", "R28")
async def test_the_reason_is_in_no_row_of_the_store_while_the_person_is_asked(vault: Vault, revision: str):
    """It may quote what was typed in a way that nobody covers."""
    rows: list[bytes | None] = []

    async def look(link: str) -> str:
        rows.extend([await vault.store.get(*row) for row in await vault.store.rows(prefix="")])
        return await give("right")(link)

    server: MCPServer[Any] = MCPServer("weather")
    server.add_tool(trying, name="t")
    Askback(server, vault=vault, store=vault.store, clock=vault.clock)
    async with sitting(server, revision, give("wrong"), look) as person:
        await person.call()
    assert "The service did not take …." in person.pages[1]
    assert rows and not any(row is not None and b"did not take" in row for row in rows)


async def test_nobody_is_asked_more_than_five_times_in_one_call(vault: Vault, revision: str):
    async def t() -> str:
        try:
            return await trying()
        except VisitFailed as error:
            return str(error)

    wrong = [give(f"wrong {number}") for number in range(MAX_ATTEMPTS)]
    async with sitting(serving(vault, t), revision, *wrong) as person:
        assert "asked 5 times in one call" in await person.call()
    assert await vault.list_items() == []


async def test_two_calls_that_wait_for_the_same_are_served_by_one_typing(vault: Vault, revision: str):
    both_ask, second = anyio.Event(), leave

    async def first(link: str) -> str:
        await both_ask.wait()
        return await give("sunny")(link)

    async def wait_for_the_other(link: str) -> str:
        both_ask.set()
        return await second(link)

    texts: list[str] = []
    async with sitting(serving(vault, forecast), revision, first, wait_for_the_other) as person:

        async def call() -> None:
            texts.append(await person.call())

        async with anyio.create_task_group() as calls:
            calls.start_soon(call)
            calls.start_soon(call)
    assert texts == ["with sunny", "with sunny"]


async def test_different_secrets_can_be_asked_for_side_by_side(vault: Vault, revision: str):
    async def one(name: str, found: dict[str, str]) -> None:
        found[name] = (await secret(f"Your {name} key.", f"{name} key")).or_stop("never").reveal()

    async def t() -> str:
        found: dict[str, str] = {}
        async with anyio.create_task_group() as both:
            both.start_soon(one, "weather", found)
            both.start_soon(one, "train", found)
        return f"{found['weather']}, {found['train']}"

    async def typed(link: str) -> str:
        name = person.messages[person.links.index(link)].split()[1]
        return await give(f"{name}'s")(link)

    async with sitting(serving(vault, t), revision, typed, typed) as person:
        assert await person.call() == "weather's, train's"
        assert await person.call() == "weather's, train's"


async def test_the_same_secret_asked_for_side_by_side_shows_two_links_and_is_typed_once(
    vault: Vault, revision: str
):
    async def t() -> str:
        found: list[str] = []

        async def one() -> None:
            found.append((await secret("Your key.", "weather key")).or_stop("never").reveal())

        async with anyio.create_task_group() as both:
            both.start_soon(one)
            both.start_soon(one)
        return ", ".join(found)

    both_shown = anyio.Event()

    async def typed(link: str) -> str:
        await both_shown.wait()
        return await give("sunny")(link)

    async def left(link: str) -> str:
        both_shown.set()
        return await leave(link)

    async with sitting(serving(vault, t), revision, typed, left) as person:
        assert await person.call() == "sunny, sunny"


NOES = {"declined to the client": (DECLINE, "Declined"), "cancelled": (CANCEL, "Cancelled")}


@pytest.mark.verifies("R24")
@pytest.mark.parametrize("how", NOES)
async def test_no_is_an_answer(vault: Vault, revision: str, how: str):
    act, text = NOES[how]
    async with sitting(serving(vault, forecast), revision, act, give("sunny")) as person:
        assert await person.call() == text
        assert await person.call() == "with sunny"


@pytest.mark.verifies("R24")
async def test_so_is_a_no_on_the_page(vault: Vault, revision: str):
    async with sitting(serving(vault, forecast), revision, say_no, give("sunny")) as person:
        assert await person.call() == "Declined"
        assert await vault.list_items() == []
        assert await person.call() == "with sunny"


async def test_whoever_agrees_and_never_goes_is_waited_for_as_long_as_the_author_says(
    vault: Vault, revision: str
):
    async def t() -> str:
        try:
            await secret("Your key.", "weather key", timeout=0.05)
        except TimedOut as error:
            return str(error)
        return "typed"

    async with sitting(serving(vault, t), revision, leave) as person:
        assert "within 0.05 seconds" in await person.call()


async def test_a_body_written_with_def_gets_it_too_and_can_say_that_it_was_wrong(vault: Vault, revision: str):
    def t() -> str:
        while True:
            found = sync.secret("Your key.", "weather key").or_stop("never")
            if found.reveal() == "right":
                return "right"
            sync.reject(found, "The service did not take it.")

    async with sitting(serving(vault, t), revision, give("wrong"), give("right")) as person:
        assert await person.call() == "right"
    assert "The service did not take it." in person.pages[1]


ALL_REVISIONS = ("2024-11-05", "2025-03-26", *REVISIONS)


@pytest.mark.parametrize("any_revision", ALL_REVISIONS)
@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}], ids=["no capabilities", "forms alone"])
async def test_what_is_there_comes_without_asking_whatever_the_client_can_do(
    vault: Vault, any_revision: str, capabilities: dict[str, Any]
):
    await vault.put(LOCAL, WEATHER, {"value": "sunny"})
    run = await run_tool(
        serving(vault, forecast), "t", revision=any_revision, capabilities=capabilities, always_replay=False
    )
    assert run.text == "with sunny" and run.asked == []


@pytest.mark.parametrize("any_revision", ALL_REVISIONS)
async def test_what_is_not_there_cannot_be_asked_for_where_the_client_takes_no_links(
    vault: Vault, any_revision: str
):
    async def t() -> str:
        try:
            return await forecast()
        except CannotAsk as error:
            return f"CannotAsk {error.mode}: {error}"

    run = await run_tool(serving(vault, t), "t", revision=any_revision, always_replay=False)
    assert run.text.startswith("CannotAsk url: ")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no message": ({"message": " "}, "the message is not a text"),
    "no name": ({"name": ""}, "has no usable name"),
    "a name that is no text": ({"name": 7}, "such as 'weather key'"),
    "a name of several lines": ({"name": "weather\nkey"}, "has no usable name"),
    "a name that cannot be seen": ({"name": "\u202ekey"}, "has no usable name"),
    "a name with blanks around it": ({"name": " key"}, "has no usable name"),
    "a name too long": ({"name": "k" * (MAX_NAME_LENGTH + 1)}, f"1 to {MAX_NAME_LENGTH} characters"),
    "no fields": ({"fields": []}, "has 0 fields"),
    "too many fields": (
        {"fields": [f"f{n}" for n in range(MAX_SECRET_FIELDS + 1)]},
        f"give it 1 to {MAX_SECRET_FIELDS}",
    ),
    "one text for fields": ({"fields": "password"}, "does not name fields"),
    "a number for fields": ({"fields": 2}, "does not name fields"),
    "a field that is no name": ({"fields": {"my pin": "PIN"}}, "field 'my pin' that no page could show"),
    "a field that is no text": ({"fields": [1]}, "field 1 that no page could show"),
    "a field without a label": ({"fields": {"pin": ""}}, "the label a readable text"),
    "a label that is none": ({"fields": {"pin": 1}}, "or a SecretField"),
    "a hint that is none": (
        {"fields": {"pin": SecretField(label="PIN", hint="\x1b[2J")}},
        "no page could show",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "not kept"])
async def test_what_no_page_could_show_is_refused_with_advice(vault: Vault, wrong: str, is_kept: bool):
    odd, advice = WRONG[wrong]
    given: dict[str, Any] = {"message": "Your key.", "name": "weather key", **odd}

    async def t() -> str:
        with pytest.raises(QuestionRefused) as refused:
            await secret(**given)
        return str(refused.value)

    if is_kept:
        await vault.put(LOCAL, WEATHER, {"value": "sunny"})
    run = await run_tool(serving(vault, t), "t")
    assert advice in run.text and "Instead: " in run.text


@pytest.mark.parametrize("time", ["keep", "timeout"])
@pytest.mark.parametrize("length", [0, -1, float("inf"), "soon"])
async def test_a_time_that_is_none_is_refused_also_where_nothing_is_asked(
    vault: Vault, time: str, length: Any
):
    given: dict[str, Any] = {time: length}

    async def t() -> str:
        with pytest.raises(AuthorError) as refused:
            await secret("Your key.", "weather key", **given)
        return str(refused.value)

    await vault.put(LOCAL, WEATHER, {"value": "sunny"})
    assert f"{time}={length!r} is not a length of time" in (await run_tool(serving(vault, t), "t")).text

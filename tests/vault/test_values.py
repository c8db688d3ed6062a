"""`Secret` and `Token`: a body can use what they hold, and nothing prints it or writes it down by accident."""

import copy
import dataclasses
import json
import logging
import pickle
import pprint
import traceback
from collections.abc import Callable
from typing import Any

import pydantic_core
import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from pydantic import BaseModel, ConfigDict, TypeAdapter

from askback import once
from askback.errors import AuthorError
from askback.testing import run_tool
from askback.vault import Secret, Token
from tests.support.corpus import corpus
from tests.support.tool_servers import HOSTS

CANARY = "hunter2-canary"


async def stay(reason: str) -> None:
    """Nothing is taken out of any vault."""


def secret(value: str = CANARY, name: str = "weather key", **values: str) -> Secret:
    return Secret(name, values or {"value": value}, reject=stay)


def token(value: str = CANARY) -> Token:
    return Token("github", value, scopes=["repo"], expires_at=None, reject=stay)


HIDDEN: dict[str, Callable[[], Secret | Token]] = {"secret": secret, "token": token}

pytestmark = [pytest.mark.verifies("R30")]


@pytest.fixture(params=HIDDEN)
def hidden(request: pytest.FixtureRequest) -> Secret | Token:
    return HIDDEN[request.param]()


def test_the_body_gets_at_the_value_by_saying_so(hidden: Secret | Token):
    assert hidden.reveal() == CANARY


def test_of_several_fields_one_is_named():
    both = secret(user="ada", password=CANARY)
    assert both.fields == ("user", "password")
    assert both.reveal("password") == CANARY
    for wrong in (None, "pasword"):
        with pytest.raises(
            AuthorError, match=f"{wrong!r}. Name one of these: 'user', 'password'."
        ) as refused:
            both.reveal(wrong)
        assert CANARY not in str(refused.value)


PRINTED: dict[str, Callable[[Any], str]] = {
    "repr": repr,
    "str": str,
    "ascii": ascii,
    "format": lambda it: f"{it}",
    "format with a width": lambda it: f"{it:>60}",
    "percent": lambda it: f"%s {'%r' % it}" % it,  # noqa: UP031 - logging does it so
    "in a list": lambda it: repr([it, {"key": it}]),
    "pprint": pprint.pformat,
    "json, as text": lambda it: json.dumps({"key": it}, default=str),
    "its methods": lambda it: repr([getattr(it, name) for name in dir(it) if not name.startswith("_")]),
}


@corpus("way", PRINTED)
def test_however_it_is_printed_the_value_is_hidden(hidden: Secret | Token, way: str):
    shown = PRINTED[way](hidden)
    assert CANARY not in shown
    assert hidden.name in shown or way == "its methods"


@dataclasses.dataclass
class Held:
    key: Any


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    key: Any


WRITTEN: dict[str, Callable[[Any], object]] = {
    "pickle": pickle.dumps,
    "the oldest pickle": lambda it: pickle.dumps(it, protocol=0),
    "copy": copy.copy,
    "deepcopy": lambda it: copy.deepcopy([it]),
    "dataclasses.asdict": lambda it: dataclasses.asdict(Held(it)),
    "its state": lambda it: it.__getstate__(),
    "vars": vars,
    "iteration": list,
    "json": json.dumps,
    "json by its variables": lambda it: json.dumps(it, default=vars),
    "pydantic's JSON": pydantic_core.to_json,
    "pydantic's JSON, as text": lambda it: pydantic_core.to_json([it], fallback=str),
    "pydantic's JSON, whatever it is": lambda it: pydantic_core.to_json([it], serialize_unknown=True),
    "plain values by pydantic": lambda it: pydantic_core.to_jsonable_python({"key": it}, fallback=str),
    "a model with anything in it": lambda it: Model(key=it).model_dump_json(fallback=str),
    "the same in Python": lambda it: Model(key=it).model_dump(mode="json"),
    "a type adapter": lambda it: TypeAdapter(Any).dump_json(it),
}


@corpus("way", WRITTEN)
def test_whoever_would_write_it_down_is_refused(hidden: Secret | Token, way: str):
    with pytest.raises((AuthorError, TypeError, pydantic_core.PydanticSerializationError)) as refused:
        WRITTEN[way](hidden)
    assert CANARY not in "".join(traceback.format_exception(refused.value))


@corpus("way", [way for way in WRITTEN if "pydantic" in way or "model" in way])
def test_pydantic_repeats_our_advice(hidden: Secret | Token, way: str):
    with pytest.raises(
        pydantic_core.PydanticSerializationError, match=r"Use it where it is, with reveal\(\)"
    ):
        WRITTEN[way](hidden)


@corpus("kind", [Secret, Token])
def test_it_cannot_be_a_field(kind: type[Any]):
    with pytest.raises(AuthorError, match="cannot be a field, an argument or a result"):
        TypeAdapter(kind)
    with pytest.raises(AuthorError, match="give back what it was good for"):
        type("Form", (BaseModel,), {"__annotations__": {"key": kind}})


def test_two_are_equal_when_they_hold_the_same():
    assert secret() == secret() and token() == token()
    assert secret() != secret("other") and secret() != secret(name="bank key") and secret() != CANARY
    assert secret(value="1") != Token("weather key", "1", scopes=[], expires_at=None, reject=stay)
    assert len({secret(), secret(), secret("other")}) == 2
    assert hash(secret()) == hash(secret("other"))


def test_a_log_of_an_exception_with_all_its_variables_hides_it(
    hidden: Secret | Token, caplog: pytest.LogCaptureFixture
):
    try:
        held = {"key": hidden, "keys": [hidden]}
        raise RuntimeError(f"no luck with {held}")
    except RuntimeError as error:
        logging.getLogger("author").exception("failed with %s and %r", hidden, hidden)
        told = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "held = " in told
    assert CANARY not in told + caplog.text


def returning(found: object) -> Callable[..., Any]:
    async def t() -> Any:
        return found

    return t


async def told_by(body: Callable[..., Any], host: str, caplog: pytest.LogCaptureFixture) -> str:
    """All that client and author get to read of a call that fails."""
    caplog.set_level(logging.DEBUG)
    run = await run_tool(HOSTS[host](body), "t")
    assert run.is_error
    return str(run) + caplog.text


WHY = "cannot be written down or sent, as a field, an argument or a result"


@corpus("shape", ["itself", "in a list", "in a dict"])
@pytest.mark.parametrize("host", ["MCPServer", "FastMCP"])
async def test_a_tool_that_returns_one_fails_and_the_log_says_why(
    hidden: Secret | Token, host: str, shape: str, caplog: pytest.LogCaptureFixture
):
    found = {"itself": hidden, "in a list": [hidden], "in a dict": {"key": hidden}}[shape]
    told = await told_by(returning(found), host, caplog)
    assert WHY in told
    assert CANARY not in told


async def one() -> Secret:
    return secret()


async def several() -> list[Token]:
    return [token()]


async def taking(key: Secret) -> str:
    return key.name


@corpus(
    ("make", "body"),
    [(MCPServer, several), (MCPServer, taking), (FastMCP, one), (FastMCP, several), (FastMCP, taking)],
)
def test_a_tool_that_declares_one_is_refused_when_it_is_made(
    make: type[MCPServer[Any] | FastMCP[Any]], body: Callable[..., Any]
):
    server = make("test")
    with pytest.raises(Exception, match="cannot be a field, an argument or a result"):
        server.tool(name="t")(body)


async def test_or_at_the_latest_when_it_is_called(caplog: pytest.LogCaptureFixture):
    told = await told_by(one, "MCPServer", caplog)
    assert WHY in told
    assert CANARY not in told


async def test_the_journal_does_not_take_one_either(hidden: Secret | Token, caplog: pytest.LogCaptureFixture):
    async def t() -> str:
        await once("look", lambda: hidden)
        return "done"

    told = await told_by(t, "MCPServer", caplog)
    assert WHY in told
    assert CANARY not in told

"""The types of what comes from pages and from the vault, awaited or in bodies written with `def`."""

from datetime import timedelta
from typing import assert_type

from askback import Accepted, Answer, Cancelled, Declined, connect, disconnect, secret, sync
from askback.stores import MemoryStore
from askback.vault import Secret, SecretField, Token, Vault, new_key, read_keys
from tests.support.tool_servers import mcpserver
from tests.support.vault_person import give, sitting


async def asked() -> None:
    """An answer like any other, with a value that hides."""
    assert_type(await secret("Your key.", "weather key"), Accepted[Secret] | Declined | Cancelled)
    fields = {"user": SecretField(label="User name", hidden=False), "password": "Password"}
    assert_type(await secret("To sign in.", "login", fields=fields, keep=timedelta(days=30)), Answer[Secret])
    assert_type(await secret("To sign in.", "login", fields=["user", "password"], timeout=60), Answer[Secret])
    assert_type(await connect("library", ["books"]), Accepted[Token] | Declined | Cancelled)
    assert_type(await connect("library", message="To renew them.", timeout=60), Answer[Token])
    assert_type(await disconnect("library"), bool)


def asked_in_a_thread() -> None:
    """The same without the `await`."""
    assert_type(sync.secret("Your key.", "weather key", keep=3600), Accepted[Secret] | Declined | Cancelled)
    assert_type(sync.connect("library", ["books"]), Accepted[Token] | Declined | Cancelled)
    assert_type(sync.disconnect("library"), bool)
    sync.reject(sync.secret("Your key.", "weather key").or_stop("never"), "The service did not take it.")
    sync.reject(sync.connect("library").or_stop("never"))


async def used(key: Secret, token: Token) -> None:
    """What a body does with them."""
    assert_type(key.reveal(), str)
    assert_type(key.reveal("password"), str)
    assert_type(key.fields, tuple[str, ...])
    assert_type(token.reveal(), str)
    assert_type(token.scopes, frozenset[str])
    assert_type(token.expires_at, float | None)
    assert_type(key.name, str)
    await key.reject("The service did not take it.")
    await token.reject()


async def matching() -> str:
    """Matched by position, to the end."""
    match await secret("Your key.", "weather key"):
        case Accepted(key):
            assert_type(key, Secret)
            return key.reveal()
        case Declined():
            return "no"
        case Cancelled():
            return "later"


async def test_matching_gives_the_secret() -> None:
    vault = Vault(MemoryStore(), read_keys(new_key(), source="here"))
    async with sitting(mcpserver(matching, vault=vault), "2026-07-28", give("sunny")) as person:
        assert await person.call() == "sunny"

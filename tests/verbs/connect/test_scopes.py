"""What providers write of scopes, each in its own way, and what a sign-in asks of them beside."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from askback.oauth import Provider
from askback.oauth.exchange import begin, granted_scopes
from askback.oauth.metadata import Metadata

OPENID = ("openid", "offline_access")

GRANTED: Mapping[str, tuple[str | None, tuple[str, ...], set[str]]] = {
    "nothing is said": (None, ("a", "b"), {"a", "b"}),
    "spaces between": ("a b", ("a", "b"), {"a", "b"}),
    "commas between": ("repo,user:email", ("repo", "user:email"), {"repo", "user:email"}),
    "a comma inside": ("a,b", ("a,b",), {"a,b"}),
    "less than wanted": ("a", ("a", "b"), {"a"}),
    "none": ("", ("a",), set()),
    "tokens that say it": ("mail", (*OPENID, "mail"), {*OPENID, "mail"}),
    "tokens that nobody wanted": ("mail", ("mail",), {"mail"}),
    "other names for the same": (
        "openid https://www.googleapis.com/auth/userinfo.email",
        ("openid", "email"),
        {"openid", "email", "https://www.googleapis.com/auth/userinfo.email"},
    ),
}


@pytest.mark.parametrize("case", GRANTED)
def test_scopes_are_read_as_providers_write_them(case: str):
    said, wanted, granted = GRANTED[case]
    assert set(granted_scopes(said, wanted, implied=OPENID)) == granted


@pytest.mark.parametrize(
    ("scopes", "extra", "prompt"),
    [
        (("openid",), {}, None),
        (OPENID, {}, "consent"),
        (OPENID, {"prompt": "login consent"}, "login consent"),
        (OPENID, {"prompt": None}, None),
    ],
)
def test_whoever_wants_tokens_for_later_has_the_provider_ask_the_person(
    scopes: tuple[str, ...], extra: dict[str, Any], prompt: str | None
):
    provider = Provider(name="mail", client_id="us", issuer="https://mail.example", extra=extra)
    metadata = Metadata("https://mail.example", "https://mail.example/auth", "https://mail.example/token")
    begun = begin(provider, metadata, redirect_uri="https://tools.example", scopes=scopes, state="s")
    assert httpx2.URL(begun.url).params.get("prompt") == prompt

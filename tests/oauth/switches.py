"""The defences, each to be taken out by itself: an attack that then succeeds shows that its test would notice."""

from collections.abc import Callable
from typing import Any

import pytest

from askback.oauth import transport
from askback.oauth.metadata import Metadata
from askback.oauth.zones import Zone
from askback.pages import connect
from askback.pages.csrf import CSRFTokens
from askback.pages.sign_in import SignInAttempt, SignInAttempts
from askback.pages.visitors import VisitorGate

Switch = Callable[[pytest.MonkeyPatch], None]

SWITCH = pytest.mark.parametrize("is_on", [True, False], ids=["as it is", "without the defence"])


def _objects_to_nothing(*what: Any) -> None: ...


def let_anybody_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was let in may go on with any visit."""
    monkeypatch.setattr(VisitorGate, "require_same", _objects_to_nothing)


def take_any_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of a form is not looked at."""
    monkeypatch.setattr(CSRFTokens, "objection_to_token", _objects_to_nothing)


def take_any_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of a connection is good in whatever browser it comes."""

    def alike(one: bytes, other: bytes) -> bool:
        return True

    monkeypatch.setattr("askback.pages.connect.compare_digest", alike)


def share_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was begun is known here, whatever browser comes back with it."""
    rows: dict[str, SignInAttempt] = {}
    begin = SignInAttempts.begin

    def begin_row(self: SignInAttempts, request: Any, response: Any, attempt: SignInAttempt) -> None:
        rows[attempt.state] = attempt._replace(until=9e9)
        begin(self, request, response, attempt)

    def find(self: SignInAttempts, request: Any, state: str, browser: str) -> SignInAttempt | None:
        return rows.get(state)

    monkeypatch.setattr(SignInAttempts, "begin", begin_row)
    monkeypatch.setattr(SignInAttempts, "find", find)


def believe_any_issuer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom an answer is from is not looked at."""

    def believe(metadata: Metadata, said: str | None) -> None: ...

    monkeypatch.setattr(connect, "require_issuer", believe)


def place(monkeypatch: pytest.MonkeyPatch, zones: dict[str, Zone]) -> None:
    """Have these addresses lie elsewhere; all others are outside."""

    def zone_of(address: str) -> Zone:
        return zones.get(address, Zone.PUBLIC)

    monkeypatch.setattr(transport, "zone_of", zone_of)

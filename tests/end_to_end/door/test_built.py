"""Servers whose pages could never tell the caller from others are refused when they are built, and say what to do."""

from typing import Any

import pytest
from mcp.server.lowlevel import Server
from starlette.requests import Request

from askback import Askback
from askback.errors import VisitorUnknown
from askback.pages import Pages, SignIn
from askback.server.askback import middleware_of
from tests.end_to_end.door.served import server_of
from tests.support.openid.guarded_server import HOSTS, Host

pytestmark = pytest.mark.verifies("R20", "R26")

SIGN_IN = SignIn(issuer="https://id.example", client_id="pages")
URL = "https://tools.example"


async def who_is_there(_: Request) -> str | None:
    return None


def a_name(_: Any) -> str | None:
    return None


DOORS: dict[str, Any] = {"sign-in": SIGN_IN, "function": who_is_there}


def test_pages_without_a_door_are_refused_unless_the_author_accepts_it():
    with pytest.raises(
        VisitorUnknown, match=r"whoever gets hold of a link .* door=SignIn.* accept_anyone=True"
    ):
        Pages(url=URL)
    assert Pages(url=URL, accept_anyone=True).door is None


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_door_before_a_server_without_authorization_is_refused(host: Host, door: Any):
    server = server_of(host, is_protected=False)
    with pytest.raises(VisitorUnknown, match=r"has no authorization.*auth=\.\.\..*caller="):
        Askback(server, pages=Pages(url=URL, door=door))
    assert middleware_of(server) is None, "nothing was installed, so that it can be mended"
    Askback(server, pages=Pages(url=URL, door=who_is_there), caller=a_name)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_door_before_a_server_with_authorization_is_fine(host: Host, door: Any):
    Askback(server_of(host), pages=Pages(url=URL, door=door))


@pytest.mark.parametrize("host", HOSTS)
def test_names_of_the_authors_own_do_not_go_with_a_sign_in(host: Host):
    with pytest.raises(VisitorUnknown, match=r"no visitor would ever be the caller.*Leave caller= out"):
        Askback(server_of(host), pages=Pages(url=URL, door=SIGN_IN), caller=a_name)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("pages", [Pages(), Pages(url=URL, accept_anyone=True)], ids=["none", "by link"])
def test_without_a_door_it_is_left_to_the_call(host: Host, pages: Pages):
    Askback(server_of(host, is_protected=False), pages=pages)


def test_of_a_low_level_server_it_cannot_be_told_and_is_left_to_the_call():
    Askback(Server("tools"), pages=Pages(url=URL, door=SIGN_IN))

"""What an answer is worth by the way it came: who vouches for it, what it shows and what it cannot show (T25).

This is the only such table. Each authenticator of the pages names its row, and the documentation is written from here.
"""

from enum import Enum
from typing import NamedTuple


class ChannelStrength(NamedTuple):
    """One row: texts for people."""

    through: str
    word: str
    """Whose word it is, if it is true."""
    shows: str
    leaves_open: str


class Channel(Enum):
    """The ways in which an answer can come. A new one brings its row."""

    CLIENT = ChannelStrength(
        through="a form, or the yes to a link, through a client",
        word="the client",
        shows="that the client gave this answer to this question of this call",
        leaves_open="whether a person saw it: the client, its model or a rule can answer alike",
    )
    SIGN_IN = ChannelStrength(
        through="a page behind a sign-in, `door=SignIn(...)`",
        word="the authorization server that the MCP server trusts",
        shows="that the person who finished it has signed in there as the caller, in this browser, not more than an "
        "hour before",
        leaves_open="whether it was they who typed: an agent that drives their browser has their sign-in too",
    )
    FUNCTION = ChannelStrength(
        through="a page behind a function of the author's, `door=function`",
        word="that function",
        shows="that it took the visitor who finished the page for the caller",
        leaves_open="whatever the function does not check",
    )
    THIS_MACHINE = ChannelStrength(
        through="a page on this machine, for a server on stdio",
        word="the user of this machine",
        shows="that it was finished in the browser that was the first to open the link, on this machine",
        leaves_open="whether that was a person: an agent or a program of the same user that reads the link can open it "
        "first",
    )
    LINK = ChannelStrength(
        through="a page by its link alone, `accept_anyone=True`",
        word="anyone who had the link",
        shows="that somebody had the link",
        leaves_open="who: a link that was passed on, logged or read by a model is as good as the caller's",
    )
    APPLICATION = ChannelStrength(
        through="a page that is not ours, `visit(...)`",
        word="the code that calls `settle`",
        shows="that the application said so of the visit with this id",
        leaves_open="who was on the page: it has to sign people in by itself",
    )
    POLICY = ChannelStrength(
        through="a policy, on the client's side",
        word="the operator who wrote the rule",
        shows="which rule of which file has answered, to the operator of the client; a server with Askback is told the "
        "rule, and cannot check it",
        leaves_open="whether anybody would have agreed this time: nobody was asked",
    )
    SCRIPT = ChannelStrength(
        through="a script, in a test",
        word="the test",
        shows="nothing beyond the test",
        leaves_open="everything else",
    )

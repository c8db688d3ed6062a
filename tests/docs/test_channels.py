"""The table of what an answer is worth is the one in the code, and every door of the pages has its row."""

import pytest

from askback.model.channels import Channel
from askback.pages.authenticators import FunctionAuthenticator, LinkAuthenticator, LoopbackAuthenticator
from askback.pages.sign_in import OpenIDAuthenticator
from scripts.channels import PAGE, page


@pytest.mark.verifies("T25")
def test_the_page_says_what_the_code_says():
    written = PAGE.read_text()
    assert written == page(written), "Run `python -m scripts.channels`, and read what changed."


@pytest.mark.verifies("T25")
def test_every_door_says_on_whose_word_it_lets_somebody_in():
    doors = {
        door.channel
        for door in (LinkAuthenticator, LoopbackAuthenticator, FunctionAuthenticator, OpenIDAuthenticator)
    }
    elsewhere = {Channel.CLIENT, Channel.APPLICATION, Channel.POLICY, Channel.SCRIPT}
    assert doors == set(Channel) - elsewhere


@pytest.mark.parametrize("channel", Channel, ids=lambda channel: channel.name.lower())
def test_no_way_is_said_to_show_everything(channel: Channel):
    assert all(channel.value), "Each row says also what it does not show."

"""What the record takes of words that are not ours, and what it leaves."""

import pytest

from askback.model.events import describe_reply
from askback.model.journal import Reply, ReplyOrigin
from askback.protocol.server.events import describe_question, describe_round_questions

SEEN = Reply("accept", {"value": True}, ReplyOrigin("desk", None, 1.0))


def test_the_time_that_a_client_names_counts_only_within_what_we_know():
    """Else it would date a line of ours back to 1970, and retention go by that."""
    assert [shown.at for shown in describe_reply("sure", SEEN, asked_at=50.0)[:1]] == [50.0]
    assert [shown.at for shown in describe_reply("sure", SEEN)[:1]] == [None]


@pytest.mark.parametrize("url", ["http://[", "http://[::1", "https://a]b"])
def test_a_link_that_is_none_is_no_reason_to_fail(url: str):
    """In a round that an author wrote by hand: it goes out, with a record or without."""
    params = {"message": "Go there", "url": url}
    result = {"inputRequests": {"go": {"method": "elicitation/create", "params": params}}}
    (told,) = describe_round_questions(result, {})
    assert (told.channel, told.asks) == ("link", {"url": ""})


def test_of_a_link_nothing_is_on_record_that_opens_it():
    secret = "https://ada:hunter2@till.example:8443/pay/canary?token=canary#canary"
    assert describe_question("go", {"message": "Pay", "url": secret}, id=None).asks == {
        "url": "https://till.example:8443"
    }

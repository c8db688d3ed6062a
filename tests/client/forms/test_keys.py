"""A key that is pasted by mistake is stopped; an id that people do paste is not. The keys here open nothing."""

import base64
import hashlib
import uuid
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any

import pytest

from askback.client.forms import Draft
from askback.schema.secret_lint.shapes import recognize_key
from tests.client.forms.schemas import blank_of
from tests.support.corpus import corpus

CHANCE = Random(13)


def drawn(alphabet: str, length: int) -> str:
    return "".join(CHANCE.choices(alphabet, k=length))


MIXED = ascii_letters + digits

KEYS = {
    "a GitHub token": [
        f"ghp_{drawn(MIXED, 36)}",
        f"gho_{drawn(MIXED, 36)}",
        f"ghs_{drawn(MIXED, 36)}",
        f"github_pat_{drawn(MIXED, 22)}_{drawn(MIXED, 59)}",
        f"my token is ghp_{drawn(MIXED, 36)}, thanks",
        f"https://x.example/?token=ghp_{drawn(MIXED, 36)}",
    ],
    "a GitLab token": [f"glpat-{drawn(MIXED + '_-', 20)}"],
    "an AWS access key": [f"AKIA{drawn(ascii_uppercase + '234567', 16)}", f"key=ASIA{drawn(ascii_uppercase, 16)}"],
    "a Google API key": [f"AIza{drawn(MIXED, 35)}"],
    "a Google token": [f"ya29.{drawn(MIXED, 60)}", f"GOCSPX-{drawn(MIXED, 28)}"],
    "a Slack token": [f"xoxb-{drawn(digits, 12)}-{drawn(digits, 12)}-{drawn(MIXED, 24)}", f"xoxp-{drawn(digits, 30)}"],
    "a Stripe key": [f"sk_{'live'}_{drawn(MIXED, 24)}", f"rk_{'test'}_{drawn(MIXED, 24)}", f"whsec_{drawn(MIXED, 32)}"],
    "an npm token": [f"npm_{drawn(MIXED, 36)}"],
    "a PyPI token": [f"pypi-AgEIcHlwaS5vcmc{drawn(MIXED, 120)}"],
    "a Hugging Face token": [f"hf_{drawn(ascii_letters, 34)}"],
    "a SendGrid key": [f"SG.{drawn(MIXED, 22)}.{drawn(MIXED, 43)}"],
    "a Telegram bot token": [f"{drawn('123456789', 10)}:{drawn(MIXED, 35)}"],
    "an API key": [f"sk-{drawn(MIXED, 48)}", f"sk-proj-{drawn(MIXED, 64)}", f"sk-ant-api03-{drawn(MIXED, 90)}"],
    "a signed token (JWT)": [
        f"eyJ{drawn(MIXED, 30)}.eyJ{drawn(MIXED, 60)}.{drawn(MIXED, 43)}",
        f"Bearer eyJ{drawn(MIXED, 30)}.eyJ{drawn(MIXED, 60)}.",
    ],
    "a private key": [
        f"-----BEGIN {'PRIVATE'} KEY-----\n{drawn(MIXED, 64)}\n-----END PRIVATE KEY-----",
        f"-----BEGIN RSA {'PRIVATE'} KEY-----\nMII",
        f"-----BEGIN OPENSSH {'PRIVATE'} KEY-----",
        f"-----BEGIN PGP {'PRIVATE'} KEY BLOCK-----",
    ],
    "an address with a password in it": ["postgres://admin:hunter2@db.example.org/shop", "https://me:pw@example.org"],
    "a card number": [
        "4111 1111 1111 1111",
        "5555-5555-5555-4444",
        "378282246310005",
        "6011111111111117 11/29",
        "Ada 5555 5555 5555 4444 123",
    ],
    "a key": [
        drawn(MIXED, 40),
        base64.b64encode(CHANCE.randbytes(32)).decode(),
        f"AccountKey={base64.b64encode(CHANCE.randbytes(64)).decode()}",
    ],
}  # fmt: skip

PLAIN = [
    "",
    "Ada Lovelace",
    "Please deliver to the back door; the bell is broken, so call +49 170 1234567 instead.",
    "The quick brown fox jumps over the lazy dog and signs as FOX-2026-11-15",
    "DE89 3704 0044 0532 0130 00",
    "2026-11-15T18:30:00+01:00",
    "urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "https://github.com/example/repo/blob/0f9b6c5e4d3a2b1c0f9b6c5e4d3a2b1c0f9b6c5e/src/MainWindow2Factory.py",
    "https://docs.example.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms/edit#gid=0",
    "git@github.com:example/repo.git",
    "/usr/local/lib/python3.11/site-packages/some_package2/SubModule/__init__.py",
    "AbstractSingletonProxyFactoryBeanFactoryLocator2",
    "getUserByEmailAndOrganisationIdOrThrowNotFound",
    "sk-learn-estimator-pipeline-wrapper-v2-final-review",
    "ghp_ is how GitHub's tokens begin, and sk- those of others",
    "MY_VERY_LONG_ENVIRONMENT_VARIABLE_NAME_WITH_NUMBER_42",
    "feature/JIRA-1234-make-the-thing-work-with-python-3-11",
    "v2.11.0-rc.1+build.20261115.sha.0f9b6c5e",
    "arn:aws:iam::123456789012:role/ReadOnlyAccessForReportingAndBilling",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "1234567890123456",
    "4111 1111 1111 1112",
    "356938035643809",
    "978-3-16-148410-0",
    "Tracking number 1Z999AA10123456784",
    "192.168.100.200:8080, 10.0.0.1:443",
    "AA:BB:CC:DD:EE:FF 2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "SELECT * FROM orders WHERE customer_id = 42 AND status IN ('open', 'paid')",
    "ORD-2026-000123456-A7, invoice RE-2026/11/15-0042",
    "-----BEGIN CERTIFICATE-----",
    "ssh-ed25519 is a kind of key",
]


@pytest.mark.verifies("T13")
@corpus(("what", "place"), [(what, place) for what, texts in KEYS.items() for place in range(len(texts))])
def test_a_pasted_key_is_recognised_by_its_shape(what: str, place: int):
    assert recognize_key(KEYS[what][place]) == f"looks like {what}"


@pytest.mark.verifies("T13")
@corpus("place", range(len(PLAIN)))
def test_what_people_paste_every_day_is_not_taken_for_a_key(place: int):
    assert recognize_key(PLAIN[place]) is None


@pytest.mark.verifies("T13")
def test_of_ids_in_great_number_hardly_any_is_taken_for_a_key():
    chance = Random(7)
    makers = {
        "uuid": lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "git hash": lambda: hashlib.sha1(chance.randbytes(8)).hexdigest(),
        "sha256": lambda: hashlib.sha256(chance.randbytes(8)).hexdigest(),
        "base32": lambda: base64.b32encode(chance.randbytes(25)).decode(),
        "slug": lambda: "-".join(
            chance.choice(["make", "it", "work", "v2", "again", "Now"]) for _ in range(12)
        ),
        "short id": lambda: "".join(chance.choices(MIXED, k=22)),
        "number": lambda: str(chance.randrange(10**11, 10**12)),
    }
    for make in makers.values():
        assert sum(recognize_key(make()) is not None for _ in range(1_000)) == 0


@pytest.mark.verifies("T13")
def test_of_keys_that_bear_no_mark_nearly_all_are_noticed():
    chance = Random(7)
    drawn_ones = ["".join(chance.choices(MIXED, k=40)) for _ in range(1_000)]
    assert sum(recognize_key(one) is not None for one in drawn_ones) >= 980


@pytest.mark.verifies("T13")
def test_a_pasted_key_stops_the_sending_until_the_person_excuses_it():
    draft = Draft(blank_of(note={"type": "string"}, other={"type": "string"}))
    draft.write("note", KEYS["a GitHub token"][0])
    assert draft.problems() == {}
    assert draft.pasted_key("note") == "looks like a GitHub token"
    assert draft.stops() == {"note": "looks like a GitHub token"}
    with pytest.raises(ValueError, match="note looks like a GitHub token"):
        draft.content()
    draft.excuse("note")
    assert draft.stops() == {}
    assert draft.content() == {"note": KEYS["a GitHub token"][0]}


@pytest.mark.verifies("T13")
def test_an_excuse_holds_for_what_was_seen_and_for_nothing_else():
    draft = Draft(blank_of(note={"type": "string"}))
    draft.write("note", KEYS["a GitHub token"][0])
    draft.excuse("note")
    draft.write("note", KEYS["a GitHub token"][1])
    assert draft.stops() == {"note": "looks like a GitHub token"}


@pytest.mark.verifies("T13")
def test_what_the_server_itself_filled_in_is_nobody_s_paste():
    draft = Draft(blank_of(note={"type": "string", "default": KEYS["an API key"][0]}))
    assert draft.stops() == {}


@pytest.mark.verifies("T13")
@corpus("described", [{"type": "integer"}, {"type": "number"}, {"type": "string"}])
def test_a_card_number_is_stopped_in_a_field_for_numbers_too(described: Any):
    draft = Draft(blank_of(amount=described))
    draft.write("amount", "4111111111111111")
    assert draft.stops() == {"amount": "looks like a card number"}


def test_an_option_is_chosen_and_not_pasted():
    option = drawn(ascii_lowercase + ascii_uppercase + digits, 40)
    draft = Draft(blank_of(field={"enum": [option]}), {"field": option})
    assert draft.stops() == {}

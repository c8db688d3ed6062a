"""Links that may go out, and links that must not: what a visit is refused for, and what it is not."""

import re

import pytest

from askback.errors import LinkRefused
from askback.schema.links import MAX_LINK_LENGTH, link_of

ID = "k3" * 21

FINE = [
    "https://pay.example/checkout/{id}",
    "https://pay.example/{id}",
    "HTTPS://Pay.Example/{id}",
    "https://pay.example:8443/checkout/{id}?lang=en&currency=EUR&amount=20.00",
    "https://pay.example/checkout?ref={id}",
    "https://pay.example/checkout?session={id}",
    "https://pay.example/checkout?token={id}",
    "https://pay.example/#/checkout/{id}",
    "https://pay.example/c/{id}?utm_source=mcp&utm_campaign=summer-2026",
    "https://pay.example/c/{id}?country_code=DE&zip_required=true",
    "https://pay.example/c/{id}?code=SUMMER20",
    "https://pay.example/c/{id}?author=askback",
    "https://pay.example/c/{id}?account_type=business",
    "https://pay.example/c/{id}?customer_type=new",
    "https://pay.example/c/{id}?product_name=Premium",
    "https://pay.example/c/{id}?key=orders",
    "https://pay.example/c/{id}?sort_key=date",
    "https://pay.example/c/{id}?address_form=short",
    "https://pay.example/c/{id}?mail=true",
    "https://pay.example/account/settings/{id}",
    "https://pay.example/login/{id}",
    "https://pay.example/users/sign_in?flow={id}",
    "https://pay.example/c/{id}?next=%2Fdone",
    "https://pay.example/c/{id}?return=https%3A%2F%2Fshop.example%2Fdone",
    "https://pay.example/c/{id}?order=4711",
    "https://pay.example/c/{id}?order=2026-11-15-0042",
    "https://pay.example/c/{id}?tenant=6f1d3c2e-7a7d-4b3e-9d55-3f3a0a8d4c11",
    "https://pay.example/c/{id}?commit=3f786850e387550fdab836ed7e6dc881de23001b",
    "https://pay.example/c/{id}?date=2026-11-15T10:00:00%2B01:00",
    "https://pay.example/p/running-shoes-size-42/{id}",
    "https://pay.example/c/{id}?authorize=true",
    "https://pay.example/oauth2/v2.0/authorize?response_type=code&client_id=Iv1.8a61f9b3a7aba766&scope=repo%20read:user&state={id}&redirect_uri=https%3A%2F%2Fshop.example%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
    "https://github.com/login/oauth/authorize?client_id=abc&state={id}&prompt=consent&access_type=offline",
    "https://pay.example/c/{id}?nonce=8172",
    "https://buy.stripe.com/test_14k5kD0?client_reference_id={id}",
    "https://docs.google.com/forms/d/e/1FAIpQLSdJxkG5P/viewform?entry.1={id}",
    "https://müller.example/{id}",
    "https://xn--mller-kva.example/{id}",
    "https://pay.example/c/{id}?q=caf%C3%A9",
    "http://localhost:8000/{id}",
    "http://127.0.0.1:8000/{id}",
    "http://[::1]:8000/{id}",
    "http://app.localhost/{id}",
    "https://192.168.1.10/{id}",
    "https://pay.example/c/{id}?phone_required=yes",
    "https://pay.example/c/{id}?email_verified=true",
    "https://pay.example/c/{id}?user_type=guest",
    "https://pay.example/c/{id}?sid={id}",
    "https://pay.example/a@b/{id}",
    "https://medium.example/@somebody/post/{id}",
    "https://maps.example/@52.5,13.4,12z/{id}",
    "https://pay.example/c/{id}?ids=1,2,3&page=2",
    "https://pay.example/c/{id}?pin=off",
    "https://pay.example/c/{id}?tel=on",
]
"""What authors write every day; each of these must pass."""

CREDENTIALS = [
    "https://pay.example/{id}?token=abc123",
    "https://pay.example/{id}?access_token=abc",
    "https://pay.example/{id}#access_token=abc",
    "https://pay.example/{id}?api_key=abc",
    "https://pay.example/{id}?apikey=abc",
    "https://pay.example/{id}?api-key=abc",
    "https://pay.example/{id}?X-Api-Key=abc",
    "https://pay.example/{id}?password=hunter2",
    "https://pay.example/{id}?pwd=hunter2",
    "https://pay.example/{id}?PASS=hunter2",
    "https://pay.example/{id}?secret=abc",
    "https://pay.example/{id}?client_secret=abc",
    "https://pay.example/{id}?sig=abc",
    "https://pay.example/{id}?Signature=abc",
    "https://pay.example/{id}?X-Amz-Signature=abc&X-Amz-Credential=x",
    "https://pay.example/{id}?x-goog-signature=abc",
    "https://pay.example/{id}?session_id=abc",
    "https://pay.example/{id}?sessionToken=abc",
    "https://pay.example/{id}?jsessionid=abc",
    "https://pay.example/{id};jsessionid=abc",
    "https://pay.example/{id}?PHPSESSID=abc",
    "https://pay.example/{id}?auth=abc",
    "https://pay.example/{id}?auth_token=abc",
    "https://pay.example/{id}?authToken=abc",
    "https://pay.example/{id}?jwt=abc",
    "https://pay.example/{id}?id_token=abc",
    "https://pay.example/{id}?refresh_token=abc",
    "https://pay.example/{id}?otp=123456",
    "https://pay.example/{id}?magic_link=abc",
    "https://pay.example/{id}?magic=abc",
    "https://pay.example/{id}?login_token=abc",
    "https://pay.example/{id}?SAMLResponse=abc",
    "https://pay.example/{id}?ticket=ST-1856339",
    "https://pay.example/{id}?assertion=abc",
    "https://pay.example/{id}?bearer=abc",
    "https://pay.example/{id}?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.abc",
    "https://pay.example/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.abc/{id}",
    "https://pay.example/{id}?x=4111111111111111",
    "https://pay.example/{id}?x=4111+1111+1111+1111",
    "https://pay.example/{id}?next=https%3A%2F%2Fshop.example%2F%3Ftoken%3Dabc",
    "https://pay.example/{id}?next=%2Fdone%3Faccess_token%3Dabc",
    "https://pay.example/magic/k7Xp2Qw9Rt4Yb8Zn3Lm6Vc1Hs5Jd0Fg2Ta9/{id}",
    *("https://pay.example/{id}?x=" + mark + "a1B2c3D4" * 5 for mark in ("ghp_", "sk_live_", "glpat-")),
]

PERSONAL = [
    "https://pay.example/{id}?email=ada%40example.org",
    "https://pay.example/{id}?e-mail=ada",
    "https://pay.example/{id}?user=ada",
    "https://pay.example/{id}?user_id=7",
    "https://pay.example/{id}?userId=7",
    "https://pay.example/{id}?username=ada",
    "https://pay.example/{id}?first_name=Ada",
    "https://pay.example/{id}?lastName=Lovelace",
    "https://pay.example/{id}?phone=5551234",
    "https://pay.example/{id}?ssn=078051120",
    "https://pay.example/{id}?dob=1815-12-10",
    "https://pay.example/{id}?birthday=1815-12-10",
    "https://pay.example/{id}?iban=DE89370400440532013000",
    "https://pay.example/{id}?login_hint=ada",
    "https://pay.example/{id}?customer_id=cus_123",
    "https://pay.example/{id}?account_number=123",
    "https://pay.example/{id}?address=1+Main+Street",
    "https://pay.example/{id}?patient=17",
    "https://pay.example/{id}?x=ada%40example.org",
    "https://pay.example/{id}?x=ada%2540example.org",
    "https://pay.example/users/ada@example.org/{id}",
    "https://pay.example/users/ada%40example.org/{id}",
    "https://pay.example/{id}?x=%2B4917012345678",
    "https://pay.example/{id}?x=DE89370400440532013000",
]

PLAIN_HTTP = [
    "http://pay.example/{id}",
    "http://10.0.0.5/{id}",
    "http://0.0.0.0:8000/{id}",
    "http://localhost.evil.example/{id}",
    "http://127.0.0.1.evil.example/{id}",
]

USER_INFO = [
    "https://ada@pay.example/{id}",
    "https://ada:hunter2@pay.example/{id}",
    "https://:hunter2@pay.example/{id}",
    "https://{id}@pay.example/",
    "https://pay.example@evil.example/{id}",
    "http://127.0.0.1@evil.example/{id}",
]

ODD = [
    "https://{id}.pay.example/",
    "ftp://pay.example/{id}",
    "javascript:alert('{id}')",
    "data:text/html,{id}",
    "file:///etc/{id}",
    "mailto:ada@example.org?subject={id}",
    "vscode://open/{id}",
    "ws://pay.example/{id}",
    "//pay.example/{id}",
    "/checkout/{id}",
    "pay.example/{id}",
    "https:pay.example/{id}",
    "https:/pay.example/{id}",
    "https:///pay.example/{id}",
    "https://",
    "https://{id}",
    "https:\\\\pay.example\\{id}",
    "https://evil.example\\@pay.example/{id}",
    "https://pay.example/ {id}",
    " https://pay.example/{id}",
    "https://pay.example/{id} ",
    "java\tscript:alert('{id}')",
    "https://pay.exa\tmple/{id}",
    "https://pay.example/\u202e{id}",
    "https://pay.example/\u200b{id}",
    "https://pay.example/\x00{id}",
    "https://pay.example:{id}/",
    "https://pay.example:99999/{id}",
    "https://pay.example/{{id}}",
]
"""Schemes that nobody should open, and texts that one parser reads otherwise than another."""

WITHOUT_PLACE = [
    "https://pay.example/checkout",
    "https://pay.example/{ID}",
    "https://pay.example/%7Bid%7D",
]


KEEP_ELSEWHERE = "under a number of your own, made in once(...)"


def refusal(link: str) -> LinkRefused:
    with pytest.raises(LinkRefused) as refused:
        link_of(link)
    return refused.value


def test_what_authors_write_every_day_goes_out_with_the_id_in_its_place():
    assert [link for link in FINE if link_of(link).with_id(ID) != link.replace("{id}", ID)] == []


@pytest.mark.verifies("R17", "R18", "T11")
def test_a_link_that_carries_a_credential_is_refused_when_it_is_made():
    refused = {link: refusal(link) for link in CREDENTIALS}
    assert [
        link for link, one in refused.items() if not re.search("credential|looks like", one.problem)
    ] == []
    assert [link for link, one in refused.items() if KEEP_ELSEWHERE not in one.instead] == []


@pytest.mark.verifies("R17", "T11")
def test_a_link_that_says_who_somebody_is_is_refused_when_it_is_made():
    assert [
        link
        for link in PERSONAL
        if not refusal(link).instead.startswith(f"keep it on the server {KEEP_ELSEWHERE}")
    ] == []


@pytest.mark.verifies("R19")
def test_plain_http_is_for_this_machine_alone():
    assert [link for link in PLAIN_HTTP if "over plain http" not in refusal(link).problem] == []


@pytest.mark.verifies("R17")
def test_nothing_stands_before_the_host():
    assert [link for link in USER_INFO if "before its host" not in refusal(link).problem] == []


def test_what_is_no_plain_web_address_is_refused():
    assert [link for link in ODD if not refusal(link).instead] == []


def test_a_link_without_a_place_for_the_id_is_refused_with_what_to_write():
    written = "https://pay.example/checkout/{id}"
    assert [link for link in WITHOUT_PLACE if written not in refusal(link).instead] == []


def test_who_does_not_wait_needs_no_place_for_the_id():
    assert (
        link_of("https://pay.example/checkout", needs_id=False).with_id(ID) == "https://pay.example/checkout"
    )


def test_the_id_is_judged_by_nobody_wherever_it_stands():
    assert link_of("https://pay.example/{id}?token={id}&user={id}#{id}").with_id("x").count("x") == 5


@pytest.mark.parametrize(
    "link", [None, 7, b"https://pay.example/{id}", ["https://pay.example/{id}"]], ids=repr
)
def test_what_is_no_text_is_refused_too(link: object):
    with pytest.raises(LinkRefused, match="is not a text"):
        link_of(link)  # pyright: ignore[reportArgumentType] # what authors who use no type checker write


def test_a_link_that_no_browser_takes_is_refused():
    link_of("https://pay.example/{id}?q=" + "ab" * 900)
    with pytest.raises(LinkRefused, match="at most 2,000 characters"):
        link_of("https://pay.example/{id}?q=" + "ab" * MAX_LINK_LENGTH)


def test_a_value_that_was_encoded_over_and_over_ends_the_search():
    link_of("https://pay.example/{id}?q=%" + "25" * 900 + "41")


SLIPS = {
    "swapped arguments": ("Please pay for order 17.", "is a sentence", 'visit("Please pay.", "https://'),
    "an f-string without its second braces": (
        f"https://pay.example/{id}",  # the builtin: what an author gets who forgets them
        "has no {id}",
        "in an f-string {{id}}",
    ),
    "two braces outside of an f-string": ("https://pay.example/{{id}}", "has {{id}}", "write {id}"),
    "a place that nobody fills in": (
        "https://pay.example/{order}?visit={id}",
        "still has {order}",
        "written {{id}}",
    ),
    "a hosted checkout": (
        "https://checkout.stripe.com/c/pay/cs_test_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5?visit={id}",
        "looks like",
        "link to a page of your own with {id} that sends the person on",
    ),
}


def test_a_slip_of_the_pen_is_named_with_what_to_write():
    for link, problem, instead in SLIPS.values():
        refused = refusal(link)
        assert problem in refused.problem, link
        assert instead in refused.instead, link

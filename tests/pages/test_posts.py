"""Posts that are too large, too long, or no form: a clear answer, and nothing changed."""

from collections.abc import AsyncIterator
from urllib.parse import quote_plus

import anyio
import pytest

from askback.pages import requests
from tests.pages.raw import Answer, asked
from tests.support.visit_pages import OUTSIDE, WHO, Grounds, outside
from tests.support.visitor import SAME_ORIGIN, visitor

FORM = "application/x-www-form-urlencoded"
PARTS = (
    b'--x\r\nContent-Disposition: form-data; name="field-value"; filename="key.pem"\r\n'
    b"Content-Type: text/plain\r\n\r\nsecret\r\n--x--\r\n"
)


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def posted(
    grounds: Grounds,
    link: str,
    body: AsyncIterator[bytes],
    *,
    kind: str = FORM,
    leaves: bool = False,
    length: str = "",
) -> Answer:
    said = {"content-length": length} if length else {}
    headers = {WHO: "ada", "content-type": kind, **SAME_ORIGIN, **said}
    path = link.removeprefix(OUTSIDE)
    return await asked(grounds.app, path, method="POST", headers=headers.items(), body=body, leaves=leaves)


CASES: dict[str, tuple[int, str, list[bytes]]] = {
    "too large": (413, FORM, [b"answer=no&field-value=" + b"a" * requests.MAX_BYTES]),
    "too large, bit by bit": (413, FORM, [b"answer=no&field-value=", *[b"a" * 65_536] * 17]),
    "too many fields": (400, FORM, [b"&".join(b"f%d=x" % number for number in range(21))]),
    "a field twice": (400, FORM, [b"answer=yes&answer=no"]),
    "files": (415, "multipart/form-data; boundary=x", [PARTS]),
    "JSON": (415, "application/json", [b'{"answer": "no"}']),
    "plain text": (415, "text/plain", [b"answer=no"]),
    "no type": (415, "", [b"answer=no"]),
    "not UTF-8": (400, FORM, [b"answer=yes&field-value=%ff%fe"]),
    "not even ASCII": (400, FORM, [b"answer=yes&field-value=\xc3\xa9"]),
    "half a sign": (400, FORM, [b"answer=yes&field-value=%ed%a0%80"]),
    "nothing": (403, FORM, [b""]),
    "no token": (403, FORM, [b"answer=no"]),
}


@pytest.mark.parametrize(("status", "kind", "body"), CASES.values(), ids=CASES)
async def test_a_post_that_is_no_form_of_ours_is_told_so_and_changes_nothing(
    status: int, kind: str, body: list[bytes]
) -> None:
    grounds = outside()
    link = await grounds.secret()
    answer = await posted(grounds, link, chunks(*body), kind=kind)
    assert (
        answer.status == status
        and b"This was not accepted" in answer.body
        and b"Nothing was changed" in answer.body
    )
    assert await grounds.ending(link) is None and await grounds.kept() == {}


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "\xb2", "abc", str(requests.MAX_BYTES * 9)])
async def test_what_is_said_of_a_length_is_not_believed(length: str) -> None:
    grounds = outside()
    link = await grounds.secret()
    answer = await posted(grounds, link, chunks(b"answer=no"), length=length)
    assert answer.status == 403 and await grounds.ending(link) is None


async def test_a_post_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"answer=no&field-value="
        await anyio.sleep_forever()

    monkeypatch.setattr(requests, "READ_TIMEOUT", 0.05)
    grounds = outside()
    link = await grounds.secret()
    answer = await posted(grounds, link, endless())
    assert answer.status == 408 and b"took too long to arrive" in answer.body
    assert await grounds.ending(link) is None


async def test_who_leaves_in_the_middle_of_a_post_has_changed_nothing() -> None:
    grounds = outside()
    link = await grounds.secret()
    answer = await posted(grounds, link, chunks(b"answer=no"), leaves=True)
    assert answer.status == 400 and await grounds.ending(link) is None


async def test_a_form_whose_length_nobody_said_is_read() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        token = (await ada.open(link)).token
        body = chunks(f"token={quote_plus(token)}&answer=yes&".encode(), b"field-value=k")
        answer = await ada.client.post(link, content=body, headers=SAME_ORIGIN | {"content-type": FORM})
    assert answer.status_code == 303 and await grounds.kept() == {"weather key": {"value": "k"}}


MEANT = {
    "spaces are part of it": ("  pass word ", "  pass word "),
    "signs that forms escape": ("a+b%20c&d=e;f?g#h", "a+b%20c&d=e;f?g#h"),
    "every script": ("пароль 密码 🔑 é", "пароль 密码 🔑 é"),
    "lines, as browsers end them": ("-----BEGIN\r\nabc\r\n-----END\r\n", "-----BEGIN\nabc\n-----END"),
    "a line's end that was pasted along": ("\nk-123\n", "k-123"),
    "tabs": ("a\tb", "a\tb"),
    "as long as may be": ("x" * 20_000, "x" * 20_000),
    "markup": ("<b>&amp;</b>", "<b>&amp;</b>"),
}


@pytest.mark.parametrize(("typed", "meant"), MEANT.values(), ids=MEANT)
async def test_a_value_is_kept_as_it_was_meant(typed: str, meant: str) -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        assert (await ada.give(link, typed)).heading == "Saved"
    assert await grounds.kept() == {"weather key": {"value": meant}}


PEM = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw==\n  a line with blanks  \n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("pasted", [PEM, f"\n{PEM}\n", PEM.rstrip()], ids=["a file", "more", "less"])
async def test_several_lines_come_out_exactly_as_they_were_pasted(pasted: str) -> None:
    grounds = outside()
    field = {"name": "value", "label": "Key", "hint": "", "hidden": True, "lines": True}
    link = await grounds.secret(fields=[field])
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        assert (await ada.give(link, "\r\n\r\n")).status == 422
        assert (await ada.give(link, pasted.replace("\n", "\r\n"))).heading == "Saved"
    assert await grounds.kept() == {"weather key": {"value": pasted}}


@pytest.mark.parametrize(
    ("typed", "says"), [("", "Fill this in."), ("\r\n", "Fill this in."), ("x" * 20_001, "20,000 characters")]
)
async def test_a_field_left_empty_or_too_long_is_asked_for_again_and_nothing_typed_is_shown(
    typed: str, says: str
) -> None:
    grounds = outside()
    fields = [{"name": name, "label": name, "hint": "", "hidden": True} for name in ("first", "second")]
    link = await grounds.secret(fields=fields)
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await ada.give(link, first="typed before", second=typed)
        assert shown.status == 422 and says in shown.html and "Not saved yet" in shown.html
        assert "typed before" not in shown.html and "xxxx" not in shown.html
        assert await grounds.ending(link) is None and await grounds.kept() == {}
        again = {"answer": "yes", "field-first": "one", "field-second": "two"}
        assert (await ada.post(link, again, token=shown.token)).heading == "Saved"
    assert await grounds.kept() == {"weather key": {"first": "one", "second": "two"}}


async def test_fields_that_nobody_asked_for_are_not_kept() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        await ada.post(link, {"answer": "yes", "field-value": "k", "field-other": "x", "name": "another"})
    assert await grounds.kept() == {"weather key": {"value": "k"}}

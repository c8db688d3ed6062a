"""A form on the desk: filled in, checked while typing, reviewed, and sent or not."""

from typing import Any

import pytest
from playwright.async_api import expect

from askback.answers import Accepted, Cancelled, Declined
from tests.client.turns import make_form
from tests.support.desk import Sitting, press, ready, review_and_send

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

KINDS: dict[str, Any] = {
    "type": "object",
    "required": ["name", "email", "yes", "plain"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 40, "description": "As on the bell."},
        "note": {"type": "string", "title": "Note"},
        "email": {"type": "string", "format": "email", "title": "Email"},
        "site": {"type": "string", "format": "uri", "title": "Site"},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "moment": {"type": "string", "format": "date-time", "title": "Moment"},
        "count": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 9, "default": 3},
        "share": {"type": "number", "title": "Share"},
        "yes": {"type": "boolean", "title": "Agreed"},
        "plain": {"type": "string", "title": "Plain", "enum": ["a", "b"]},
        "titled": {"type": "string", "title": "Titled", "oneOf": [{"const": "x", "title": "The X"}, {"const": "y"}]},
        "named": {"type": "string", "title": "Named", "enum": ["k", "l"], "enumNames": ["Kilo", "Lima"]},
        "long": {"type": "string", "title": "Long list", "enum": [f"option {number}" for number in range(12)]},
        "some": {"type": "array", "title": "Some", "maxItems": 2, "items": {"type": "string", "enum": ["p", "q", "r"]}},
        "few": {
            "type": "array",
            "title": "Few",
            "items": {"anyOf": [{"const": "1", "title": "One"}, {"const": "2", "title": "Two"}]},
        },
    },
}  # fmt: skip

NOTHING: dict[str, Any] = {}


@pytest.mark.verifies("R47", "R49", "R55", "R57")
async def test_defaults_are_filled_in_changed_reviewed_and_sent(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form(name="Luigi's server"))
    card = page.locator(".card")
    await expect(card.get_by_role("heading", name="pizzeria asks")).to_be_visible()
    await expect(card).to_contain_text("for: tool order")
    await expect(card).to_contain_text("It calls itself “Luigi's server”, in its own words.")
    await expect(card.get_by_label("None")).to_be_checked()
    await expect(card.get_by_label("Tip in euro")).to_have_value("0")
    await card.get_by_label("Tip in euro").fill("5")
    await press(page, "Review")
    await expect(card.locator("dd").nth(0)).to_contain_text("as it came")
    await expect(card.locator("dd").nth(1)).to_contain_text("changed by you, was: 0")
    await press(page, "Back")
    await card.get_by_label("Cola").check()
    await review_and_send(page)
    assert await asking.answer() == Accepted({"drink": "cola", "tip": 5})
    await expect(page.locator(".empty")).to_contain_text("Sent.")


@pytest.mark.verifies("R58")
async def test_every_kind_of_field_can_be_filled_in(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form(KINDS))
    card = page.locator(".card")
    typed = {
        "Name": "Ada",
        "Note": "two\nlines",
        "Email": "ada@example.org",
        "Site": "https://example.org/",
        "Day": "2026-11-15",
        "Moment": "2026-11-15T18:30:00+01:00",
        "Count": "7",
        "Share": "0.5",
    }
    for label, text in typed.items():
        await card.get_by_label(label, exact=True).fill(text)
    groups = {"Agreed": "Yes", "Plain": "b", "Titled": "The X", "Named": "Lima"}
    for group, option in groups.items():
        await card.get_by_role("group", name=group).get_by_label(option, exact=True).check()
    await card.get_by_label("Long list").select_option("option 11")
    for option in ("r", "p"):
        await card.get_by_role("group", name="Some").get_by_label(option, exact=True).check()
    await expect(card.get_by_role("group", name="Some")).to_contain_text("2 of 3 chosen")
    await card.get_by_role("group", name="Few").get_by_label("Two").check()
    await review_and_send(page)
    assert await asking.answer() == Accepted(
        {
            "name": "Ada",
            "note": "two\nlines",
            "email": "ada@example.org",
            "site": "https://example.org/",
            "day": "2026-11-15",
            "moment": "2026-11-15T18:30:00+01:00",
            "count": 7,
            "share": 0.5,
            "yes": True,
            "plain": "b",
            "titled": "x",
            "named": "l",
            "long": "option 11",
            "some": ["p", "r"],
            "few": ["2"],
        }
    )


async def test_optional_fields_may_stay_empty_and_are_then_not_sent(sitting: Sitting):
    fields = {
        "note": {"type": "string", "title": "Note"},
        "size": {"type": "string", "title": "Size", "enum": ["s", "l"], "default": "s"},
        "gift": {"type": "boolean", "title": "Gift"},
    }
    asking, page = await sitting.tab_with(make_form({"type": "object", "properties": fields}))
    await expect(page.locator(".card")).to_contain_text("may stay empty")
    await page.get_by_role("group", name="Size").get_by_label("leave it empty").check()
    await press(page, "Review")
    await expect(page.locator(".review dd").nth(1)).to_contain_text(
        "emptied by you (left empty, the server may take its own suggestion again), was: s"
    )
    await press(page, "Send")
    assert await asking.answer() == Accepted(NOTHING)


async def test_what_does_not_fit_is_said_while_typing_and_keeps_the_review_shut(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form(KINDS))
    count = page.get_by_label("Count")
    await count.fill("10")
    await expect(page.locator(".field", has=count).locator(".problem")).to_contain_text("9 or less")
    await expect(count).to_have_attribute("aria-invalid", "true")
    await press(page, "Review")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await expect(page.locator("#announce")).to_have_text("5 answers need another look.")
    await count.fill("9")
    await expect(count).to_have_attribute("aria-invalid", "false")
    assert asking.is_open


async def test_a_day_can_be_picked_from_a_calendar_that_writes_into_the_box(sitting: Sitting):
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date", "title": "Day"}}}
    _, page = await sitting.tab_with(make_form(schema))
    await page.locator(".calendar").evaluate(
        "(one) => { one.value = '2026-12-24'; one.dispatchEvent(new Event('change')); }"
    )
    await expect(page.get_by_label("Day")).to_have_value("2026-12-24")


@pytest.mark.verifies("R48", "R52")
@pytest.mark.parametrize(("name", "answer"), [("Decline", Declined()), ("Cancel", Cancelled())])
async def test_decline_and_cancel_are_two_things(sitting: Sitting, name: str, answer: Declined | Cancelled):
    asking, page = await sitting.tab_with(make_form())
    await page.get_by_label("Tip in euro").fill("5")
    await press(page, name)
    assert await asking.answer() == answer
    assert not asking.turn.declines_all


@pytest.mark.verifies("R48")
async def test_decline_and_cancel_are_offered_on_the_review_as_well(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    await press(page, "Review")
    await page.get_by_role("heading", name="Review before sending").wait_for()
    await press(page, "Decline")
    assert await asking.answer() == Declined()


@pytest.mark.verifies("T20")
async def test_one_word_declines_everything_from_a_server_and_nothing_from_others(sitting: Sitting):
    first, second = sitting.ask(make_form()), sitting.ask(make_form(number=2))
    other = sitting.ask(make_form(label="bistro"))
    page = await sitting.tab()
    await press(page, "Decline all from this server")
    await expect(page.locator(".foot")).to_contain_text("every further question of pizzeria")
    await press(page, "Decline all from this server")
    for asking in (first, second):
        assert await asking.answer() == Declined()
        assert asking.turn.declines_all
    await expect(page.get_by_role("heading", name="bistro asks")).to_be_visible()
    assert other.is_open and not other.turn.declines_all


@pytest.mark.verifies("T13")
async def test_a_form_that_fishes_for_a_secret_wants_one_more_word_and_masks_nothing(sitting: Sitting):
    schema = {
        "type": "object",
        "properties": {"word": {"type": "string", "title": "Your password", "maxLength": 50}},
    }
    asking, page = await sitting.tab_with(make_form(schema))
    card = page.locator(".card")
    await expect(card.locator(".banner.caution")).to_contain_text("fishing for a secret")
    box = card.get_by_label("Your password")
    await expect(box).to_have_attribute("type", "text")
    await expect(box).to_have_attribute("autocomplete", "off")
    await box.fill("swordfish")
    await press(page, "Review")
    await page.get_by_role("heading", name="Review before sending").wait_for()
    await press(page, "Send")
    await expect(card.locator(".notice")).to_contain_text("seems to ask for a secret")
    assert asking.is_open
    await card.get_by_label("Send it anyway").check()
    await press(page, "Send")
    assert await asking.answer() == Accepted({"word": "swordfish"})


@pytest.mark.verifies("T13")
async def test_a_pasted_key_stops_the_sending_until_the_person_says_it_is_none(sitting: Sitting):
    schema = {"type": "object", "properties": {"note": {"type": "string", "title": "Note"}}}
    asking, page = await sitting.tab_with(make_form(schema))
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    await page.get_by_label("Note").fill(key)
    await press(page, "Review")
    stop = page.locator(".stop p")
    await expect(stop).to_have_text(
        "Note looks like a GitHub token. It is not sent unless you say that it may be."
    )
    await expect(page.get_by_role("heading", name="Review before sending")).to_be_hidden()
    await press(page, "Take it out")
    await expect(page.get_by_label("Note")).to_have_value("")
    await page.get_by_label("Note").fill(key)
    await press(page, "It is no secret, keep it")
    await expect(page.locator(".stop")).to_be_empty()
    await review_and_send(page)
    assert await asking.answer() == Accepted({"note": key})


async def test_a_form_that_cannot_be_answered_can_be_declined(sitting: Sitting):
    schema = {"type": "object", "required": ["deep"], "properties": {"deep": {"type": "object"}}}
    asking, page = await sitting.tab_with(make_form(schema))
    await expect(page.locator(".banner.caution")).to_be_visible()
    await expect(page.get_by_role("button", name="Review")).to_have_count(0)
    await press(page, "Decline")
    assert await asking.answer() == Declined()


async def test_a_form_without_fields_is_a_question_for_yes_or_no(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form({"type": "object", "properties": {}}))
    await expect(page.locator(".card .lead")).to_have_text(
        "There is nothing to fill in: sending it says yes."
    )
    await review_and_send(page)
    assert await asking.answer() == Accepted(NOTHING)


LONG = "option " + "9" * 1_993
"""As long as a value may be."""


async def test_the_review_shows_all_of_what_goes_out_however_long(sitting: Sitting):
    letter = "\n".join(f"line {number} " + "x" * 30 for number in range(500))
    fields: dict[str, Any] = {
        "titled": {"type": "string", "title": "Titled", "oneOf": [{"const": LONG, "title": "Harmless"}]},
        "plain": {"type": "string", "title": "Plain", "enum": [LONG]},
        "letter": {"type": "string", "title": "Letter"},
    }
    asking, page = await sitting.tab_with(make_form({"type": "object", "properties": fields}))
    await page.get_by_role("group", name="Titled").get_by_label("Harmless").check()
    await page.get_by_role("group", name="Plain").get_by_label("option").check()
    await page.get_by_label("Letter").fill(letter)
    await press(page, "Review")
    shown = page.locator(".review dd")
    await expect(shown.nth(0).locator(".mark")).to_have_text("filled in by you")
    await expect(shown.nth(0).locator(".sent")).to_have_text(f"sent as: {LONG}")
    await expect(shown.nth(1).locator(".value")).to_have_text(LONG)
    assert await shown.nth(2).locator(".value").text_content() == letter
    await press(page, "Send")
    assert await asking.answer() == Accepted({"titled": LONG, "plain": LONG, "letter": letter})


async def test_a_name_that_is_the_label_but_for_blanks_is_not_announced_as_another(sitting: Sitting):
    _, page = await sitting.tab_with(make_form(name=" pizzeria "))
    await expect(page.get_by_role("heading", name="pizzeria asks")).to_be_visible()
    await expect(page.locator(".says")).to_have_count(0)


@pytest.mark.verifies("T14")
async def test_a_name_cannot_end_its_quotes_and_go_on_in_our_words(sitting: Sitting):
    _, page = await sitting.tab_with(make_form(name="Luigi”, checked by Askback: “safe"))
    await expect(page.locator(".says")).to_have_text(
        'It calls itself “Luigi", checked by Askback: "safe”, in its own words.'
    )


async def test_a_reload_keeps_what_was_typed(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form(KINDS))
    await page.get_by_label("Name", exact=True).fill("Ada")
    await page.get_by_role("group", name="Some").get_by_label("q", exact=True).check()
    await page.get_by_label("Count").fill("99")
    await page.reload()
    await ready(page)
    await expect(page.get_by_label("Name", exact=True)).to_have_value("Ada")
    await expect(page.get_by_role("group", name="Some").get_by_label("q", exact=True)).to_be_checked()
    await expect(page.get_by_label("Count")).to_have_value("99")
    await expect(page.locator(".field", has=page.get_by_label("Count")).locator(".problem")).not_to_be_empty()
    assert asking.is_open

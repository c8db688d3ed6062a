"""Questions that come and go while tabs are open, reloaded and closed. One word settles, wherever it is said."""

import pytest
from playwright.async_api import expect

from askback.answers import Accepted, Cancelled, Declined
from askback.client.desk import DeskPerson
from askback.client.desk.cards import MAX_WATCHERS
from askback.errors import Unanswered
from tests.client.turns import make_form, make_visit
from tests.support.desk import Sitting, press, ready, review_and_send

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

DECLINE = """async (card) => {
  const headers = { authorization: "Bearer " + sessionStorage.getItem("desk-token") };
  return (await (await fetch(`/cards/${card}/decline`, { method: "POST", body: "{}", headers })).json()).said;
}"""
"""What a tab sends that has not heard yet."""

GONE = "The server is not there any more."


async def test_two_tabs_do_not_answer_twice(sitting: Sitting):
    asking, first = await sitting.tab_with(make_form())
    second = await sitting.tab()
    await ready(second)
    await press(first, "Decline")
    assert await asking.answer() == Declined()
    await expect(second.locator(".banner.gone")).to_have_text("Answered in another tab: declined.")
    await expect(second.get_by_role("button", name="Decline", exact=True)).to_have_count(0)
    await press(second, "Close")
    await expect(second.locator(".empty")).to_be_visible()


async def test_a_word_that_comes_too_late_is_told_so(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    card = await page.locator(".card").get_attribute("data-id")
    await press(page, "Cancel")
    assert await asking.answer() == Cancelled()
    said = await page.evaluate(DECLINE, card)
    assert said == "This question is already settled: cancelled."
    sitting.upsets.clear()  # the browser logs the refused request


async def test_what_is_sent_is_what_was_reviewed_in_this_very_tab(sitting: Sitting):
    asking, first = await sitting.tab_with(make_form())
    second = await sitting.tab()
    await ready(second)
    await first.get_by_label("Tip in euro").fill("1")
    await press(first, "Review")
    await first.get_by_role("heading", name="Review before sending").wait_for()
    await second.get_by_label("Tip in euro").fill("20")
    await press(second, "Review")
    await second.get_by_role("heading", name="Review before sending").wait_for()
    await press(first, "Send")
    await expect(first.locator(".notice")).to_contain_text("Review it again")
    assert asking.is_open
    await press(first, "Back")
    await review_and_send(first)
    assert await asking.answer() == Accepted({"drink": "none", "tip": 1})
    sitting.upsets.clear()  # the browser logs the refused request


async def test_closing_the_tab_is_no_answer(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    await page.get_by_label("Tip in euro").fill("7")
    await page.close(run_before_unload=False)
    again = await sitting.tab()
    await ready(again)
    await expect(again.get_by_label("Tip in euro")).to_be_visible()
    assert asking.is_open


async def test_questions_of_two_servers_wait_side_by_side_and_are_answered_in_any_order(sitting: Sitting):
    pizza, bistro = (
        sitting.ask(make_form()),
        sitting.ask(make_form(label="bistro", message="Still or sparkling?")),
    )
    page = await sitting.tab()
    await ready(page)
    rows = page.locator(".row")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(1)).to_contain_text("bistro")
    await expect(rows.nth(1)).to_contain_text("Still or sparkling?")
    await expect(page.locator(".card .eyebrow").first).to_have_text("Question 1, 1 more waiting")
    await page.get_by_label("Tip in euro").fill("3")
    await rows.nth(1).click()
    await page.get_by_role("heading", name="bistro asks").wait_for()
    await press(page, "Decline")
    assert await bistro.answer() == Declined()
    await expect(page.get_by_label("Tip in euro")).to_have_value("3")
    await review_and_send(page)
    assert await pizza.answer() == Accepted({"drink": "none", "tip": 3})


@pytest.mark.verifies("T21")
async def test_a_new_question_leaves_the_one_being_filled_in_alone(sitting: Sitting):
    _, page = await sitting.tab_with(make_form())
    box = page.get_by_label("Tip in euro")
    await box.click()
    where = await page.get_by_role("button", name="Decline", exact=True).bounding_box()
    later = sitting.ask(make_visit(label="bistro"))
    await expect(page.locator(".row")).to_have_count(2)
    await expect(page.locator("#announce")).to_have_text("New: link from bistro.")
    await expect(page).to_have_title("(2) Desk")
    await expect(box).to_be_focused()
    await expect(page.get_by_role("heading", name="pizzeria asks")).to_be_visible()
    assert await page.get_by_role("button", name="Decline", exact=True).bounding_box() == where
    assert later.is_open


async def test_a_server_that_dies_leaves_what_was_typed_until_the_person_closes_it(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    await page.get_by_label("Tip in euro").fill("12")
    asking.turn.withdraw(GONE)
    await expect(page.locator(".banner.gone")).to_have_text(GONE)
    await expect(page.get_by_label("Tip in euro")).to_have_value("12")
    await expect(page.get_by_role("button", name="Review")).to_have_count(0)
    assert asking.is_open
    await page.reload()
    await ready(page)
    await expect(page.locator(".banner.gone")).to_have_text(GONE)
    await expect(page.get_by_label("Tip in euro")).to_have_value("12")
    await press(page, "Close")
    assert await asking.answer() == Cancelled()


async def test_a_caller_who_gives_up_leaves_what_was_typed_as_well(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    await page.get_by_label("Tip in euro").fill("12")
    asking.scope.cancel()
    assert await asking.answer() is None
    await expect(page.locator(".banner.gone")).to_contain_text("given it up")
    await expect(page.get_by_label("Tip in euro")).to_have_value("12")
    await press(page, "Close")
    await expect(page.locator(".row")).to_have_count(0)


async def test_a_question_that_is_gone_before_anybody_saw_it_waits_for_nobody(sitting: Sitting):
    asking = sitting.ask(make_form())
    asking.turn.withdraw(GONE)
    assert await asking.answer() == Cancelled()


async def test_a_desk_that_closes_answers_nothing_and_the_page_keeps_what_was_typed(sitting: Sitting):
    async with DeskPerson() as other:
        closing = Sitting(other, sitting.context, sitting.tasks)
        page = await closing.tab()
        asking = closing.ask(make_form())
        await ready(page)
        await page.get_by_label("Tip in euro").fill("9")
    with pytest.raises(Unanswered, match="closed before anybody answered"):
        await asking.answer()
    await expect(page.locator("#status")).to_contain_text("The desk is closed.")
    await expect(page.get_by_label("Tip in euro")).to_have_value("9")
    await expect(page.get_by_role("button", name="Use this tab")).to_have_count(0)
    sitting.addresses.clear()  # two desks, two addresses


async def test_a_closed_desk_offers_no_way_back(sitting: Sitting):
    async with DeskPerson() as other:
        page = await Sitting(other, sitting.context, sitting.tasks).tab()
        await page.locator(".empty", has_text="Nothing is waiting").wait_for()
    await expect(page.locator(".empty")).to_contain_text("The desk is closed.")
    await expect(page.get_by_role("button")).to_have_count(0)
    sitting.addresses.clear()  # two desks, two addresses


@pytest.mark.parametrize("cards", [0, 1])
async def test_a_tab_that_rests_can_be_used_again_with_a_card_open_or_without(sitting: Sitting, cards: int):
    for _ in range(cards):
        sitting.ask(make_form())
    page = await sitting.tab()
    shown = page.locator(".card" if cards else ".empty")
    await shown.wait_for()
    others = [await sitting.tab() for _ in range(MAX_WATCHERS)]
    await expect(page.locator("body")).to_contain_text("this one rests")
    await expect(shown).to_be_visible()
    await page.get_by_role("button", name="Use this tab").click()
    await expect(page.get_by_role("button", name="Use this tab")).to_have_count(0)
    await expect(others[0].locator("body")).to_contain_text("this one rests")
    await expect(page.locator("#status")).to_have_text("1 waiting" if cards else "Nothing waiting")


async def test_a_watch_that_breaks_off_is_told_and_taken_up_again(sitting: Sitting):
    hello = '{"words": {}, "cards": []}\n'
    await sitting.context.route("**/events", lambda route: route.fulfill(body=hello))
    page = await sitting.tab()
    await expect(page.locator("#status")).to_contain_text("The program behind this desk does not answer.")
    await sitting.context.unroute("**/events")
    await expect(page.locator("#status")).to_have_text("Nothing waiting")


async def test_the_oldest_of_many_tabs_rests_so_that_the_others_can_answer(sitting: Sitting):
    asking = sitting.ask(make_form())
    pages = [await sitting.tab() for _ in range(MAX_WATCHERS + 2)]
    await ready(pages[-1])
    await expect(pages[0].locator("#status")).to_contain_text("this one rests")
    await press(pages[-1], "Decline")
    assert await asking.answer() == Declined()


async def test_the_token_leaves_the_address_and_survives_a_reload(sitting: Sitting):
    page = await sitting.tab()
    await page.locator(".empty").wait_for()
    assert page.url == sitting.desk.url.partition("#")[0]
    await page.reload()
    await expect(page.locator(".empty")).to_contain_text("Nothing is waiting")


@pytest.mark.verifies("R92")
async def test_a_browser_that_is_started_opens_the_desk_by_a_link_that_is_good_once(sitting: Sitting):
    url = sitting.desk.opening_url()
    assert sitting.desk.url.partition("#")[2] not in url
    asking = sitting.ask(make_form())
    page = await sitting.tab(url)
    await ready(page)
    assert page.url == sitting.desk.url.partition("#")[0]
    await page.reload()
    await press(page, "Decline")
    assert await asking.answer() == Declined()
    late = await sitting.tab(url)
    await expect(late.locator(".empty")).to_contain_text("Open the link that the program printed.")
    sitting.upsets.clear()  # the browser logs the refused requests


async def test_a_page_without_the_token_says_where_to_find_it(sitting: Sitting):
    page = await sitting.context.new_page()
    await page.goto(sitting.desk.url.partition("#")[0])
    await expect(page.locator(".empty")).to_contain_text("open that link again")

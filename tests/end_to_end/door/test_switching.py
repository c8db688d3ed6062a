"""A caller who is known to the provider as somebody else, in a real browser."""

import pytest
from playwright.async_api import Browser, expect

from tests.end_to_end.door.stage import CALLER, REASON, stage
from tests.support.openid.provider import OpenID

pytestmark = [pytest.mark.anyio, pytest.mark.browser, pytest.mark.strangers]


@pytest.mark.verifies("R20", "R26")
async def test_a_caller_with_the_wrong_account_signs_out_here_and_in_with_the_right_one(
    browser: Browser, openid: OpenID
):
    async with stage(browser, openid, "secret", "2026-07-28") as one:
        seat = one.stranger
        assert await seat.open(one.link) == 403
        await seat.page.get_by_role("button", name="Sign in as somebody else").click()
        await expect(seat.page.locator("main")).to_contain_text(
            "You are signed out here. Open the link from your client again."
        )
        await seat.page.goto(one.link)
        await expect(seat.page.get_by_label("User name")).to_be_visible()
        seat.name = CALLER
        await seat.pass_the_provider()
        await expect(seat.page.locator("main")).to_contain_text(REASON)
        await one.require_untouched()

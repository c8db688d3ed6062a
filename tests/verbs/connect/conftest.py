"""One provider and one browser for all tests of `connect`; a vault for each."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.chromium import browser as browser
from tests.support.openid.provider import ANSWERING, OpenID, provider
from tests.support.openid.provider import openid as openid
from tests.support.openid.revisions import REVISIONS
from tests.verbs.connect.office import Office, open_office

expect.set_options(timeout=ANSWERING * 1000)


@pytest.fixture(scope="package")
async def service(anyio_backend: str) -> AsyncGenerator[OpenID]:
    """Another, which knows people by other names."""
    async with provider() as service:
        yield service


@pytest.fixture
async def page(browser: Browser) -> AsyncGenerator[Page]:
    """Of a browser that nobody has used before."""
    context = await browser.new_context()
    context.set_default_timeout(ANSWERING * 1000)
    yield await context.new_page()
    await context.close()


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the vault is, and its key."""
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.delenv("ASKBACK_VAULT_KEYS", raising=False)
    return tmp_path


@pytest.fixture
async def office(openid: OpenID, revision: str) -> AsyncGenerator[Office]:
    async with open_office(openid, revision) as office:
        yield office

"""Pages as HTML: everything that comes from outside is escaped by the template engine, and there is no script (T16)."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from askback.errors import OperatorError
from askback.model.safe import safe_block, safe_line
from askback.pages.headers import POLICY, policy
from askback.pages.look import SHARED_ASSETS, read_asset
from askback.pages.navigation import is_navigation
from askback.pages.settings import Brand
from askback.schema.links import is_loopback

PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
STYLES = {".css": "text/css; charset=utf-8"}
TYPES = PICTURES | STYLES

LONG_TEXT = 600
"""Characters after which a text scrolls in its frame on a phone, and so must be reachable by keyboard."""


class Renderer:
    """The look of the pages at one address."""

    def __init__(self, *, server: str, base: str, brand: Brand) -> None:
        self._files = {name: read_asset(name) for name in SHARED_ASSETS}
        self._files["style.css"] = (files("askback.pages") / "style.css").read_bytes()
        logo, style = _brand_file(brand.logo, PICTURES), _brand_file(brand.style, STYLES)
        self._files |= logo | style
        host = urlsplit(base).hostname or ""
        self._shared = {
            "server": safe_line(server),
            "base": base,
            "where": "on this computer" if is_loopback(host) else f"at {urlsplit(base).netloc}",
            "name": safe_line(brand.name or server),
            "logo": next(iter(logo), "icon.svg"),
            "styles": ["palette.css", "style.css", *style],
            "foot": safe_line(brand.foot),
        }

    @property
    def routes(self) -> list[Route]:
        """The files that a page loads; nothing comes from anywhere else (R88)."""
        return [Route(f"/{name}", _file(name, content)) for name, content in self._files.items()]

    def page(
        self, template: str, status: int = 200, *, may_go_to: Collection[str] = (), **values: Any
    ) -> Response:
        """A template filled in; where its form leads on to a provider, the browser is told whose that is."""
        html = _templates().get_template(template).render(self._shared | values)
        return HTMLResponse(html, status, {POLICY: policy(may_go_to=may_go_to)})

    def stranger(self, request: Request, *, token: str = "") -> Response:
        """For whoever is not the one a page is for: the same words whatever there is behind the link. With a token they
        may sign out."""
        return self.page("stranger.html", 403, token=token, is_fetched=not is_navigation(request))

    def gone(self) -> Response:
        return self.page("gone.html", 404)

    def refused(self, status: int, why: str = "") -> Response:
        """For a post that is not taken; nothing was changed."""
        return self.page("refused.html", status, why=why)

    def unavailable(self, request: Request, status: int = 503) -> Response:
        return self.page("unavailable.html", status)


@cache
def _templates() -> Environment:
    """Compiled once for all addresses: nothing in them depends on the server or its brand."""
    environment = Environment(
        loader=PackageLoader("askback.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {"line": safe_line, "block": _block, "is_long": _is_long}
    environment.filters.update(filters)
    return environment


def _file(name: str, content: bytes) -> Any:
    async def give(_: Request) -> Response:
        return Response(content, media_type=TYPES[Path(name).suffix])

    return give


def _brand_file(given: Path | str | None, types: Mapping[str, str]) -> dict[str, bytes]:
    """Under the name it is served by."""
    if given is None:
        return {}
    path = Path(given)
    suffix = path.suffix.lower()
    if suffix not in types:
        raise OperatorError(f"Brand: {path} is no {' or '.join(types)} file. Give one, or leave it out.")
    try:
        return {f"brand{suffix}": path.read_bytes()}
    except OSError as error:
        raise OperatorError(f"Brand: {path} cannot be read: {error.strerror}.") from error


def _block(text: str) -> str:
    return "\n".join(safe_block(text))


def _is_long(text: str) -> bool:
    """Whether its frame may have to scroll."""
    return len(text) > LONG_TEXT or text.count("\n") > LONG_TEXT // 60

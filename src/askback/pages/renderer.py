"""Pages as HTML: the template engine escapes everything that comes from outside, and there is no script (T16)."""

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
from askback.pages.requests import is_navigation
from askback.pages.settings import Brand
from askback.schema.links import is_loopback

PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
STYLES = {".css": "text/css; charset=utf-8"}
TYPES = PICTURES | STYLES

LONG_TEXT = 600
"""Characters from which on a text scrolls in its frame on a phone, and so has to be reachable by keyboard."""


class Renderer:
    """The look of the pages at one address."""

    def __init__(self, *, server: str, base: str, brand: Brand) -> None:
        logo, style = _brand_file(brand.logo, PICTURES), _brand_file(brand.style, STYLES)
        self._files = {name: read_asset(name) for name in SHARED_ASSETS} | logo | style
        self._files["style.css"] = (files("askback.pages") / "style.css").read_bytes()
        parts = urlsplit(base)
        self._shared = {
            "server": safe_line(server),
            "base": base,
            "where": "on this computer" if is_loopback(parts.hostname or "") else f"at {parts.netloc}",
            "name": safe_line(brand.name or server),
            "logo": next(iter(logo), "icon.svg"),
            "styles": ["palette.css", "style.css", *style],
            "foot": safe_line(brand.foot),
        }

    @property
    def routes(self) -> list[Route]:
        """The files that a page loads; nothing is loaded from elsewhere (R88)."""
        return [Route(f"/{name}", self._file, methods=["GET"]) for name in self._files]

    async def _file(self, request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response(self._files[name], media_type=TYPES[Path(name).suffix])

    def page(
        self, template: str, status: int = 200, *, may_go_to: Collection[str] = (), **values: Any
    ) -> Response:
        """A filled-in template. Where its form leads to a provider, the browser is told the provider's address."""
        html = _templates().get_template(template).render(self._shared | values)
        return HTMLResponse(html, status, {POLICY: policy(may_go_to=may_go_to)})

    def stranger(self, request: Request, *, token: str = "") -> Response:
        """For a visitor whom the page is not for: always the same words, whatever the link leads to. With a token they
        can sign out."""
        return self.page("stranger.html", 403, token=token, is_fetched=not is_navigation(request))

    def gone(self) -> Response:
        return self.page("gone.html", 404)

    def refused(self, status: int, why: str = "") -> Response:
        """For a post that is not accepted; nothing was changed."""
        return self.page("refused.html", status, why=why)

    def unavailable(self, status: int = 503) -> Response:
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


def _brand_file(given: Path | str | None, types: Mapping[str, str]) -> dict[str, bytes]:
    """The file's content under the name by which it is served."""
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
    return len(text) > LONG_TEXT or text.count("\n") > LONG_TEXT // 60

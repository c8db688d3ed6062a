"""Pages as HTML: everything that comes from outside is escaped by the template engine, and there is no script (T16)."""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from askback.errors import OperatorError
from askback.pages.headers import POLICY, policy
from askback.pages.settings import Brand

TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".css": "text/css; charset=utf-8"}


class Renderer:
    """The look of the pages at one address."""

    def __init__(self, *, server: str, base: str, brand: Brand) -> None:
        self._files = {"style.css": (files("askback.pages") / "style.css").read_bytes()}
        self._files |= {
            f"brand{path.suffix.lower()}": _read(path)
            for path in (brand.logo, brand.style)
            if path is not None
        }
        environment = Environment(
            loader=PackageLoader("askback.pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        logo = None if brand.logo is None else f"brand{brand.logo.suffix.lower()}"
        self._shared = {
            "server": server,
            "base": base,
            "name": brand.name or server,
            "logo": logo,
            "brand": brand,
        }
        self._environment = environment

    @property
    def routes(self) -> list[Route]:
        """The files that a page loads; nothing comes from anywhere else (R88)."""
        return [Route(f"/{name}", _file(name, content)) for name, content in self._files.items()]

    def page(
        self, template: str, status: int = 200, *, may_go_to: Iterable[str] = (), **values: Any
    ) -> Response:
        """A template filled in; where its form leads on to a provider, the browser is told whose that is."""
        html = self._environment.get_template(template).render(self._shared | values)
        return HTMLResponse(html, status, {POLICY: policy(may_go_to=may_go_to)})

    def stranger(self, request: Request) -> Response:
        """For whoever is not the one a page is for: the same words whatever there is behind the link."""
        return self.page("stranger.html", 403)

    def gone(self) -> Response:
        return self.page("gone.html", 404)

    def unavailable(self, request: Request) -> Response:
        return self.page("unavailable.html", 503)


def _file(name: str, content: bytes) -> Any:
    async def give(_: Request) -> Response:
        return Response(content, media_type=TYPES[Path(name).suffix])

    return give


def _read(path: Path) -> bytes:
    if path.suffix.lower() not in TYPES:
        raise OperatorError(f"Brand: {path} is neither a CSS file nor an SVG or PNG picture.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise OperatorError(f"Brand: {path} cannot be read: {error.strerror}.") from error

"""Visitors sign in by OpenID Connect, at the authorization server that the callers of the MCP server use (R26)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from secrets import compare_digest, token_urlsafe
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import ProviderUnavailable
from askback.model.channels import Channel
from askback.model.durations import CLOCK_SKEW
from askback.model.owners import owner_from_claims
from askback.oauth import exchange
from askback.oauth.identity import InvalidIdToken, verify_id_token
from askback.oauth.metadata import IssuerMismatch, MetadataCache, require_issuer
from askback.oauth.provider import Provider
from askback.pages.authenticators import Authenticator
from askback.pages.renderer import Renderer
from askback.pages.requests import provider_answer
from askback.pages.sessions import BrowserSession, BrowserSessions, SignedCookie
from askback.pages.settings import Pages, SignIn
from askback.pages.site import Site

logger = logging.getLogger("askback")

CALLBACK = "/sign-in/callback"

STATE_SECONDS = 600.0
"""Longer than a sign-in takes, and short enough that a link in a browser's history is of no use."""

MAX_ATTEMPTS = 4
"""Windows in which one browser can sign in at the same time; as many as fit in a cookie."""


class SignInAttempt(NamedTuple):
    """A sign-in that has begun, bound to a state and a browser."""

    state: str
    browser: str
    verifier: str
    nonce: str
    back: str
    """The path of the page that the visitor wanted, below the address of all pages."""
    until: float = 0.0


class SignInAttempts:
    """The sign-ins that a browser has begun, in a cookie of this browser. They are not in the store: nobody is known
    yet when a sign-in begins, so anybody could fill the store."""

    def __init__(self, base: str, key: bytes, *, clock: Callable[[], float]) -> None:
        self._cookie = SignedCookie(base, key, purpose="sign-ins", clock=clock)

    def begin(self, request: Request, response: Response, attempt: SignInAttempt) -> None:
        begun = attempt._replace(until=self._cookie.clock() + STATE_SECONDS)
        self._write(response, [*self._read(request), begun][-MAX_ATTEMPTS:])

    def find(self, request: Request, state: str, browser: str) -> SignInAttempt | None:
        """The attempt with this state, if this very browser began it."""
        found = (attempt for attempt in self._read(request) if attempt.state == state)
        return next((one for one in found if compare_digest(one.browser.encode(), browser.encode())), None)

    def finish(self, request: Request, response: Response, state: str) -> Response:
        """Forget an attempt, whatever its result."""
        self._write(response, [attempt for attempt in self._read(request) if attempt.state != state])
        return response

    def _read(self, request: Request) -> list[SignInAttempt]:
        attempts = [SignInAttempt(*row) for row in self._cookie.read(request)]
        return [attempt for attempt in attempts if attempt.until > self._cookie.clock()]

    def _write(self, response: Response, attempts: list[SignInAttempt]) -> None:
        self._cookie.write(response, attempts, seconds=STATE_SECONDS if attempts else 0)


class OpenIDAuthenticator(Authenticator):
    """A visitor with the claims of the caller is the caller."""

    channel = Channel.SIGN_IN
    signs_in = True

    def __init__(
        self, sign_in: SignIn, site: Site, *, pages: Pages, sessions: BrowserSessions, renderer: Renderer
    ) -> None:
        self._sign_in, self._site, self._claims = sign_in, site, pages.claims
        self._provider = Provider(
            name="sign-in",
            client_id=sign_in.client_id,
            client_secret=sign_in.client_secret,
            issuer=sign_in.issuer,
        )
        self._redirect_uri = site.base + CALLBACK
        self._attempts = SignInAttempts(site.base, site.key, clock=site.clock)
        self._sessions, self._renderer = sessions, renderer
        self._metadata = MetadataCache()

    @property
    def routes(self) -> Sequence[Route]:
        return [Route(CALLBACK, self._return, methods=["GET"])]

    async def identify(self, request: Request) -> str | None:
        session = self._sessions.read(request)
        return None if session is None else session.owner

    async def admit(self, request: Request) -> Response:
        """Redirect to the authorization server, and later back to the page that was wanted. A post is not kept."""
        if request.method != "GET":
            return self._renderer.stranger(request)
        session = self._sessions.read(request) or BrowserSession.new()
        state, nonce = token_urlsafe(32), token_urlsafe(32)
        try:
            metadata = await self._metadata.of(self._provider)
        except ProviderUnavailable as error:
            logger.warning("nobody can sign in: %s", _in_terms_of_sign_in(error))
            return self._renderer.unavailable()
        begun = exchange.begin(
            self._provider,
            metadata,
            redirect_uri=self._redirect_uri,
            scopes=self._sign_in.scopes,
            state=state,
            nonce=nonce,
            **({"prompt": self._sign_in.prompt} if session.asks_who else {}),
        )
        response = RedirectResponse(begun.url, 303)
        attempt = SignInAttempt(state, session.browser, begun.verifier, nonce, request.url.path)
        self._attempts.begin(request, response, attempt)
        self._sessions.write(response, session)
        return response

    async def _return(self, request: Request) -> Response:
        session, answer = self._sessions.read(request), provider_answer(request)
        state = answer.get("state", "")
        attempt = None if session is None else self._attempts.find(request, state, session.browser)
        if attempt is None:
            return self._renderer.stranger(request)
        owner = await self._owner(answer, attempt)
        # The clock of the worker that drops spent states may be ahead of the one that reads the cookie.
        spent, until = f"sign-in:{sha256(state.encode()).hexdigest()}", attempt.until + CLOCK_SKEW
        if owner is None or not await self._site.store.spend(spent, until=until):
            return self._attempts.finish(request, self._renderer.stranger(request), state)
        back = RedirectResponse(self._site.base + attempt.back, 303)
        self._sessions.write(back, BrowserSession.new(owner))
        return self._attempts.finish(request, back, state)

    async def _owner(self, answer: Mapping[str, str], attempt: SignInAttempt) -> str | None:
        """The person whom the authorization server names; None, and a line in the log, if it names nobody."""
        try:
            owner = await self._redeem(answer, attempt)
        except (ProviderUnavailable, IssuerMismatch, exchange.TokenRequestRejected, InvalidIdToken) as error:
            logger.warning("a sign-in failed: %s", _in_terms_of_sign_in(error))
            return None
        if owner is None:
            logger.warning("a sign-in gave no %s", ", ".join(self._claims))
        return owner

    async def _redeem(self, answer: Mapping[str, str], attempt: SignInAttempt) -> str | None:
        metadata = await self._metadata.of(self._provider)
        require_issuer(metadata, answer.get("iss"))
        if "code" not in answer:
            raise exchange.TokenRequestRejected(answer.get("error", "no_code"))
        granted = await exchange.redeem(
            self._provider,
            metadata,
            code=answer["code"],
            verifier=attempt.verifier,
            redirect_uri=self._redirect_uri,
            scopes=self._sign_in.scopes,
        )
        if granted.id_token is None:
            raise InvalidIdToken("no ID token")
        claims = await verify_id_token(
            granted.id_token,
            metadata,
            client_id=self._sign_in.client_id,
            nonce=attempt.nonce,
            now=self._site.clock(),
        )
        return owner_from_claims(claims, self._claims)


def _in_terms_of_sign_in(error: Exception) -> str:
    """The operator wrote SignIn(...) and no Provider(...), so the log names that."""
    if not isinstance(error, ProviderUnavailable):
        return str(error)
    problem = error.problem.partition("; if that is meant")[0].replace("Provider('sign-in')", "SignIn(...)")
    return f"{problem.rstrip('.')}. If it stays so, check the values in SignIn(...)."

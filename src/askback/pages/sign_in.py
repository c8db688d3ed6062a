"""The door by OpenID Connect: visitors sign in where the callers of the MCP server do (R26)."""

import logging
from collections.abc import Callable, Mapping
from secrets import token_urlsafe

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from askback.errors import ProviderUnavailable
from askback.model.channels import Channel
from askback.model.durations import CLOCK_SKEW
from askback.model.owners import owner_from_claims
from askback.model.store import Store
from askback.oauth import exchange
from askback.oauth.identity import InvalidIdToken, verify_id_token
from askback.oauth.metadata import IssuerMismatch, Metadata, MetadataCache, require_issuer
from askback.oauth.provider import Provider
from askback.pages.oauth_states import OAuthStates, answer_in
from askback.pages.renderer import Renderer
from askback.pages.sessions import BrowserSession, BrowserSessions
from askback.pages.settings import Pages, SignIn
from askback.pages.sign_in_attempts import SignInAttempt, SignInAttempts, spend_key

logger = logging.getLogger("askback")

CALLBACK = "/sign-in/callback"


class OpenIDAuthenticator:
    """Whoever has the claims of the caller is the caller."""

    channel = Channel.SIGN_IN
    sees_kept = True
    signs_in = True

    def __init__(
        self,
        sign_in: SignIn,
        *,
        pages: Pages,
        base: str,
        sessions: BrowserSessions,
        errands: SignInAttempts,
        store: Store,
        renderer: Renderer,
        clock: Callable[[], float],
    ) -> None:
        self._sign_in, self._claims = sign_in, pages.claims
        self._provider = Provider(
            name="sign-in",
            client_id=sign_in.client_id,
            client_secret=sign_in.client_secret,
            issuer=sign_in.issuer,
        )
        self._base, self._redirect_uri = base, base + CALLBACK
        self._sessions, self._errands, self._store = sessions, errands, store
        self._renderer, self._clock = renderer, clock
        self._directory = MetadataCache()

    @property
    def routes(self) -> list[Route]:
        return [Route(CALLBACK, self._return, methods=["GET"])]

    async def visitor(self, request: Request) -> str | None:
        session = self._sessions.read(request)
        return None if session is None else session.owner

    async def come_in(self, request: Request) -> Response:
        """Off to the authorization server, and back to the very page that was wanted. What was posted is not kept."""
        if request.method != "GET":
            return self._renderer.stranger(request)
        session = self._sessions.read(request) or BrowserSession.new()
        state, nonce = OAuthStates.new_state(), token_urlsafe(32)
        try:
            metadata = await self._metadata()
        except ProviderUnavailable as error:
            logger.warning("nobody can sign in: %s", _in_terms_of_sign_in(error))
            return self._renderer.unavailable(request)
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
        errand = SignInAttempt(state, session.browser, begun.verifier, nonce, request.url.path)
        self._errands.begin(request, response, errand)
        self._sessions.write(response, session)
        return response

    async def _return(self, request: Request) -> Response:
        session, answer = self._sessions.read(request), answer_in(request)
        state = answer.get("state", "")
        errand = None if session is None else self._errands.look(request, state, session.browser)
        if errand is None:
            return self._renderer.stranger(request)
        owner = await self._known(answer, errand)
        # The clock of another worker, which forgets what is over, may be ahead of the one that looks at the cookie.
        until = errand.until + CLOCK_SKEW
        if owner is None or not await self._store.spend(spend_key(state), until=until):
            return self._errands.finish(request, self._renderer.stranger(request), state)
        response = self._errands.finish(request, RedirectResponse(self._base + errand.back, 303), state)
        self._sessions.write(response, BrowserSession.new(owner))
        return response

    async def _known(self, answer: Mapping[str, str], errand: SignInAttempt) -> str | None:
        try:
            owner = await self._owner(answer, verifier=errand.verifier, nonce=errand.nonce)
        except (ProviderUnavailable, IssuerMismatch, exchange.TokenRequestRejected, InvalidIdToken) as error:
            logger.warning("a sign-in did not work out: %s", _in_terms_of_sign_in(error))
            return None
        if owner is None:
            logger.warning("a sign-in gave no %s", ", ".join(self._claims))
        return owner

    async def _owner(self, answer: Mapping[str, str], *, verifier: str, nonce: str) -> str | None:
        """Whom the authorization server names, if it is the one that was asked."""
        metadata = await self._metadata()
        require_issuer(metadata, answer.get("iss"))
        if "code" not in answer:
            raise exchange.TokenRequestRejected(answer.get("error", "no_code"))
        granted = await exchange.redeem(
            self._provider,
            metadata,
            code=answer["code"],
            verifier=verifier,
            redirect_uri=self._redirect_uri,
            scopes=self._sign_in.scopes,
        )
        if granted.id_token is None:
            raise InvalidIdToken("no ID token")
        claims = await verify_id_token(
            granted.id_token,
            metadata,
            client_id=self._sign_in.client_id,
            nonce=nonce,
            now=self._clock(),
        )
        return owner_from_claims(claims, self._claims)

    async def _metadata(self) -> Metadata:
        return await self._directory.of(self._provider)


def _in_terms_of_sign_in(error: Exception) -> str:
    """An operator wrote SignIn(...), and no Provider(...)."""
    if not isinstance(error, ProviderUnavailable):
        return str(error)
    problem = error.problem.partition("; if that is meant")[0].replace("Provider('sign-in')", "SignIn(...)")
    return f"{problem.rstrip('.')}. If it stays so, look at what SignIn(...) says."

"""`Askback(server)`: the one line an author adds, and the one place for options."""

import hmac
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.errors import InstalledTwice
from askback.guards import Guard
from askback.ledger import Ledger
from askback.model.texts import Words
from askback.oauth import Provider
from askback.pages import Pages
from askback.protocol.revisions import Mode
from askback.protocol.server.push import PendingQuestions
from askback.runtime.carrier import Carrier
from askback.runtime.context import AskPolicy, CallContext, ServerContext
from askback.runtime.conversation_ids import ConversationIds
from askback.runtime.visits import MAX_VISITS, MAX_VISITS_PER_CALLER, VisitStore, visit_shares
from askback.server.audit import Audit
from askback.server.call import ServerSettings, make_carrier, notify_when_ended
from askback.server.caller import CallerReader
from askback.server.forwarding.router import Router, make_router
from askback.server.forwarding.single import SingleWorker
from askback.server.hosts import (
    add_pages,
    examine_tools,
    guard_tools,
    install_host,
    is_named,
    is_protected,
    lowlevel_of,
    note_entrance,
)
from askback.server.hosts.boundary import (
    BoundaryOptions,
    CallerFunction,
    Keys,
    install,
    install_boundary,
    install_outside,
)
from askback.server.hosts.mcp import close_with_server, run_while_serving
from askback.server.hosts.streamable_http import SessionInterceptor, intercept_sessions
from askback.server.middleware import Middleware
from askback.server.offload import JournalOffload
from askback.server.options import (
    AskbackOptions,
    open_ledger,
    open_telemetry,
    read_options,
    require_id,
    require_reason,
    warn_if_half_shared,
)
from askback.server.page_host import ServerPages, ServerPagesOptions, require_callers
from askback.server.refused_states import RefusedStateAudit
from askback.server.telemetry import Telemetry
from askback.server.visit_endings import VisitEndings
from askback.stores import Store, open_store
from askback.vault.factory import open_vault
from askback.vault.vault import Vault

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from starlette.types import ASGIApp

THINK_TIME = timedelta(hours=1)
"""People get coffee; the state they come back with must still be good."""


HOLD = timedelta(seconds=25)
"""Below the half minute after which many proxies give an idle request up."""


class Askback:
    """Installs into a server, so that its tools, prompts and resources can ask.

    Args:
        server: an `MCPServer` or a low-level `Server` of the `mcp` package, or a `FastMCP`; a parent covers the
            servers that are mounted in it.
        keys: secrets of at least 32 bytes that seal what travels with the client between rounds; the first seals,
            all open. Without them the key dies with the process, and so does every open question.
        think_time: how long a person may take over one round; on the push era, over one question.
        caller: tells the principal behind a call, where the SDK's own (issuer, subject, client) does not do.
        timeout: how long any question waits, unless its own `timeout=` says otherwise; `None` is until the end of
            `think_time`.
        reply_retries: how often a reply that does not fit is asked again.
        words: the sentences a person may see, for translators.
        clients_can: what the clients can show ("form", "url"), for calls that declare nothing at all, as on stateless
            HTTP with a 2025 revision. It makes no way back to the client where the transport has none.
        store: where it is kept which rounds were used and which effects were run: nothing for this process's memory,
            "sqlite:///file.db" for one machine, or a store of your own.
        pages: where the pages for `secret` and `connect` are and who is let in; a server on stdio needs none, it opens
            them on this machine.
        vault: where secrets and tokens are kept, if not in the store, or in a file of this user's where the store does
            not last.
        providers: the services that `connect` can sign people in to.
        hold: how long a request is held on the rounds era while the person is on a page, before the client is told to
            come back.
        demand_visits: on 2025-11-25, end the call with an error that lists the visits it needs (-32042) and let the
            client make it again, instead of asking in its middle. Where there is no way back to the client, this is
            done anyway.
        clients_without_polling: names of clients that come back only where something is asked, as LangChain's does:
            a visit that takes long is put to them once more.
        ledger: a record of who was asked what and what they said, which shows whether it was changed. Kept in the
            store wherever that lasts and there are `keys`; True where it must be, False for none, or a `Ledger` of its
            own, which also says for how long and of which tools the answers are kept word for word.
        telemetry: spans and metrics of questions for OpenTelemetry. Made wherever the process has set up a provider
            before this line; True where it sets one up later, False for none, or a `Telemetry` with its own providers.
        address: where the other workers reach this one, "http://10.1.2.3:7411", if they are on several machines;
            without a port it takes a free one. Not given, it is what ASKBACK_ADDRESS says, as a pod's own address, or
            a free port of loopback. With `keys` and a shared `store`, requests of a 2025 session that reach another
            worker are brought to the one that holds it, sealed with the keys.
        guards: have a person asked before tools run, without touching them: `guard(..., tools="send_*")` by name,
            `hints="destructiveHint"` by annotation, `arguments="path"` by what they take; where a guard says several
            of these, all must hold, and without any it is for every tool. In their order, and before a tool's own.
        max_visits: how many visits may be open at once on this server, in all workers. Beyond that the oldest are
            dropped, and a client that comes back for one is told to call again. Unknown callers share half
            of them.
        max_visits_per_caller: how many of one caller, or of one 2025 session if the caller is unknown.
        clock: seconds since the epoch; for tests.
    """

    def __init__(
        self,
        server: "MCPServer[Any] | Server[Any] | FastMCP[Any]",
        *,
        # How people are asked.
        think_time: timedelta | float | None = None,
        timeout: timedelta | float | None = None,
        reply_retries: int = 3,
        words: Words | None = None,
        clients_can: Iterable[Mode] | None = None,
        # Who calls, and what is sealed and kept for them.
        keys: Keys | None = None,
        caller: CallerFunction | None = None,
        store: Store | str | None = None,
        vault: Vault | None = None,
        # What is on record.
        ledger: Ledger | bool | None = None,
        telemetry: Telemetry | bool | None = None,
        # Several workers on several machines.
        address: str | None = None,
        # Pages, and visits to them.
        pages: Pages | None = None,
        providers: Iterable[Provider] = (),
        hold: timedelta | float = HOLD,
        demand_visits: bool = False,
        clients_without_polling: Iterable[str] = (),
        max_visits: int = MAX_VISITS,
        max_visits_per_caller: int = MAX_VISITS_PER_CALLER,
        # Guards before tools.
        guards: Iterable[Guard] = (),
        # For tests.
        clock: Callable[[], float] = time.time,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in {"self", "server"}}
        lowlevel = lowlevel_of(server)
        if middleware_of(lowlevel) is not None:
            raise InstalledTwice(
                f"Askback is already installed on the server {lowlevel.name!r}. One Askback(server, ...) with all "
                "options does it; take out the second line."
            )
        options = read_options(given)
        # Whatever can fail comes before the server is changed, so that it can be tried again.
        require_callers(options.pages, are_named=caller is not None, bring_tokens=is_protected(server))
        self._open_stores(lowlevel, options)
        self.page_host = self._make_pages(server, lowlevel, options)
        app = None if options.pages.url is None else self.page_host.app
        if options.guards:
            examine_tools(server)
        questions = PendingQuestions()
        workers = make_router(keys=keys, store=self.store, address=address, clock=clock, questions=questions)
        self._install_middleware(lowlevel, options, questions)
        self._install_host(server, lowlevel, options)
        self._install_workers(server, lowlevel, workers or SingleWorker(questions), is_alone=workers is None)
        if app is not None:
            add_pages(server, app)
        warn_if_half_shared(has_keys=keys is not None, reach=getattr(self.store, "reach", None))

    def _open_stores(self, lowlevel: Server[Any], options: AskbackOptions) -> None:
        clock = options.clock
        self.store = open_store(options.store, clock=clock)
        quota = visit_shares(
            lowlevel.name, of_caller=options.max_visits_per_caller, in_all=options.max_visits
        )
        self.visits = VisitStore(self.store, clock=clock, shares=quota)
        self.ledger = open_ledger(options.ledger, store=self.store, keys=options.keys, clock=clock)
        self._endings = VisitEndings(self.visits, clock=clock)
        self._conversation_ids = ConversationIds(self.store, clock=clock)

    def _make_pages(self, server: object, lowlevel: Server[Any], options: AskbackOptions) -> ServerPages:
        vault, pages, clock = options.vault, options.pages, options.clock
        return ServerPages(
            ServerPagesOptions(
                server=lowlevel.name,
                is_named=is_named(server),
                pages=pages,
                providers=options.providers,
                visits=self.visits,
                end=self._endings.end,
                store=self.store,
                open_vault=lambda: vault or open_vault(self.store, is_local=pages.is_local, clock=clock),
                key=_cookie_key(options.keys),
                audit=lambda: self._endings.audit,
                clock=clock,
            )
        )

    def _install_middleware(
        self, lowlevel: Server[Any], options: AskbackOptions, questions: PendingQuestions
    ) -> None:
        """Install the boundary, and directly inside it what serves calls."""
        clock = options.clock
        boundary = install_boundary(
            lowlevel,
            BoundaryOptions(
                keys=options.keys,
                think_time=options.think_time,
                caller=options.caller,
                default_think_time=THINK_TIME.total_seconds(),
            ),
        )
        callers = CallerReader(
            principal=boundary.caller, function=options.caller, claims=options.pages.claims
        )
        telemetry = open_telemetry(options.telemetry, clock=clock)
        if self.ledger is not None or telemetry is not None:
            audit = self._endings.audit = Audit(
                server=lowlevel.name,
                callers=callers,
                conversation_ids=self._conversation_ids,
                clock=clock,
                ledger=self.ledger,
                telemetry=telemetry,
            )
            install_outside(lowlevel, RefusedStateAudit(audit, boundary.open))
        settings = ServerSettings(
            clock=clock,
            clients_can=options.clients_can,
            offload=JournalOffload(self.store, life=boundary.life, clock=clock, server=lowlevel.name),
            audit=self._endings.audit,
            telemetry=telemetry,
            pages=self.page_host,
            hold=options.hold,
            questions=questions,
            demands_visits=options.demand_visits,
            clients_without_polling=options.clients_without_polling,
        )
        context = self._make_context(
            lowlevel, options, boundary.life, callers, partial(make_carrier, settings)
        )
        install(lowlevel, Middleware(lowlevel, settings, context))

    def _make_context(
        self,
        lowlevel: Server[Any],
        options: AskbackOptions,
        think_time: float,
        callers: CallerReader,
        make_carrier: Callable[[CallContext, Any], Carrier],
    ) -> ServerContext:
        """What all calls of this server share."""
        policy = AskPolicy(
            words=options.words or Words(),
            reply_retries=options.reply_retries,
            seconds=options.timeout,
            think_time=think_time,
        )
        return ServerContext(
            name=lowlevel.name,
            effect_name=lambda: self.page_host.effect_name,
            policy=policy,
            store=self.store,
            visits=self.visits,
            conversation_ids=self._conversation_ids,
            read_request=callers.read_request,
            make_carrier=make_carrier,
            open_pages=self.page_host.open_for,
            notify_when_ended=partial(notify_when_ended, self._endings),
        )

    def _install_host(self, server: object, lowlevel: Server[Any], options: AskbackOptions) -> None:
        """Install what the host itself needs, beside the middleware."""
        if options.guards:
            guard_tools(server, options.guards)
        install_host(server)
        close_with_server(lowlevel, self.page_host.close)
        if getattr(self.store, "reach", None) == "network":
            run_while_serving(lowlevel, self._conversation_ids.watch_epoch)

    def _install_workers(
        self, server: object, lowlevel: Server[Any], worker: Router | SingleWorker, *, is_alone: bool
    ) -> None:
        """Have the sessions of 2025 clients forwarded between workers, and ended well when this one stops."""
        if not is_alone:
            note_entrance(server)
        intercept_sessions(lowlevel, SessionInterceptor(worker.handle, worker.drain.begin, worker.finish))
        close_with_server(lowlevel, worker.close)

    @property
    def pages(self) -> "ASGIApp":
        """The pages as an application. `MCPServer` and `FastMCP` serve them beside /mcp by themselves; any other
        application mounts them in one line: `app.mount("/askback", asked.pages)`."""
        return self.page_host.app

    async def settle(self, id: str, result: Any = None) -> bool:
        """End a visit well: calls that wait for it go on with `result`. From any process that shares the store.

        Gives whether this is how it ended: the first end stands. Raises `VisitUnknown` for an id that was never given
        out, or so long ago that its time is over.
        """
        require_id(id, "settle")
        return await self._endings.settle(id, result)

    async def fail(self, id: str, reason: str) -> bool:
        """End a visit badly: `visit(...)` raises `VisitFailed` with this reason, which the client may read."""
        require_id(id, "fail")
        require_reason(reason)
        return await self._endings.fail(id, reason)


def middleware_of(server: object) -> Middleware | None:
    """The Askback that is installed on a server, if one is."""
    return next((item for item in lowlevel_of(server).middleware if isinstance(item, Middleware)), None)


def _cookie_key(keys: Keys | None) -> bytes:
    """The key that signs cookies: shared by all workers that share their keys, else of this process alone."""
    if not keys:
        return token_bytes(32)
    first = keys[0].encode() if isinstance(keys[0], str) else bytes(keys[0])
    return hmac.digest(first, b"askback cookies", "sha256")

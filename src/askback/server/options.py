"""What each option of `Askback(server, ...)` may be, for authors without a type checker: one row each."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from askback.errors import AuthorError, OperatorError
from askback.guards import Guard
from askback.ledger import Ledger
from askback.model.durations import seconds_of
from askback.model.texts import Words
from askback.oauth import Provider
from askback.pages import Pages
from askback.protocol.revisions import Mode
from askback.server.forwarding.addresses import INSTEAD, is_address
from askback.server.hosts.boundary import CallerFunction, Keys
from askback.server.telemetry import Telemetry, is_set_up
from askback.server.tool_guards import GuardSet
from askback.stores import Reach, Store
from askback.vault.vault import Vault

logger = logging.getLogger("askback")

Fits = Callable[[object], bool]


class OptionRule(NamedTuple):
    """What fits, and what to write."""

    fits: Fits
    instead: str


def _several(given: object) -> bool:
    """One text would be taken for a list of letters."""
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray)


def _if_given(fits: type | Fits) -> Fits:
    def either(given: object) -> bool:
        return given is None or (isinstance(given, fits) if isinstance(fits, type) else fits(given))

    return either


def _is_list(given: object) -> bool:
    return _several(given) and isinstance(given, Sequence)


def _is_ledger(given: object) -> bool:
    return isinstance(given, bool | Ledger)


def _is_telemetry(given: object) -> bool:
    return isinstance(given, bool | Telemetry)


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given > 0


def _is_something(given: object) -> bool:
    return given is not None


MAX_IS_A_COUNT = "It is how many may be open at once: a whole number from 1 on."

OPTIONS: dict[str, OptionRule] = {
    "keys": OptionRule(
        _if_given(_is_list),
        "It is a list, the newest first: keys=[key, old_key].",
    ),
    "caller": OptionRule(
        _if_given(callable),
        "It is a function from the context of a call to the name of its caller: caller=lambda ctx: ...",
    ),
    "words": OptionRule(
        _if_given(Words),
        "It is the sentences that a person may see: words=Words(...), from askback.",
    ),
    "clients_can": OptionRule(_if_given(_several), "It is a list: clients_can=['form', 'url']."),
    "pages": OptionRule(
        _if_given(Pages),
        'It says where the pages are and who is let in: pages=Pages(url="https://tools.example", door=...), from '
        "askback.pages.",
    ),
    "vault": OptionRule(
        _if_given(Vault),
        "It takes a store and keys: vault=Vault(SQLiteStore('secrets.db'), find_keys(is_local=True)), from "
        "askback.vault and askback.stores. Without it, the vault is in store=, if that lasts.",
    ),
    "providers": OptionRule(
        _several, "It is a list, also of one: providers=[Provider(...)], from askback.oauth."
    ),
    "hold": OptionRule(
        _is_something,
        "A request cannot be held for ever: give seconds above zero or a timedelta, or leave it out.",
    ),
    "guards": OptionRule(
        _several,
        'It is a list, also of one: guards=[guard("Send to {to}?", tools="send_*")], from askback.',
    ),
    "clients_without_polling": OptionRule(
        _several, "It is a list of the names of clients, also of one: clients_without_polling=['name']."
    ),
    "ledger": OptionRule(
        _if_given(_is_ledger),
        "It is True, False, or says more: ledger=Ledger(store, keys, keep=..., answers=[...]), from askback.ledger.",
    ),
    "telemetry": OptionRule(
        _if_given(_is_telemetry),
        "It is True, False, or says where to: telemetry=Telemetry(tracer_provider=..., meter_provider=...), from "
        "askback.server.telemetry.",
    ),
    "max_visits": OptionRule(_is_count, MAX_IS_A_COUNT),
    "max_visits_per_caller": OptionRule(_is_count, MAX_IS_A_COUNT),
    "address": OptionRule(_if_given(is_address), INSTEAD),
    "clock": OptionRule(callable, "It is a function that gives the seconds since the epoch."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskbackOptions:
    """The options of one `Askback(server, ...)`, checked; `Askback` says what each means."""

    think_time: float | None
    timeout: float | None
    reply_retries: int
    words: Words | None
    clients_can: frozenset[Mode] | None
    keys: Keys | None
    caller: CallerFunction | None
    store: Store | str | None
    vault: Vault | None
    ledger: Ledger | bool | None
    telemetry: Telemetry | bool | None
    address: str | None
    pages: Pages
    providers: Mapping[str, Provider]
    hold: float
    demand_visits: bool
    clients_without_polling: frozenset[str]
    max_visits: int
    max_visits_per_caller: int
    guards: GuardSet
    clock: Callable[[], float]


def read_options(given: Mapping[str, Any]) -> AskbackOptions:
    """Refuse what would fail later, or do something else than was meant. No value is repeated: it may be a key."""
    for name, rule in OPTIONS.items():
        if not rule.fits(given[name]):
            raise AuthorError(f"Askback(server, {name}=...) was given {_kind(given[name])}. {rule.instead}")
    clients_can, hold = given["clients_can"], seconds_of(given["hold"], "hold")
    assert hold is not None  # `OPTIONS` refuses None
    read: dict[str, Any] = {
        "think_time": seconds_of(given["think_time"], "think_time"),
        "timeout": seconds_of(given["timeout"], "timeout"),
        "reply_retries": _read_count(given["reply_retries"]),
        "clients_can": None if clients_can is None else _read_modes(clients_can),
        "pages": given["pages"] or Pages(),
        "providers": _read_providers(given["providers"]),
        "hold": hold,
        "clients_without_polling": frozenset(given["clients_without_polling"]),
        "guards": _read_guards(given["guards"]),
    }
    return AskbackOptions(**{**given, **read})


def _read_count(reply_retries: int) -> int:
    if reply_retries < 0:
        raise AuthorError(
            f"reply_retries={reply_retries} cannot be done. Give 0 to ask once only, or how often to ask again."
        )
    return reply_retries


def _read_modes(clients_can: Iterable[Mode]) -> frozenset[Mode]:
    stated = frozenset(clients_can)
    if stated - {"form", "url"}:
        raise AuthorError(
            f"clients_can={sorted(stated)} names what no client can do; it may hold 'form' and 'url'."
        )
    return stated


def _read_providers(providers: Iterable[object]) -> dict[str, Provider]:
    found: dict[str, Provider] = {}
    for provider in providers:
        if not isinstance(provider, Provider):
            raise _not_in_list("providers", provider)
        if provider.name in found:
            raise OperatorError(f"Two providers are called {provider.name!r}. Give each a name of its own.")
        found[provider.name] = provider
    return found


def _read_guards(guards: Iterable[Guard]) -> GuardSet:
    given = GuardSet(guards)
    for guard in given:
        if not isinstance(guard, Guard):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise _not_in_list("guards", guard)
    return given


def _not_in_list(name: str, item: object) -> AuthorError:
    return AuthorError(
        f"Askback(server, {name}=[...]) was given {_kind(item)} in its list. {OPTIONS[name].instead}"
    )


UNSHARED_STORE = (
    "Askback(keys=...) lets other workers, and this one after a restart, go on with a call, and its store is this "
    "process's memory: what was run here may be run there again. Give them one store, such as "
    'store="redis://..." or, on one machine, store="sqlite:///askback.db".'
)
UNSHARED_KEYS = (
    "Askback(store=...) is shared with other workers, and keys= is not given: a call that was begun here can be gone "
    "on with nowhere else, nor here after a restart. Give all of them the same keys=[...]; where the server itself was "
    "given some (request_state_security=...), give those here."
)


def warn_if_half_shared(*, has_keys: bool, reach: Reach | None) -> None:
    """Keys and store are shared with other workers together; one without the other is most likely forgotten."""
    if has_keys and reach == "process":
        logger.warning(UNSHARED_STORE)
    if not has_keys and reach == "network":
        logger.warning(UNSHARED_KEYS)


def open_telemetry(given: Telemetry | bool | None, *, clock: Callable[[], float]) -> Telemetry | None:
    """What was given; without a word, wherever the process has said where spans or metrics go."""
    if isinstance(given, Telemetry):
        return given
    return Telemetry(clock=clock) if given or (given is None and is_set_up()) else None


def open_ledger(
    given: Ledger | bool | None, *, store: Store, keys: Keys | None, clock: Callable[[], float]
) -> Ledger | None:
    """The ledger that was given; without a word, one wherever its lines would last and could be sealed."""
    if isinstance(given, Ledger):
        return given
    lasts = getattr(store, "reach", "process") != "process"
    if given is False or (given is None and not (keys and lasts)):
        return None
    if not keys:
        raise OperatorError(
            "Askback(ledger=True) seals what it writes, and keys= is not given. Give all workers the same keys=[...]."
        )
    if not lasts:
        raise OperatorError(
            "Askback(ledger=True) writes to the store, and this one is gone with the process. Give one that lasts, "
            'such as store="sqlite:///askback.db".'
        )
    return Ledger(store, keys, clock=clock)


def require_id(id: object, verb: str) -> None:
    """The id of a visit, for `settle` and `fail`."""
    if not isinstance(id, str):
        raise AuthorError(
            f"{verb}(...) was given {_kind(id)} for the id of a visit. Give the text that stood for {{id}} in the "
            "link: the page gives it back to your application."
        )


def require_reason(reason: object) -> None:
    """Why a visit failed."""
    if not isinstance(reason, str):
        raise AuthorError(
            f"fail(id, ...) was given {_kind(reason)} for a reason. Say in a text what went wrong; "
            "the client may read it."
        )


def _kind(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"

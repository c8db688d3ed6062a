"""How the result of an effect is written down and read back: by the return type its function declares."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine
from functools import lru_cache, partial
from typing import Any

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import to_json

from askback import errors
from askback.errors import AuthorError, EffectFailed, NotRecordable
from askback.model.journal import Effect

Adapter = TypeAdapter[Any]

UNRECORDABLE = "NotRecordable"
"""Stands as the kind of a failure where the effect went well and its result cannot be kept."""

RECORDABLE = "declare the return type, and return something pydantic can turn into JSON and back"

INTERRUPTED = Effect("", failed=(errors.INTERRUPTED, "It was begun, and cut short before it ended."))
"""What is on record while an effect runs: if it never comes back, it must not be begun again."""

FORGOTTEN = Effect("", failed=(errors.FORGOTTEN, "It was run before, and what it gave is no longer kept."))
"""Where a bounded store kept only that the effect was run."""

MEMORY_LOST = Effect(
    "", failed=(errors.MEMORY_LOST, "The store lost its memory, and with it whether it was run.")
)
"""Where the store may have known of an earlier run, before it lost its memory."""


def is_interrupted(effect: Effect) -> bool:
    """Whether nobody knows how it ended; an author's own exception may have the same name."""
    return effect.failed is not None and tuple(effect.failed) == INTERRUPTED.failed


async def run_effect(
    key: str, effect: Callable[[], Any], adapter: Adapter
) -> tuple[Effect, Exception | None]:
    """Run it now and say what happened; a failure is recorded too, or a replay would try again."""
    try:
        result = effect()
        if inspect.isawaitable(result):
            result = await result
    except AuthorError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the author's function raises is its outcome
        text = str(error).encode(errors="replace").decode()  # it is written down, readable or not
        return Effect(key, failed=(type(error).__name__, text)), error
    return _record(key, result, adapter)


def outcome_of(effect: Effect, adapter: Adapter, *, within: float | None) -> Any:
    """What the author gets: the same on the first run and on every replay."""
    if effect.failed is not None:
        kind, text = effect.failed
        if kind == UNRECORDABLE:
            raise NotRecordable(problem=text, instead=RECORDABLE)
        raise EffectFailed(key=effect.key, kind=kind, text=text, within=within)
    try:
        return _read(effect.result, adapter)
    except ValidationError:
        problem = (
            f"The result of once({effect.key!r}, ...) was written down as another type than is declared now"
        )
        raise NotRecordable(
            problem=problem, instead="keep return types as they are while people think"
        ) from None


def adapter_for(function: Callable[..., Any]) -> Adapter:
    """The adapter of the declared return type, or of plain JSON values where none is declared."""
    while isinstance(function, partial):
        function = function.func
    declared = _declared_return(inspect.unwrap(function))
    if typing.get_origin(declared) in {Awaitable, Coroutine}:
        declared = typing.get_args(declared)[-1]
    try:
        return _adapter(declared)
    except TypeError:  # a return type that cannot be hashed
        return _adapter.__wrapped__(declared)
    except PydanticUserError as error:
        problem = f"The return type {declared!r} of {function!r} is not one that pydantic can write down"
        raise NotRecordable(problem=problem, instead=RECORDABLE) from error


def _record(key: str, result: Any, adapter: Adapter) -> tuple[Effect, Exception | None]:
    cause: Exception | None = None
    try:
        written = adapter.dump_python(result, mode="json", by_alias=True, round_trip=True, warnings="error")
        if _is_same(result, _read(written, adapter)):
            return Effect(key, result=written), None
    except Exception as error:  # noqa: BLE001 - serialisers of the author's types raise what they like
        cause = error
    problem = (
        f"once({key!r}, ...) was run, but its result, of type {type(result).__name__}, cannot be written down and "
        "read back as its function declares"
    )
    return Effect(key, failed=(UNRECORDABLE, problem)), cause


def _read(written: Any, adapter: Adapter) -> Any:
    return adapter.validate_json(to_json(written), by_alias=True, by_name=True)


def _is_same(result: Any, read: Any) -> bool:
    """Whether the author will see on replay what they see now; types without an equality are taken at their word."""
    return type(result).__eq__ is object.__eq__ or bool(result == read)


def _declared_return(function: Callable[..., Any]) -> Any:
    declared = getattr(function, "__annotations__", {}).get("return", Any)
    if not isinstance(declared, str):
        return declared
    try:
        return typing.get_type_hints(function, include_extras=True)["return"]
    except (NameError, TypeError, KeyError):  # names that exist only for the type checker
        return Any


@lru_cache(maxsize=256)
def _adapter(declared: Any) -> Adapter:
    bytes_as_text = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    try:
        return TypeAdapter(declared, config=bytes_as_text)
    except PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
        return TypeAdapter(declared)  # models and dataclasses bring their own configuration

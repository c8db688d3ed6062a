"""How the result of an effect is written down and read back: by the return type its function declares."""

import inspect
import typing
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from askback.errors import AuthorError, EffectFailed, NotRecordable
from askback.journal.entries import Effect

Adapter = TypeAdapter[Any]

UNRECORDABLE = "NotRecordable"
"""Stands as the kind of a failure where the effect went well and its result cannot be kept."""

RECORDABLE = "declare the return type, and return something pydantic can turn into JSON and back"


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
        return Effect(key=key, failed=(type(error).__name__, _sentence(str(error)))), error
    return _record(key, result, adapter)


def outcome_of(effect: Effect, adapter: Adapter) -> Any:
    """What the author gets: the same on the first run and on every replay."""
    if effect.failed is None:
        return adapter.validate_json(to_json(effect.result))
    kind, text = effect.failed
    if kind == UNRECORDABLE:
        raise NotRecordable(problem=text, instead=RECORDABLE)
    raise EffectFailed(key=effect.key, kind=kind, text=text)


def adapter_for(function: Callable[..., Any]) -> Adapter:
    """The adapter of the declared return type, or of plain JSON values where none is declared."""
    while isinstance(function, partial):
        function = function.func
    declared = _declared_return(inspect.unwrap(function))
    try:
        return _adapter(declared)
    except TypeError:  # a return type that cannot be hashed
        return TypeAdapter(declared)


def _record(key: str, result: Any, adapter: Adapter) -> tuple[Effect, Exception | None]:
    try:
        effect = Effect(key=key, result=adapter.dump_python(result, mode="json", warnings="error"))
        outcome_of(effect, adapter)
    except Exception as error:  # noqa: BLE001 - serialisers of the author's types raise what they like
        problem = (
            f"once({key!r}, ...) was run, but its result, of type {type(result).__name__}, cannot be written down and "
            "read back as its function declares"
        )
        return Effect(key=key, failed=(UNRECORDABLE, problem)), error
    return effect, None


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
    return TypeAdapter(declared)


def _sentence(text: str) -> str:
    text = text.strip() or "no reason given"
    return text if text.endswith((".", "!", "?")) else f"{text}."

"""What a form from a stranger costs, by its number of fields: to read it, and to fill it in and check it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from time import process_time
from typing import Any

from askback.client.forms import Draft, read_form
from bench.blocks import Call
from bench.contests import Target
from bench.growth import Growth

FIELDS = 50

MOST = Target(ratio=60)
"""Fifty times one field, and a fifth for what only a form of several has to do."""


def form_growths() -> list[Growth]:
    """Both in processor time: nobody else is part of it."""
    return [
        Growth(
            name=f"forms/{verb}",
            much=f"{verb} {FIELDS} fields",
            little="one field",
            target=MOST,
            clock=process_time,
            sides=sides,
        )
        for verb, sides in (("read", partial(_sides, _reading)), ("check", partial(_sides, _checking)))
    ]


def _schema(fields: int) -> dict[str, Any]:
    described = {
        "type": "string",
        "description": "As it should stand on the bill",
        "minLength": 2,
        "maxLength": 40,
        "default": "Ada Lovelace",
    }
    names = [f"guest_{number}" for number in range(fields)]
    properties = {name: {**described, "title": f"Guest {place}"} for place, name in enumerate(names)}
    return {"type": "object", "properties": properties, "required": names}


def _reading(fields: int) -> Callable[[], object]:
    return partial(read_form, _schema(fields))


def _checking(fields: int) -> Callable[[], object]:
    blank = read_form(_schema(fields))

    def check() -> dict[str, Any]:
        draft = Draft(blank)
        for number in range(fields):
            draft.write(f"guest_{number}", "Grace Hopper, Arlington")
        return draft.content()

    return check


def _sides(work: Callable[[int], Callable[[], object]]) -> AbstractAsyncContextManager[tuple[Call, Call]]:
    return _ready(_call(work(FIELDS)), _call(work(1)))


@asynccontextmanager
async def _ready(much: Call, little: Call) -> AsyncGenerator[tuple[Call, Call]]:
    yield much, little


def _call(work: Callable[[], object]) -> Call:
    async def call() -> object:
        return work()

    return call

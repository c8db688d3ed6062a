"""A body with two questions, and what a person may answer to them."""

import pytest
from pydantic import BaseModel

from askback import ask
from askback.testing import REVISIONS, accept

JUNE, NOVEMBER, LATEST = REVISIONS

on_every_revision = pytest.mark.parametrize("revision", REVISIONS)


class Person(BaseModel):
    name: str
    age: int = 36


async def meet() -> str:
    """Asks who is there, and where from."""
    person = (await ask("Who are you?", Person, key="person")).or_stop("nobody")
    town = (await ask("From which town?", str, key="town")).or_stop("nowhere")
    return f"{person.name}, {person.age}, {town}"


ADA, LONDON = accept(name="Ada"), accept("London")

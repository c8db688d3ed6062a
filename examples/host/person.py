"""A person of one's own: whatever shows questions and brings answers. This one reads lines."""

from collections.abc import Callable
from typing import Any

import anyio

from askback import Accepted, Answer, Cancelled, Declined
from askback.client import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.client.forms import Draft
from askback.model.safe import safe_line


# --8<-- [start:person]
class LinePerson:
    """Shows forms, no links; an empty line keeps what stands there, `no` declines, `quit` cancels."""

    modes: frozenset[Mode] = frozenset({"form"})
    shows_several = False

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read

    async def answer(self, turn: Turn) -> Answer[Any]:
        assert isinstance(turn.asked, FormAsked)
        print(
            f"{safe_line(turn.asked.asker.label)} asks, for {turn.asked.purpose}: {safe_line(turn.asked.message)}"
        )
        draft = Draft(turn.asked.blank)
        for entry in turn.asked.blank.entries:
            said = self._read(
                f"{safe_line(entry.label)} ({entry.expects}) [{safe_line(draft.text(entry.name))}]: "
            )
            match said:
                case "no":
                    return Declined()
                case "quit":
                    return Cancelled()
                case "":
                    continue
                case _:
                    draft.write(entry.name, said)
        return Accepted(draft.content())

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return "cancel"


# --8<-- [end:person]

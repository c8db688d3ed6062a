"""A scripted person, for tests of hosts, of drivers and of other code that asks a person."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never, cast

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.forms import Draft
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.errors import Unanswered
from askback.testing.script import Accept, Answers, Asked, Fail, Raw, Script, ScriptMismatch, Silence

BOTH: frozenset[Mode] = frozenset(("form", "url"))


class ScriptedPerson:
    """Gives the replies of a test, in order, by key, or from a function of the question.

    person = ScriptedPerson([accept(drink="cola"), decline()])

    A reply that does not fit the question is a `ScriptMismatch`, and so is a question without a reply. `fail()` is a
    person who cannot answer after all; `silence()` is one who does not answer until the question is withdrawn. No link
    is opened: the addresses are listed in `visited`.
    """

    channel = "script"

    def __init__(
        self, answers: Answers = (), *, words: Iterable[VisitReply] = (), modes: frozenset[Mode] = BOTH
    ) -> None:
        self.modes = modes
        self.shows_several = False
        self.turns: list[Turn] = []
        self.visited: list[str] = []
        self._script = Script(answers)
        self._words = list(words)
        self._mismatch: ScriptMismatch | None = None

    async def answer(self, turn: Turn) -> Answer[Any]:
        """The script's reply to this question."""
        self.turns.append(turn)
        try:
            return await self._reply(turn)
        except ScriptMismatch as mismatch:
            self._mismatch = self._mismatch or mismatch
            raise

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """The next of `words`, or "done" if none is left."""
        return self._words.pop(0) if self._words else "done"

    def finish(self, text: str = "") -> None:
        """Fail if the script did not fit, also if the caller swallowed the error, or if replies are left."""
        if self._mismatch is not None:
            raise self._mismatch
        self._script.finish(text)

    async def _reply(self, turn: Turn) -> Answer[Any]:
        asked = _describe_turn(turn)
        reply = self._script.reply_to(asked)
        match reply:
            case Accept():
                if isinstance(turn.asked, VisitAsked):
                    return self._consent(turn.asked, reply)
                return Accepted(_fill_in(turn.asked, self._script.content_for(reply, asked), asked))
            case Raw():
                return _read_raw(reply.reply)
            case Fail():
                raise Unanswered(reply.message)
            case Silence():
                while turn.gone is None:
                    await turn.changed()
                return Cancelled()
            case _:
                assert_never(reply)

    def _consent(self, visit: VisitAsked, reply: Accept) -> Answer[Any]:
        if reply.values:
            raise ScriptMismatch(
                f"accept(...) fills in fields, but the server asked for a visit to {visit.url!r}."
            )
        if visit.verdict.refusal is not None:
            raise ScriptMismatch(f"accept() opens {visit.url!r}, and nobody can: {visit.verdict.refusal}")
        self.visited.append(visit.verdict.href)
        return Accepted(None)


def _describe_turn(turn: Turn) -> Asked:
    asked = turn.asked
    if isinstance(asked, VisitAsked):
        return Asked(message=asked.message, schema={}, key=asked.key, mode="url", url=asked.url)
    properties: dict[str, Any] = {}
    for entry in asked.blank.entries:
        offered = {"enum": [option.value for option in entry.options]} if entry.options else {}
        properties[entry.name] = {"items": offered} if entry.kind == "choices" else offered
    return Asked(message=asked.message, schema={"properties": properties}, key=asked.key)


def _fill_in(form: FormAsked, values: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    if form.blank.refusal is not None:
        raise ScriptMismatch(f"accept(...) answers {asked}, and nobody can: {form.blank.refusal}")
    draft = Draft(form.blank, values)
    for name in values:
        draft.excuse(name)
    if problems := draft.problems():
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise ScriptMismatch(f"accept(...) does not fit what the server asked, {asked}: {told}")
    return draft.content()


def _read_raw(reply: Any) -> Answer[Any]:
    """A reply in the words of the protocol; its content may be wrong, to test that it is refused."""
    match reply:
        case {"action": "decline"}:
            return Declined()
        case {"action": "cancel"}:
            return Cancelled()
        case {"action": "accept", **rest}:
            return Accepted(cast("Mapping[str, Any]", rest).get("content"))
        case _:
            raise ScriptMismatch(
                f"raw({reply!r}) is not an answer of a person. Use accept(), decline() or cancel()."
            )

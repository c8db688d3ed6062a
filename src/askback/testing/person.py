"""A scripted Person: for tests of hosts, of drivers, and of everything else that asks a person."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never, cast

import anyio

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.forms import Draft, FormEntry
from askback.client.person import FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.errors import Unanswered
from askback.testing.replies import Accept, Fail, Raw, Silence
from askback.testing.script import Answers, Asked, Script, ScriptMismatch

BOTH: frozenset[Mode] = frozenset(("form", "url"))


class ScriptedPerson:
    """Gives the replies of a test, in order, by key, or from a function of the question.

    person = ScriptedPerson([accept(drink="cola"), decline()])

    A reply that the question does not fit is a `ScriptMismatch`, and so is a question that the script has no reply
    for. `fail()` is a person who cannot answer after all, `silence()` one who does not until the question is taken
    back. Nothing is opened: what a person would have been sent to is listed in `visited`.
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
        """The script's reply to this question, as a person would give it."""
        self.turns.append(turn)
        try:
            return await self._reply(turn)
        except ScriptMismatch as mismatch:
            self._mismatch = self._mismatch or mismatch
            raise

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """The next of `words`; done when there is none left."""
        return self._words.pop(0) if self._words else "done"

    def finish(self, text: str = "") -> None:
        """Fail if script and questions differed: also where whoever asked has swallowed it, and for unused replies."""
        if self._mismatch is not None:
            raise self._mismatch
        self._script.finish(text)

    async def _reply(self, turn: Turn) -> Answer[Any]:
        asked = _as_script_sees(turn)
        reply = self._script.reply_to(asked)
        match reply:
            case Accept():
                return self._accepted(turn, reply, asked)
            case Raw():
                return _said(reply.reply)
            case Fail():
                raise Unanswered(reply.message)
            case Silence():
                while turn.gone is None:
                    await turn.changed()
                return Cancelled()
            case _:
                assert_never(reply)

    def _accepted(self, turn: Turn, reply: Accept, asked: Asked) -> Answer[Any]:
        if isinstance(turn.asked, VisitAsked):
            return self._consented(turn.asked, reply)
        return Accepted(_filled(turn.asked, self._script.content_for(reply, asked), asked))

    def _consented(self, visit: VisitAsked, reply: Accept) -> Answer[Any]:
        if reply.values:
            raise ScriptMismatch(
                f"accept(...) fills in fields, but the server asked for a visit to {visit.url!r}."
            )
        if visit.verdict.refusal is not None:
            raise ScriptMismatch(f"accept() opens {visit.url!r}, and nobody can: {visit.verdict.refusal}")
        self.visited.append(visit.verdict.href)
        return Accepted(None)


def _as_script_sees(turn: Turn) -> Asked:
    asked = turn.asked
    if isinstance(asked, VisitAsked):
        return Asked(message=asked.message, schema={}, key=asked.key, mode="url", url=asked.url)
    properties = {entry.name: _described(entry) for entry in asked.blank.entries}
    return Asked(message=asked.message, schema={"properties": properties}, key=asked.key)


def _described(entry: FormEntry) -> Mapping[str, Any]:
    offered = {"enum": [option.value for option in entry.options]} if entry.options else {}
    return {"items": offered} if entry.kind == "choices" else offered


def _filled(form: FormAsked, values: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    if form.blank.refusal is not None:
        raise ScriptMismatch(f"accept(...) answers {asked}, and nobody can: {form.blank.refusal}")
    draft = Draft(form.blank, values)
    for name in values:
        draft.excuse(name)
    if problems := draft.problems():
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise ScriptMismatch(f"accept(...) does not fit what the server asked, {asked}: {told}")
    return draft.content()


def _said(reply: Any) -> Answer[Any]:
    """A reply as the wire has it; raw ones may hold content that does not fit, to see it refused."""
    match reply:
        case {"action": "decline"}:
            return Declined()
        case {"action": "cancel"}:
            return Cancelled()
        case {"action": "accept", **rest}:
            return Accepted(cast("Mapping[str, Any]", rest).get("content"))
        case _:
            raise ScriptMismatch(
                f"raw({reply!r}) is nothing that a person can say. Use accept(), decline() or cancel()."
            )

"""Whether an answer fits its question, whoever gave it: a program, a policy, a script or a person."""

from collections.abc import Collection, Mapping
from typing import Any, assert_never, cast

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.forms import Draft, ReceivedForm
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.person import Asked, FormAsked, VisitAsked
from askback.errors import AnswerRefused


def check_answer(asked: Asked, answer: Answer[Any]) -> Answer[Any]:
    """The answer as it can be sent; raises `AnswerRefused` where it cannot be. A visit's yes carries nothing (R67)."""
    match answer:
        case Declined() | Cancelled():
            return answer
        case Accepted(content):
            return Accepted(_content(asked, content) if isinstance(asked, FormAsked) else _consent(asked))
        case _:
            assert_never(answer)


def require_no_keys(asked: Asked, answer: Answer[Any], *, excused: Collection[str]) -> None:
    """Stop what is shaped like a key (T13), but where the person insists. Surfaces do the same as one types."""
    if not isinstance(asked, FormAsked) or not isinstance(answer, Accepted):
        return
    stops = Draft(asked.blank, cast("Mapping[str, Any]", answer.value)).stops()
    if found := {name: why for name, why in stops.items() if name not in excused}:
        raise _refusal(asked, _told(found) + "; name the field in excused= where the person wants to send it")


def _consent(asked: VisitAsked) -> None:
    if not asked.verdict.allowed:
        raise _refusal(asked, asked.verdict.refusal or "this link may not be opened")


def _content(asked: FormAsked, content: Any) -> dict[str, Any]:
    if asked.blank.refusal is not None:
        raise _refusal(asked, asked.blank.refusal)
    if not isinstance(content, Mapping):
        raise _refusal(asked, "an accepted form takes a mapping of its fields")
    given = dict(cast("Mapping[str, Any]", content))
    if problems := _problems(asked.blank, given):
        raise _refusal(asked, _told(problems))
    return given


def _problems(blank: ReceivedForm, given: dict[str, Any]) -> dict[str, str]:
    known = {entry.name for entry in blank.entries}
    unknown = dict.fromkeys((name for name in given if name not in known), "the form has no such field")
    missing = (entry.name for entry in blank.entries if entry.is_required and entry.name not in given)
    wrong = Draft(blank, {name: value for name, value in given.items() if name in known}).problems()
    return (
        unknown
        | dict.fromkeys(missing, "this field is required")
        | {name: why for name, why in wrong.items() if name in given}
    )


def _told(problems: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in problems.items())


def _refusal(asked: Asked, problems: str) -> AnswerRefused:
    return AnswerRefused(question=asked.message[:MAX_REPEATED_LENGTH], problems=problems)

"""A web host: one request begins the call, another brings the answers, and nothing waits between them."""

from typing import Any

from askback import Accepted, Answer
from askback.client import Driver, FinishedCall, FormAsked, Mode, WaitingCall

SHOWS: frozenset[Mode] = frozenset({"form"})
"""What this host can show on its pages."""


# --8<-- [start:begin]
async def begin(target: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with Driver(target, modes=SHOWS, label="pizzeria") as driver:
        return page_of(await driver.begin(tool, arguments))


# --8<-- [end:begin]


# --8<-- [start:resume]
async def resume(target: Any, kept: str, sent: dict[str, dict[str, Any]]) -> dict[str, Any]:
    answers: dict[str, Answer[Any]] = {key: Accepted(content) for key, content in sent.items()}
    async with Driver(target, modes=SHOWS, label="pizzeria") as driver:
        return page_of(await driver.resume(WaitingCall.from_json(kept), answers))


# --8<-- [end:resume]


# --8<-- [start:page]
def page_of(step: FinishedCall[Any] | WaitingCall) -> dict[str, Any]:
    if isinstance(step, FinishedCall):
        return {"result": step.result.content[0].text}
    forms = {
        key: {"message": asked.message, "fields": [entry.name for entry in asked.blank.entries]}
        for key, asked in step.questions.items()
        if isinstance(asked, FormAsked)
    }
    return {"forms": forms, "kept": step.to_json()}


# --8<-- [end:page]

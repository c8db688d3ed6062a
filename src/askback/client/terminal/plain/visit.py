"""A visit in line mode: who, where and why, the whole link, and a word that opens it."""

from askback.answer import Accepted, Answer, Cancelled, Declined
from askback.client.consent import shown
from askback.client.person import VisitAsked
from askback.client.terminal.plain.asking import Asking


async def consent(asking: Asking, asked: VisitAsked) -> Answer[None]:
    """Only the word `open` opens; Enter alone declines."""
    _say(asking, asked)
    words = "open, decline or cancel" if asked.verdict.allowed else "decline or cancel"
    asking.say(f"Type {words}. Enter alone declines.")
    asking.offer_all()
    while True:
        match (await asking.read(decides=True)).strip().casefold():
            case "open" if asked.verdict.allowed:
                return Accepted(None)
            case "" | "decline":
                return Declined()
            case "cancel":
                return Cancelled()
            case _:
                asking.say(f"Nothing is opened. Type {words}.")


def _say(asking: Asking, asked: VisitAsked) -> None:
    seen = shown(asked)
    before, domain, after = seen.where
    asking.say(f"who: {seen.who}")
    asking.tell("where: ", f"{before}[{domain}]{after}")
    asking.tell("why: ", seen.why)
    if seen.refusal is not None:
        asking.warn(seen.refusal)
    asking.warn(*seen.warnings)
    if seen.note:
        asking.tell("", seen.note)
    asking.tell("the whole link: ", seen.url)

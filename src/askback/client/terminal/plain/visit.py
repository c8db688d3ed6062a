"""A visit in line mode: who, where and why, the whole link, and a word that opens it."""

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.client.consent import view_visit
from askback.client.person import VisitAsked
from askback.client.terminal.plain.dialog import PlainDialog


async def consent(asking: PlainDialog, asked: VisitAsked) -> Answer[None]:
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


def _say(asking: PlainDialog, asked: VisitAsked) -> None:
    seen = view_visit(asked)
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

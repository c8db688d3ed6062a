"""What the guest of the demo orders and answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from askback.testing import accept, decline
from askback.testing.replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswers:
    """The replies of one guest to the questions of all three servers."""

    pizza: str = "Margherita"
    order: Sequence[Reply]
    link: Reply
    query: Reply


WILLING = DemoAnswers(
    order=[accept(drink="cola", tip=2), accept(yes=True)],
    link=accept(),
    query=accept(decision="limit"),
)
RELUCTANT = DemoAnswers(order=[decline()], link=decline(), query=decline())

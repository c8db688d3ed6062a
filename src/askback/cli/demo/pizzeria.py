"""The pizzeria of the demo: a tool that asks twice, and places the order once."""

from typing import Any

from mcp.server import MCPServer

from askback import Askback, Choice, Integer, ask, confirm, once
from askback.cli.console import Printer
from askback.cli.demo.transcript import DemoAnswers, print_runs, print_verdict
from askback.testing import REVISIONS, run_tool

EXTRAS = {
    "drink": Choice(["none", "cola", "water"], title="Drink", default="none"),
    "tip": Integer(minimum=0, maximum=20, title="Tip in euro", default=0),
}


def make_server() -> MCPServer[Any]:
    """A pizzeria without orders."""
    mcp: MCPServer[Any] = MCPServer("pizzeria")
    Askback(mcp)
    orders: list[str] = []

    def place_order(pizza: str, drink: str) -> int:
        orders.append(f"{pizza} with {drink}")
        return len(orders)

    @mcp.tool()
    async def order(pizza: str) -> str:
        """Order a pizza; the guest is asked about extras and must confirm."""
        extras = (await ask("Anything with your pizza?", EXTRAS)).or_stop(f"Ordered {pizza} without extras.")
        if not await confirm(f"Order {pizza} with {extras['drink']}?"):
            return "Nothing ordered."
        number = await once("place", place_order, pizza, extras["drink"])
        return f"Order {number}: {pizza}, {extras['drink']}, tip {extras['tip']}"

    return mcp


async def play(printer: Printer, answers: DemoAnswers) -> bool:
    """Order on each revision, and print the calls; whether the results are the same."""
    runs = {
        revision: await run_tool(
            make_server(),
            "order",
            {"pizza": answers.pizza},
            answers.order,
            revision=revision,
            always_replay=False,
        )
        for revision in REVISIONS
    }
    print_runs(printer, "One tool body, three protocol revisions", runs)
    return print_verdict(printer, runs.values())

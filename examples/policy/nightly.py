"""An order without a person: a policy answers what its rules name, and the record says which rule it was."""

import sys
from pathlib import Path

import anyio

# --8<-- [start:run]
from askback.client import Driver
from askback.client.policy import PolicyPerson, load_policy

POLICY = Path(__file__).with_name("policy.toml")
PIZZERIA = [sys.executable, "-m", "examples.pizzeria.server"]


async def order(pizza: str, *, server: object = PIZZERIA) -> list[str]:
    """What came of it: the result, then each answer with the word on which it stands."""
    person = PolicyPerson(load_policy(POLICY))
    async with Driver(server, person, label="pizzeria") as driver:
        result = await driver.call_tool("order", {"pizza": pizza})
        said = [getattr(part, "text", "") for part in result.content]
        return said + [f"{one.action}: {one.asked.message} by {one.by}" for one in driver.answered]


# --8<-- [end:run]

if __name__ == "__main__":
    print(*anyio.run(order, sys.argv[1] if len(sys.argv) > 1 else "Margherita"), sep="\n")

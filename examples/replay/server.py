"""What runs again when a body asks: the ways to get it wrong, and what to write instead."""

import asyncio
import random
from datetime import UTC, datetime

from mcp.server import MCPServer

from askback import Askback, ask, confirm, once

mcp = MCPServer("replay")
Askback(mcp)

sent: list[str] = []


def send_mail(to: str) -> str:
    sent.append(to)
    return f"mail {len(sent)}"


# --8<-- [start:effect]
@mcp.tool()
async def mail_twice(to: str) -> str:
    """Wrong: on a later round the mail is sent again."""
    receipt = send_mail(to)
    again = await confirm("Sent. Shall I also file it?")
    return f"{receipt}, filed: {again}"


@mcp.tool()
async def mail_once(to: str) -> str:
    """Right: the effect is recorded, and its result comes back on every round."""
    receipt = await once("send", send_mail, to)
    again = await confirm("Sent. Shall I also file it?")
    return f"{receipt}, filed: {again}"


# --8<-- [end:effect]


# --8<-- [start:time]
@mcp.tool()
async def changing_clock() -> str:
    """Wrong: the question is another one on every round, so no answer ever belongs to it."""
    now = datetime.now(UTC).isoformat()
    return str(await confirm(f"It is {now}. Start?"))


def read_clock() -> datetime:
    return datetime.now(UTC)


@mcp.tool()
async def steady_clock() -> str:
    """Right: the time is taken once and stays."""
    now = await once("now", read_clock)
    return str(await confirm(f"It is {now:%H:%M}. Start?"))


# --8<-- [end:time]


# --8<-- [start:chance]
@mcp.tool()
async def changing_dice() -> str:
    """Wrong: what the person agreed to is not what is rolled afterwards."""
    roll = random.randint(1, 10**9)
    return f"{roll} {await confirm('Keep the number?')} {roll}"


def roll_dice() -> int:
    return random.randint(1, 10**9)


@mcp.tool()
async def steady_dice() -> str:
    """Right: chance is an effect."""
    roll = await once("roll", roll_dice)
    return f"{roll} {await confirm(f'Keep {roll}?')} {roll}"


# --8<-- [end:chance]


# --8<-- [start:together]
@mcp.tool()
async def together_without_keys() -> str:
    """Wrong: a later round cannot tell which answer belongs to which question."""
    return str(await asyncio.gather(ask("Name?", str), ask("Age?", int)))


@mcp.tool()
async def together_with_keys() -> str:
    """Right: both questions go out in one round."""
    name, age = await asyncio.gather(ask("Name?", str, key="name"), ask("Age?", int, key="age"))
    return f"{name} {age}"


# --8<-- [end:together]


# --8<-- [start:swallow]
@mcp.tool()
async def swallowing() -> str:
    """Wrong, and harmless: a body that swallows everything is still answered with its question."""
    try:
        sure = await confirm("Delete it all?")
    except BaseException:
        sure = True
    return f"deleted: {sure}"


# --8<-- [end:swallow]


# --8<-- [start:loop]
@mcp.tool()
async def one_key_in_a_loop(names: list[str]) -> str:
    """Wrong: three effects want three keys."""
    for name in names:
        await once("send", send_mail, name)
    return "sent"


@mcp.tool()
async def a_key_each(names: list[str]) -> str:
    """Right: the key names the effect."""
    for name in names:
        await once(f"send {name}", send_mail, name)
    return f"sent {len(names)}, more: {await confirm('Anybody else?')}"


# --8<-- [end:loop]


if __name__ == "__main__":
    mcp.run()

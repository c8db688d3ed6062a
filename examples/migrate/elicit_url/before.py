"""A town hall that sends people to its till with `ctx.elicit_url()` of the SDK."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

mcp = MCPServer("town hall")


@mcp.tool()
async def pay_fee(passport: str, ctx: Context) -> str:
    """Send the person to the page where the fee of a passport is paid."""
    answer = await ctx.elicit_url(
        message=f"Passport {passport} costs 38 euro.",
        url=f"https://till.example.org/passports/{passport}",
        elicitation_id=f"passport-{passport}",
    )
    if answer.action == "accept":
        return "Pay on the page that opened, then call again."
    return f"Passport {passport} waits until it is paid for."


@mcp.tool()
async def note_payment(passport: str, ctx: Context) -> str:
    """The till says that a passport is paid for."""
    await ctx.session.send_elicit_complete(f"passport-{passport}")
    return f"Passport {passport} is paid for."

"""An observatory with guard tools, which return what they want to know, on FastMCP."""

from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

mcp = FastMCP("observatory")


def ask_for(field: str, message: str, state: str | None = None) -> InputRequiredResult:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    form = ElicitRequestFormParams(message=message, requested_schema=schema)
    return InputRequiredResult(input_requests={field: ElicitRequest(params=form)}, request_state=state)


@mcp.tool
async def observe(hours: int, ctx: Context) -> str | InputRequiredResult:
    """Book the telescope."""
    replies = ctx.input_responses
    if replies is None:
        return ask_for("target", "What would you like to see?")
    if "target" in replies:
        match replies["target"]:
            case ElicitResult(action="accept", content={"target": str(target)}):
                return ask_for("night", f"On which night shall we show you {target}?", state=target)
            case _:
                return "The telescope stays closed."
    match replies["night"]:
        case ElicitResult(action="accept", content={"night": night}):
            return f"{ctx.request_state} on {night}, {hours} hours"
        case _:
            return "The telescope stays closed."


@mcp.resource("observatory://sky")
async def sky(ctx: Context) -> str | InputRequiredResult:
    """What can be seen tonight, from where the reader is."""
    match (ctx.input_responses or {}).get("place"):
        case None:
            return ask_for("place", "Where are you?")
        case ElicitResult(action="accept", content={"place": place}):
            return f"Over {place}: Saturn"
        case _:
            return "Saturn, from many places"

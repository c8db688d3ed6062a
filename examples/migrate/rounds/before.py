"""A museum that writes its rounds by hand, on MCPServer."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

mcp = MCPServer("museum")


def round_for(field: str, message: str, state: str | None = None) -> InputRequiredResult:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    form = ElicitRequestFormParams(message=message, requested_schema=schema)
    return InputRequiredResult(input_requests={field: ElicitRequest(params=form)}, request_state=state)


@mcp.tool()
async def book_tour(guests: int, ctx: Context) -> str | InputRequiredResult:
    """Book a guided tour."""
    replies = ctx.input_responses or {}
    match replies.get("language"), replies.get("hall"):
        case None, None:
            return round_for("language", "In which language?")
        case ElicitResult(action="accept", content={"language": str(language)}), _:
            return round_for("hall", f"Which hall would you see in {language}?", state=language)
        case _, ElicitResult(action="accept", content={"hall": hall}):
            return f"A tour of the {hall} in {ctx.request_state} for {guests}"
        case _:
            return "No tour booked."


@mcp.prompt()
async def leaflet(ctx: Context) -> str | InputRequiredResult:
    """Write a leaflet for somebody in particular."""
    reply = (ctx.input_responses or {}).get("reader")
    if not isinstance(reply, ElicitResult):
        return round_for("reader", "Who will read the leaflet?")
    reader = reply.content["reader"] if reply.content else "everybody"
    return f"Write a leaflet on the museum for {reader}."

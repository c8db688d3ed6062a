"""What the official conformance suite asks of a server that asks: its tools, its prompt, and a resource of our own.

Forms go through Askback. Sampling and roots are not Askback's: those tools write their `InputRequiredResult` by hand,
and it passes through untouched. The names and what each returns are the suite's.
"""

from argparse import ArgumentParser
from typing import Any, Literal, assert_never

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field
from pydantic_core import to_json

from askback import (
    Accepted,
    Answer,
    Askback,
    Boolean,
    Cancelled,
    CannotAsk,
    Declined,
    Email,
    Text,
    ask,
    confirm,
)

mcp = MCPServer("everything", version="1")
Askback(mcp)


def told(answer: Answer[Any]) -> str:
    """An answer in the words that the suite's descriptions use."""
    match answer:
        case Accepted(value):
            return f"action=accept, content={to_json(value).decode()}"
        case Declined():
            return "action=decline"
        case Cancelled():
            return "action=cancel"
        case _:
            assert_never(answer)


# Asked while the call waits, on 2025-11-25.


@mcp.tool()
async def test_elicitation(message: str) -> str:
    """Asks who you are, in the caller's words."""
    fields = {
        "username": Text(description="How to call you"),
        "email": Email(description="Where to write to"),
    }
    return f"User response: {told(await ask(message, fields))}"


class Profile(BaseModel):
    name: str = Field("John Doe", description="Name")
    age: int = Field(30, description="Age in years")
    score: float = Field(95.5, description="Score")
    status: Literal["active", "inactive", "pending"] = Field("active", description="Status")
    verified: bool = Field(True, description="Whether this was checked")


@mcp.tool()
async def test_elicitation_sep1034_defaults() -> str:
    """Asks for a profile in which everything is filled in already."""
    return f"Elicitation completed: {told(await ask('Is this right?', Profile))}"


PLAIN = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Value {number}"} for number in (1, 2, 3)]

# As JSON Schema, for that can also say `enumNames`, the way of titling choices that 2025-11-25 replaced.
CHOICES: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": PLAIN},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option 1", "Option 2"]},
}


@mcp.tool()
async def test_elicitation_sep1330_enums() -> str:
    """Offers choices in each of the five ways a form can."""
    form = {"type": "object", "properties": CHOICES, "required": list(CHOICES)}
    return f"Elicitation completed: {told(await ask('What will it be?', form))}"


# Asked in rounds, on 2026-07-28. The key of a question is the key of its input request.


@mcp.tool()
async def test_input_required_result_elicitation() -> str:
    """Asks for a name and greets it."""
    answer = await ask("What is your name?", {"name": Text()}, key="user_name")
    return f"Hello, {answer.or_stop('Hello, whoever you are!')['name']}!"


@mcp.tool()
async def test_input_required_result_request_state() -> str:
    """Asks once; that it knows the answer at all shows that its state came back whole."""
    answer = await ask("Please confirm", {"ok": Boolean()}, key="confirm")
    return f"state-ok: {told(answer)}"


@mcp.tool()
async def test_input_required_result_tampered_state() -> str:
    """Asks once; a state that was changed on the way is refused before this body runs."""
    return "Confirmed." if await confirm("Please confirm", key="confirm") else "Not confirmed."


@mcp.tool()
async def test_input_required_result_multi_round() -> str:
    """Asks two questions, the second after the first is answered."""
    name = (await ask("Step 1: What is your name?", {"name": Text()}, key="step1")).or_stop("No name given.")
    color = (await ask("Step 2: What is your favorite color?", {"color": Text()}, key="step2")).or_stop(
        "No color given."
    )
    return f"{name['name']} likes {color['color']}."


@mcp.tool()
async def test_streaming_elicitation() -> str:
    """Asks over HTTP, where no request of ours may travel on the stream that answers the call."""
    return f"Elicitation completed: {told(await ask('Which word?', {'word': Text()}))}"


@mcp.prompt()
async def test_input_required_result_prompt() -> str:
    """A prompt that asks what it should be about."""
    answer = await ask("What context should the prompt use?", {"context": Text()}, key="user_context")
    return f"Use this context: {answer.or_stop('Go on without a context.')['context']}"


@mcp.resource("everything://greeting")
async def greeting() -> str:
    """A resource that asks who reads it."""
    answer = await ask("Who reads this?", {"name": Text()}, key="reader")
    return f"Written for {answer.or_stop('Written for nobody in particular.')['name']}."


# Sampling and roots, by hand.


def sampling(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))


def said(answer: object) -> str:
    match answer:
        case CreateMessageResult(content=TextContent(text=text)):
            return text
        case _:
            return "nothing"


@mcp.tool()
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Asks the client's model for a capital."""
    if ctx.input_responses and "capital_question" in ctx.input_responses:
        return f"The model said: {said(ctx.input_responses['capital_question'])}"
    return InputRequiredResult(
        input_requests={"capital_question": sampling("What is the capital of France?")}
    )


@mcp.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Asks for the client's roots and counts them."""
    match (ctx.input_responses or {}).get("client_roots"):
        case ListRootsResult(roots=roots):
            return f"Roots: {', '.join(str(root.uri) for root in roots)}"
        case _:
            return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


@mcp.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Asks a person, a model and the client in one round, so all three by hand: `ask` has rounds of its own."""
    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    form = ElicitRequestFormParams(message="What is your name?", requested_schema=name)
    requests = {
        "user_name": ElicitRequest(params=form),
        "greeting": sampling("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if ctx.request_state == "asked" and requests.keys() <= (ctx.input_responses or {}).keys():
        return "All three came."
    return InputRequiredResult(input_requests=requests, request_state="asked")


@mcp.tool()
async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Asks the person for a greeting or, where nobody can be asked, the model."""
    try:
        return f"Elicitation completed: {told(await ask('How shall I greet?', {'greeting': Text()}))}"
    except CannotAsk:
        if ctx.input_responses and "greeting" in ctx.input_responses:
            return f"The model said: {said(ctx.input_responses['greeting'])}"
        return InputRequiredResult(input_requests={"greeting": sampling("Say hello")})


@mcp.tool()
async def test_missing_capability(ctx: Context) -> str:
    """Needs sampling, and refuses clients without it as Askback refuses those without forms."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        lacking: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs a client with sampling.", lacking)
    return "The client has sampling."


# Logs and lists that change: what the suite looks at to see that a stateless server keeps still.


@mcp.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Logs a line, which reaches only clients that set a log level."""
    await ctx.info("one line")  # pyright: ignore[reportDeprecated] # that it stays away is what the suite looks at
    return "Logged."


def passing() -> str:
    """Comes and goes."""
    return "passing"


@mcp.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Adds a tool, takes it away again, and tells the subscribers."""
    mcp.add_tool(passing)
    mcp.remove_tool("passing")
    await ctx.notify_tools_changed()
    return "Changed."


@mcp.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Adds a prompt, takes it away again, and tells the subscribers."""
    mcp.add_prompt(Prompt.from_function(passing))
    mcp.remove_prompt("passing")
    await ctx.notify_prompts_changed()
    return "Changed."


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--port", type=int, default=3001, help="where to listen on 127.0.0.1; 0 takes a free one"
    )
    mcp.run("streamable-http", port=parser.parse_args().port)

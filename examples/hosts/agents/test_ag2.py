"""The stories of the inn, told by an ag2 agent without a model.

make guides && .build/guides/bin/python -m pytest -W default examples/hosts/agents
"""

import json

import pytest
from ag2 import Agent, TextInput
from ag2.events import HumanInputRequest, ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from ag2.tools.toolkits.mcp_server import MCPAnswerPolicy, MCPStdioServerConfig, MCPToolkit

from askback.client import Driver
from examples.hosts.agents.on_ag2 import tools_of
from examples.hosts.inn import mcp
from examples.hosts.stories import COMMAND, STORIES

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("name", STORIES)
async def test_a_guest_is_asked(name: str, revision: str):
    story = STORIES[name]
    person = story.person()
    async with Driver(mcp, person, revision=revision) as driver:
        call = ToolCallEvent(name=story.tool, arguments=json.dumps(story.arguments))
        agent = Agent("clerk", config=TestConfig(call, "Done."), tools=await tools_of(driver))
        reply = await agent.ask("Welcome.")
        (result,) = [
            event for event in await reply.history.get_events() if isinstance(event, ToolResultEvent)
        ]
    assert result.result.parts == [TextInput(content=story.text)]
    assert person.visited == story.visits
    person.finish()


@pytest.mark.parametrize(("tool", "text"), [("book", "Nothing booked."), ("pay", "Payment: decline")])
async def test_its_own_toolkit_declines_links_and_forms_of_several_fields(tool: str, text: str):
    server = MCPStdioServerConfig(command=COMMAND[0], args=COMMAND[1:], protocol_mode="auto")
    toolkit = MCPToolkit(server, answering=MCPAnswerPolicy(elicitation="ask"))
    config = TestConfig(ToolCallEvent(name=tool, arguments="{}"), "Done.")
    agent = Agent("clerk", config=config, tools=[toolkit], hitl_hook=nobody_comes)
    reply = await agent.ask("Welcome.")
    (result,) = [event for event in await reply.history.get_events() if isinstance(event, ToolResultEvent)]
    assert result.result.parts == [TextInput(content=text)]


def nobody_comes(event: HumanInputRequest) -> str:
    raise AssertionError("ag2 asks somebody after all: say so in docs/how-to/hosts.md.")

"""The stories of the inn, told by a pydantic-ai agent without a model. Run it as `test_ag2.py` is run."""

from typing import Literal

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from examples.hosts.agents.on_pydantic_ai import toolset
from examples.hosts.inn import mcp
from examples.hosts.stories import STORIES, Story

pytestmark = pytest.mark.anyio


def calls_once(story: Story) -> FunctionModel:
    """A model that calls the story's tool and repeats what came of it."""

    def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse([TextPart(str(last.content))])
        return ModelResponse([ToolCallPart(story.tool, story.arguments)])

    return FunctionModel(respond)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("name", STORIES)
async def test_a_guest_is_asked(name: str, mode: Literal["auto", "legacy"]):
    story = STORIES[name]
    person = story.person()
    tools = toolset(mcp, person, mode)
    async with Agent(calls_once(story), toolsets=[tools]) as agent:
        assert (await agent.run("Welcome.")).output == story.text
    assert person.visited == story.visits
    person.finish()

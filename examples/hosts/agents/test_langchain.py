"""The stories of the inn, told by LangChain's tools without a model. Run it as `test_ag2.py` is run."""

from typing import Any, Literal

import pytest

from examples.hosts.agents.on_langchain import adapter
from examples.hosts.inn import mcp
from examples.hosts.stories import STORIES

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("name", STORIES)
async def test_a_guest_is_asked(name: str, mode: Literal["auto", "legacy"]):
    story = STORIES[name]
    person = story.person()
    async with adapter(mcp, person, mode) as inn:
        tools = {tool.name: tool for tool in await inn.list_tools()}
        blocks: list[dict[str, Any]] = await tools[story.tool].ainvoke(story.arguments)
    assert [block["text"] for block in blocks] == [story.text]
    assert person.visited == story.visits
    person.finish()

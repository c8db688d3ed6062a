"""Lines as they are typed at a terminal, or as they come through a pipe."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TextIO

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import NestedCompleter
from prompt_toolkit.patch_stdout import patch_stdout

PROMPT = "askback> "

CHUNK = 65536
"""Bytes that are read at once; lines of a pipe may come together."""


async def typed_lines(tools: Mapping[str, Sequence[str]]) -> AsyncGenerator[str]:
    """With history and completion, while calls print above the line, until Ctrl-D or Ctrl-C."""
    servers = {label: dict.fromkeys(names) for label, names in tools.items()}
    only = next(iter(servers.values())) if len(servers) == 1 else {}
    completer = NestedCompleter.from_nested_dict({**servers, **only, "help": None, "quit": None})
    session: PromptSession[str] = PromptSession(PROMPT, completer=completer, complete_while_typing=False)
    with patch_stdout(raw=True):
        while True:
            try:
                yield await session.prompt_async(handle_sigint=False)
            except (EOFError, KeyboardInterrupt):
                return


async def piped_lines(stream: TextIO) -> AsyncGenerator[str]:
    """Until the other end closes. Waited for in the event loop: a thread that reads could not be called off."""
    waiting = b""
    while True:
        await anyio.wait_readable(stream.fileno())
        chunk = os.read(stream.fileno(), CHUNK)
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole if chunk else [waiting]:
            yield line.decode("utf-8", "replace")
        if not chunk:
            return

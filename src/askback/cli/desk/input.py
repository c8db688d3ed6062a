"""Lines as they are typed at a terminal, or as they come through a pipe."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TextIO

import anyio
import anyio.lowlevel
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import DynamicCompleter, NestedCompleter
from prompt_toolkit.patch_stdout import patch_stdout

PROMPT = "askback> "

CHUNK = 65536
"""Bytes that are read at once; lines of a pipe may come together."""


Tools = Callable[[], Mapping[str, Sequence[str]]]
"""What can be called by now, by server; some servers come later than others."""


async def read_typed_lines(tools: Tools) -> AsyncGenerator[str]:
    """With history and completion, while calls print above the line, until Ctrl-D or Ctrl-C."""
    completer = DynamicCompleter(lambda: _completer(tools()))
    session: PromptSession[str] = PromptSession(PROMPT, completer=completer, complete_while_typing=False)
    with patch_stdout(raw=True):
        while True:
            try:
                yield await session.prompt_async(handle_sigint=False)
            except (EOFError, KeyboardInterrupt):
                return


def _completer(tools: Mapping[str, Sequence[str]]) -> NestedCompleter:
    servers = {label: dict.fromkeys(names) for label, names in tools.items()}
    only = next(iter(servers.values())) if len(servers) == 1 else {}
    return NestedCompleter.from_nested_dict({**servers, **only, "help": None, "quit": None})


async def read_piped_lines(stream: TextIO | None) -> AsyncGenerator[str]:
    """Until the other end closes, or the file ends; without a stream there are none."""
    waiting = b""
    while stream is not None:
        await _readable(stream)
        chunk = os.read(stream.fileno(), CHUNK)
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole if chunk else [waiting]:
            yield line.decode("utf-8", "replace")
        if not chunk:
            return


async def _readable(stream: TextIO) -> None:
    """Waited for in the event loop: a thread that reads could not be called off."""
    try:
        await anyio.wait_readable(stream.fileno())
    except PermissionError:
        # epoll knows no waiting on files and /dev/null; reading from them never has to wait.
        await anyio.lowlevel.checkpoint()

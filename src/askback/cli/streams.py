"""Standard streams as a shell hands them over: a terminal, a pipe, a file, or nothing at all."""

from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Python has None for a stream that the shell has closed, as in `<&-`."""
    return stream is not None and not stream.closed and stream.isatty()

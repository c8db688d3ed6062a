"""A browser that writes down where it is led: `follower.py NOTE [OPTION...] PAGE` adds the link to NOTE.

Run as a program by the path of this file, so that it works from any folder.
"""

import html
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOLLOWER = str(Path(__file__).resolve())

_REFRESH = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]*)">')


def link_in(argument: str) -> str:
    """Where a browser that is started with this argument ends up."""
    place, is_file, url = argument.partition("file://")
    if not is_file:
        return argument
    led = _REFRESH.search(Path(unquote(urlsplit(is_file + url).path)).read_text())
    assert led is not None, "The file leads nowhere."
    return place + html.unescape(led[1])


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a") as note:
        note.write(link_in(sys.argv[-1]) + "\n")

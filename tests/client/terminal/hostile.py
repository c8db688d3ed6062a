"""What a hostile server may write wherever it can write, and what of it must never reach a terminal."""

import random
import re
import unicodedata
from typing import Any

from wcwidth import wcwidth


def is_drawn(character: str) -> bool:
    """The emulator, unlike terminals, gives up a line at a mark that stands by itself."""
    return wcwidth(character) != 0 or unicodedata.combining(character) != 0


BIDI = "\u202e\u2066\u200b\u200f\ufeff"
TEXTS: dict[str, str] = {
    "title": "\x1b]0;owned\x07 and \x1b]2;owned\x1b\\ done",
    "clipboard": "\x1b]52;c;b3duZWQ=\x07 done",
    "link": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "cursor": "\x1b[2J\x1b[H\x1b[?25l\x1b[10;10HFAKE\x1b[s\x1b7",
    "device": "\x1bP$qm\x1b\\ \x1b_apc\x1b\\ \x1b^pm\x1b\\ \x1bc \x1b[c \x1b[6n",
    "eight bits": "\x9b2J \x9d0;owned\x9c \x90q\x9c",
    "overwriting": "safe\r\x08\x08\x08\x7fFAKE\x0b\x0c\x00",
    "bidi": f"{BIDI}elpmaxe.live{BIDI}",
    "markup": "<b>bold</b> [bold]rich[/bold] **md** {style} %s {0} <ansired>red</ansired>",
    "half": "\ud800\udfff lone",
    "marks": "z" + "\u0301" * 500,
    "frame": "└──────┘\n────────\n [ Send ]  [ Decline Ctrl-D ]\n > Send < verified by Askback",
    "random": "".join(map(chr, random.Random(4).choices(range(256), k=600))),
    "random unicode": "".join(filter(is_drawn, map(chr, random.Random(5).choices(range(0x30000), k=600)))),
}

_ORDER = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_OURS = re.compile(rb"\x1b\[(\?(1049|25|7|12|1|2004|1000|1003|1006|1015)[hl]|[0-9;]*[ABCDHJKmn])")
"""What the screen is drawn with: moving, erasing, styles, and its own modes."""


def schema_of(text: str) -> dict[str, Any]:
    """A form that carries the text in every place it has."""
    option = {"const": f"v{text}", "title": f"o{text}"}
    return {
        "type": "object",
        "title": text,
        "properties": {
            "note": {"type": "string", "title": f"t{text}", "description": f"d{text}", "default": f"x{text}"},
            f"n{text}": {"type": "string", "description": f"d{text}"},
            "one": {"type": "string", "oneOf": [option, {"const": "b", "title": "B"}], "default": f"v{text}"},
            "many": {"type": "array", "items": {"anyOf": [option]}, "default": [f"v{text}"]},
            "old": {"type": "string", "enum": [f"e{text}", "c"], "enumNames": [f"E{text}", "C"]},
            f"bad{text}": {"type": "object", "title": text},
        },
    }


def strange_orders(written: bytes) -> list[bytes]:
    """Escape sequences that are not of the kind we draw with, and control bytes outside of any."""
    orders = [order for order in _ORDER.findall(written) if not _OURS.fullmatch(order)]
    rest = _ORDER.sub(b"", written)
    controls = [bytes([byte]) for byte in rest if byte < 32 and byte not in b"\r\n\x08"]
    eight_bit = re.findall("[\u0080-\u009f]", rest.decode("utf-8", "replace"))
    return [*orders, *controls, *(one.encode() for one in eight_bit)]

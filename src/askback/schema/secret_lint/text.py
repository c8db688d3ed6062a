"""Texts as plain words, out of any disguise. Knows letters, not meanings.

Folding takes away accents, invisible characters and look-alikes from other scripts. Russian and Greek are folded like
everything else, so a table has to be read with the same eyes as the text that is looked up in it.
"""
# ruff: noqa: RUF001 - marks that look like others are meant as they stand

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

PUNCTUATION: Final = {". ": "。।", "? ": "؟", ",": "、،", "σ": "ς"}
"""Marks of other scripts that part sentences as ours do, and the sigma that ends a word."""

BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters or symbols by their category, and yet nothing is drawn."""

UNSPACED: Final = "\u0590-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Scripts written without spaces, or with articles and particles glued to the words."""

DOT_NAMES: Final = (
    "env", "netrc", "npmrc", "pypirc", "pgpass", "htpasswd", "git-credentials", "dockercfg", "docker", "kube", "ssh",
    "pem",
)  # fmt: skip
"""Files and folders of secrets whose dot is part of their name: ".env" is one, and "env" is any environment."""

SIGNS: Final = frozenset("@$|+!")
"""Marks that also stand in for letters."""
ENDS: Final = frozenset(".;?!")
BOUNDS: Final = ENDS | frozenset(":\n")
MARKS: Final = BOUNDS | SIGNS | frozenset(",()")

_PIECE = re.compile(rf"[{UNSPACED}]+|[^\x00-@\[-`{{-\x7f{UNSPACED}]+|[0-9]+|[,:;?()\n@$|+!]|\.(?!\S)")
_DOT_NAME = re.compile(rf"(?<![A-Za-z0-9_.])\.(?=(?:{'|'.join(DOT_NAMES)})(?![A-Za-z0-9]))", re.IGNORECASE)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Lower-case words and marks in order; `glued` says which follow the one before without a gap."""

    words: Sequence[str]
    glued: Sequence[bool]

    def is_whole(self, place: int) -> bool:
        """Whether it is a word by itself, and not the "open" of `OpenAI`."""
        after = place + 1
        is_glued_after = after < len(self.words) and self.glued[after] and self.words[after] not in MARKS
        return not self.glued[place] and not is_glued_after


def read(text: str) -> FoldedText:
    """Cut where a person sees a gap, a hump of camelCase, a digit or a mark."""
    words: list[str] = []
    glued: list[bool] = []
    end = -1
    folded = fold(text)
    for piece in _PIECE.finditer(_DOT_NAME.sub("dot", folded) if "." in folded else folded):
        humps = _HUMP.findall(piece[0]) if piece[0].isascii() and piece[0].isalpha() else [piece[0]]
        words += [hump.lower() for hump in humps]
        glued += [piece.start() == end] + [True] * (len(humps) - 1)
        end = piece.end()
    return FoldedText(words, glued)


def fold(text: str, *sections: str) -> str:
    """Plain letters in their case, ASCII digits, marks, and spaces for everything else that is seen.

    Letters of other scripts that look like Latin ones become those. Sections of `look_alikes.txt` add more: "drawn" has
    signs and letters of every script, "other" has alphabets that are used as decoration. They take too much for a
    letter, so use them only where a false alarm does no harm.
    """
    # Combining marks go before composing: to sort a long run of them takes quadratic time.
    seen = text if text.isascii() else unicodedata.normalize("NFC", "".join(filter(_is_seen, text)))
    return "".join(_fold_character(character, sections) for character in seen)


def is_unspaced(text: str) -> bool:
    """Whether it holds a script in which words are found inside others."""
    return _UNSPACED.search(text) is not None


@lru_cache(maxsize=4_096)
def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in ("Mn", "Me", "Cf") and character not in BLANKS


@lru_cache(maxsize=4_096)
def _fold_character(character: str, sections: tuple[str, ...]) -> str:
    table = _table_of(sections)
    is_hangul = "\uac00" <= character <= "\ud7a3"
    if is_hangul or character in table:
        return table.get(character, character)
    return "".join(_fold_part(part, table) for part in unicodedata.normalize("NFKD", character))


def _fold_part(part: str, table: Mapping[str, str]) -> str:
    category = unicodedata.category(part)
    if part in table:
        return table[part]
    if category == "Nd":
        return str(unicodedata.digit(part))
    if category[0] == "L" or category == "Mc" or part in MARKS:
        return part
    return " " if _is_seen(part) else ""


_TABLE = (files("askback.schema.secret_lint") / "look_alikes.txt").read_text(encoding="ascii").splitlines()
"""Read at import: the first question is asked on an event loop, which no file may hold up."""


@cache
def look_alikes(section: str) -> Mapping[str, str]:
    """What each character of that section of the table looks like."""
    rows = (line.split() for line in _TABLE if line.startswith(f"{section} "))
    return {chr(int(point, 16)): plain for _, plain, *points in rows for point in points}


@cache
def _table_of(sections: tuple[str, ...]) -> Mapping[str, str]:
    table = {
        **look_alikes("letters"),
        **{twin: plain for plain, twins in PUNCTUATION.items() for twin in twins},
    }
    for section in sections:
        table |= look_alikes(section)
    return table

"""Texts as plain words, out of any disguise. Knows letters, not meanings.

Folding takes away accents, invisible characters and look-alikes from other scripts. Russian and Greek are folded like
everything else, so a table has to be read with the same eyes as the text that is looked up in it.
"""
# ruff: noqa: RUF001 - letters that look like others are what this module is about

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

LOOK_ALIKES: Final = {
    "a": "аαɑᴀ", "b": "вьƅʙ", "c": "сϲᴄⲥ", "d": "ԁđðᴅɖⲇ", "e": "еεҽᴇєɛⲉ℮ꬲəɘ", "f": "ꜰƒ", "g": "ɡցɢ", "h": "нһհʜħ",
    "i": "іιıɪɩ", "j": "јᴊϳ", "k": "кκᴋĸ", "l": "ӏłʟɭⳑǀ∣￨׀", "m": "мᴍ", "n": "ոηɴŋп", "o": "оοօᴏøⲟ", "p": "рρᴘþⲣ",
    "q": "ԛǫգ", "r": "ᴦʀгɾ", "s": "ѕꜱʂ", "t": "тτᴛŧⲧ", "u": "υսᴜʋ", "v": "νѵᴠ", "w": "ԝѡᴡɯ", "x": "хχ", "y": "уүʏγ",
    "z": "ᴢʐ", "ss": "ß", "ae": "æ", "oe": "œ", "σ": "ς",
    "A": "АΑᎪꓮⲀ", "B": "ВΒᏴЬꓐⲂ", "C": "СϹᏟꓚⲤ", "D": "ĐᎠꓓᗪ", "E": "ЕΕᎬЄꓰⲈƐ", "F": "Ϝꓝ", "G": "ᏀԌꓖ", "H": "НΗᎻꓧⲎ",
    "I": "ІΙӀꓲⲒ", "J": "ЈᎫꓙ", "K": "КΚᏦꓗⲔ", "L": "ᏞŁꓡᒪⳐ", "M": "МΜᎷꓟⲘ", "N": "ΝПꓠⲚ", "O": "ОΟՕØꓳⲞ", "P": "РΡᏢꓑⲢ",
    "Q": "Ԛ", "R": "ᏒГꓣᎡ", "S": "ЅᏚՏꓢ", "T": "ТΤᎢꓔⲦ", "U": "Սꓴ", "V": "ѴᏙꓦ", "W": "ԜᎳѠꓪ", "X": "ХΧꓫⲬ", "Y": "УΥҮꓬⲨ",
    "Z": "ΖᏃꓜⲌ",
    ". ": "。।", "? ": "؟", ",": "、،",
}  # fmt: skip
"""Letters that pass for Latin ones, capitals apart from small letters because Greek "Ν" is N and "ν" is v."""

ENCLOSED: Final = (0x1F150, 0x1F170, 0x1F1E6)
"""Where white-on-black letters and flag letters begin, which Unicode does not fold to A to Z."""

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
class Reading:
    """Lower-case words and marks in order; `glued` says which follow the one before without a gap."""

    words: Sequence[str]
    glued: Sequence[bool]

    def is_whole(self, place: int) -> bool:
        """Whether it is a word by itself, and not the "open" of `OpenAI`."""
        after = place + 1
        is_glued_after = after < len(self.words) and self.glued[after] and self.words[after] not in MARKS
        return not self.glued[place] and not is_glued_after


def read(text: str) -> Reading:
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
    return Reading(words, glued)


def fold(text: str) -> str:
    """Plain letters in their case, ASCII digits, marks, and spaces for everything else that is seen."""
    # Combining marks go before composing: to sort a long run of them takes quadratic time.
    shown = text if text.isascii() else unicodedata.normalize("NFC", "".join(filter(_is_seen, text)))
    return "".join(map(_fold_character, shown))


def is_unspaced(text: str) -> bool:
    """Whether it holds a script in which words are found inside others."""
    return _UNSPACED.search(text) is not None


@lru_cache(maxsize=4_096)
def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in ("Mn", "Me", "Cf") and character not in BLANKS


@lru_cache(maxsize=4_096)
def _fold_character(character: str) -> str:
    is_hangul = "\uac00" <= character <= "\ud7a3"
    if is_hangul or character in _look_alikes():
        return _look_alikes().get(character, character)
    return "".join(map(_fold_part, unicodedata.normalize("NFKD", character)))


def _fold_part(part: str) -> str:
    category = unicodedata.category(part)
    if part in _look_alikes():
        return _look_alikes()[part]
    if category == "Nd":
        return str(unicodedata.digit(part))
    if category[0] == "L" or category == "Mc" or part in MARKS:
        return part
    return " " if _is_seen(part) else ""


@cache
def _look_alikes() -> dict[str, str]:
    twins = {twin: plain for plain, twins in LOOK_ALIKES.items() for twin in twins}
    return twins | {chr(first + place): chr(ord("A") + place) for first in ENCLOSED for place in range(26)}

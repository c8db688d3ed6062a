"""Writes the table of letters and signs that look like Latin letters and digits, which folding reads.

Three sources: Unicode's list of confusables, the names of Unicode's characters ("LATIN SMALL LETTER D WITH HOOK"), and
what is listed below because neither has it. The first is read from `confusables.json` of the PyPI package
confusable-homoglyphs: `pip download --no-deps confusable-homoglyphs`, unzip it, and run
`python -m scripts.look_alikes confusable_homoglyphs/confusables.json`.
"""
# ruff: noqa: RUF001 - letters that look like others are what this module is about

import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Final

TABLE: Final = Path(__file__).parent.parent / "src/askback/schema/secret_lint/look_alikes.txt"

HEAD: Final = """\
# Letters and signs that look like Latin letters and digits. Written by `python -m scripts.look_alikes`; do not edit.
# Derived from Unicode's confusables.txt and from the names of characters. Copyright 1991-present Unicode, Inc., under
# the Unicode License, https://www.unicode.org/license.txt
# A line has its section, what is meant, and the code points that look like it. Sections:
#   letters  in any text
#   drawn    only where it does no harm to take too much for a letter: signs, and letters of scripts without Latin looks
#   other    what a letter may be meant for although it looks more like another one
#   above    small letters that are drawn above or below others
"""

PICKED: Final = {
    "a": "аαɑᴀ", "b": "вьƅʙ", "c": "сϲᴄⲥ", "d": "ԁđðᴅɖⲇ", "e": "еεҽᴇєɛⲉ℮ꬲəɘ", "f": "ꜰƒ", "g": "ɡցɢ", "h": "нһհʜħ",
    "i": "іιıɪɩ", "j": "јᴊϳ", "k": "кκᴋĸ", "l": "ӏłŀʟɭⳑǀ∣￨׀", "m": "мᴍ", "n": "ոηɴŋп", "o": "оοօᴏøⲟ", "p": "рρᴘþⲣ",
    "q": "ԛǫգ", "r": "ᴦʀгɾ", "s": "ѕꜱʂ", "t": "тτᴛŧⲧ", "u": "υսᴜʋ", "v": "νѵᴠ", "w": "ԝѡᴡɯ", "x": "хχ", "y": "уүʏγ",
    "z": "ᴢʐ", "ss": "ß", "ae": "æ", "oe": "œ", "AE": "Æ", "OE": "Œ",
    "A": "АΑᎪꓮⲀ", "B": "ВΒᏴЬꓐⲂ", "C": "СϹᏟꓚⲤ", "D": "ĐᎠꓓᗪ", "E": "ЕΕᎬЄꓰⲈƐ", "F": "Ϝꓝ", "G": "ᏀԌꓖ", "H": "НΗᎻꓧⲎ",
    "I": "ІΙӀꓲⲒ", "J": "ЈᎫꓙ", "K": "КΚᏦꓗⲔ", "L": "ᏞŁĿꓡᒪⳐ", "M": "МΜᎷꓟⲘ", "N": "ΝПꓠⲚ", "O": "ОΟՕØꓳⲞ", "P": "РΡᏢꓑⲢ",
    "Q": "Ԛ", "R": "ᏒГꓣᎡ", "S": "ЅᏚՏꓢ", "T": "ТΤᎢꓔⲦ", "U": "Սꓴ", "V": "ѴᏙꓦ", "W": "ԜᎳѠꓪ", "X": "ХΧꓫⲬ", "Y": "УΥҮꓬⲨ",
    "Z": "ΖᏃꓜⲌ",
}  # fmt: skip
"""Letters for any text, capitals apart from small ones because Greek "Ν" is N and "ν" is v. They come first: Unicode's
list has no case for I and l, and lacks what resembles a letter only in some fonts."""

ALPHABETS: Final = (
    "ᗩᗷᑕᗪEᖴGᕼIᒍKᒪᗰᑎOᑭᑫᖇᔕTᑌᐯᗯ᙭Yᘔ",
    "₳฿₵ĐɆ₣₲ⱧłJ₭Ⱡ₥₦Ø₱QⱤ₴₮ɄV₩ӾɎⱫ",
    "卂乃匚ᗪ乇千Ꮆ卄丨ﾌҜㄥ爪几ㄖ卩Ɋ尺丂ㄒㄩᐯ山乂ㄚ乙",
    "αв¢∂єƒgнιנкℓмησρqяѕтυνωχуz",
    "ꍏꌃꉓꀸꍟꎇꁅꃅꀤꀭꀘ꒒ꂵꈤꂦꉣꆰꋪꌗ꓄ꀎꃴꅏꊼꌩꁴ",
    "ᏗᏰፈᎴᏋᎦᎶᏂᎥᏠᏦᏝᎷᏁᎧᎮᎤᏒᏕᏖᏬᏉᏇጀᎩፚ",
    "αႦƈԃҽϝɠԋιʝƙʅɱɳσρϙɾʂƚυʋɯxყȥ",
    "ąҍçժҽƒցհiʝҟӀʍղօքզɾʂէմѵաxվz",
    "ԹՅՇԺԷԲԳɧɿʝkԼʍՌԾρφՐՏԵՄvաՃՎՀ",
    "ﾑ乃ᄃり乇ｷムんﾉﾌズﾚﾶ刀のｱゐ尺丂ｲひ√Wﾒﾘ乙",
    "คҌς๔ЄŦﻮђเךкɭ๓ภ๏קợгรՇยשฬאץz",
    "ΛβᄃΔΣҒɢΉIJΚᄂMПΘPΩЯƧƬЦVЩXΥZ",
)
"""A to z in the alphabets of programs that decorate texts."""

MORE: Final = {
    "a": "∀", "b": "β", "d": "δ", "e": "€∈∊", "g": "⅁", "h": "♄", "l": "£₤ן", "o": "○●◯◉⊙⚪⚫⭕", "s": "§",
    "t": "†‡✝✞✟", "u": "∪", "v": "∨", "x": "×✕✖❌", "y": "¥", "z": "ᔭ",
}  # fmt: skip
"""Further signs that stand for letters."""

TELLING: Final = {
    "SCHWA": "e",
    "ALPHA": "a",
    "IOTA": "i",
    "UPSILON": "u",
    "GAMMA": "y",
    "CHI": "x",
    "BETA": "b",
}
"""Names of letters that are no letter themselves, and what those look like."""

LINES: Final = re.compile(
    r"(?:\w+ )*(?:VERTICAL|BROKEN) (?:LINE|BAR)(?: EXTENSION)?|BOX DRAWINGS (?:LIGHT|HEAVY)(?: \w+ DASH)? VERTICAL"
)
"""Names of upright lines."""

SIGNS: Final = "@$!|+"
"""ASCII signs that stand in for letters, as the tables of leet have them."""

UNSPACED: Final = re.compile(r"HEBREW|ARABIC|THAI|HIRAGANA|KATAKANA|CJK|HANGUL|BOPOMOFO")
"""Scripts in whose natural texts no letter may be taken for a Latin one: words are looked for inside others."""

NATURAL: Final = "σ"
"""A letter that is itself in any text: its capital looks like no Latin letter, so a word would have two spellings."""

_NAME: Final = re.compile(
    r"LATIN (?:EPIGRAPHIC LETTER|SUBSCRIPT (?:SMALL|CAPITAL) LETTER|(?P<case>CAPITAL|SMALL) LETTER|"
    r"LETTER SMALL CAPITAL|LETTER) (?!SIDEWAYS)(?:[A-Z-]+ )*?"
    rf"(?P<letter>[A-Z]|{'|'.join(TELLING)})(?P<more> (?:WITH|BAR|BELOW|ABOVE|ROTUNDA|LONGA|REVERSED|CEDILLA).*)?$"
)


def main() -> None:
    TABLE.write_text(HEAD + "\n".join(Resolver(_twins(Path(sys.argv[1]))).lines()) + "\n")


def _twins(source: Path) -> Mapping[str, list[str]]:
    """The texts that each character is confused with; letters of scripts from right to left are given in marks."""
    listed = json.loads(source.read_text(encoding="utf-8"))
    return {
        _bare(text): [_bare(twin["c"]) for twin in twins] for text, twins in listed.items() if _bare(text)
    }


def _bare(text: str) -> str:
    return text.replace("\u200e", "")


class Resolver:
    """What each character looks like, by the first source that knows."""

    def __init__(self, twins: Mapping[str, list[str]]) -> None:
        self._twins = twins
        self._picked = {twin: plain for plain, row in PICKED.items() for twin in row}
        self._drawn = {twin: plain for plain, row in MORE.items() for twin in row}
        for alphabet in ALPHABETS:
            for twin, plain in zip(alphabet, ascii_lowercase, strict=True):
                self._drawn.setdefault(twin, plain)

    def lines(self) -> Iterator[str]:
        rows: dict[tuple[str, str], list[int]] = {}
        for point in range(0x80, sys.maxunicode + 1):
            for found in self._places(chr(point)):
                rows.setdefault(found, []).append(point)
        for (section, plain), points in sorted(rows.items()):
            yield f"{section} {plain} {' '.join(f'{point:X}' for point in points)}"

    def _places(self, character: str) -> Iterator[tuple[str, str]]:
        """Its sections and what it looks like."""
        found = self._place(character)
        if found is None:
            return
        yield found
        others = (self._drawn.get(character), _named(character), _plain(character))
        for other in [other.lower() for other in others if other]:
            if found[0] != "above" and other != found[1].lower():
                yield "other", other
                return

    def _place(self, character: str) -> tuple[str, str] | None:
        """Its section and what it looks like most, where folding would not find that out by itself."""
        category = unicodedata.category(character)
        if category[0] == "C":
            return None
        plain = self.resolve(character)
        if plain is None or self._is_found_by_folding(character, plain):
            return None
        if category in ("Mn", "Me"):
            return ("above", plain.lower()) if "LETTER" in unicodedata.name(character) else None
        return ("letters" if self._is_for_any_text(character, plain) else "drawn"), plain

    def _is_found_by_folding(self, character: str, plain: str) -> bool:
        """Whether its parts look so, too, or it is a letter or digit between brackets."""
        parts = unicodedata.normalize("NFKD", character)
        if parts == character or character in self._picked:
            return False
        if unicodedata.category(character)[0] != "L" and re.search("[A-Za-z0-9]", parts):
            return True
        return plain == "".join(
            self.resolve(part) or part for part in parts if not unicodedata.combining(part)
        )

    def _is_for_any_text(self, character: str, plain: str) -> bool:
        if character in self._picked:
            return True
        if len(plain) > 1 or not plain.isalpha() or character in NATURAL:
            return False
        name = unicodedata.name(character, "")
        is_letter = unicodedata.category(character)[0] == "L" and not UNSPACED.search(name)
        is_latin = _NAME.search(name) or name.startswith("REGIONAL")
        return bool(is_latin) or (is_letter and self._listed(character) is not None)

    def resolve(self, character: str, depth: int = 0) -> str | None:
        if character.isascii():
            return character if character.isalnum() or character in SIGNS else None
        if depth > 3:
            return None
        return (
            self._picked.get(character)
            or _plain(character)
            or self._listed(character)
            or _named(character)
            or self._drawn.get(character)
            or self._listed_as_others(character, depth)
            or self._varied(character, depth)
        )

    def _listed(self, character: str) -> str | None:
        """As Unicode's list has it; an upright stroke is I where it is a capital."""
        for twin in self._twins.get(character, ()):
            if twin.isascii() and (twin.isalnum() or twin in SIGNS):
                is_capital = twin == "l" and unicodedata.category(character) == "Lu"
                return {"rn": "m"}.get(twin, "I" if is_capital else twin)
        return None

    def _listed_as_others(self, character: str, depth: int) -> str | None:
        """Through a twin that is no ASCII but looks like it; marks and dots of the twin are left out."""
        for twin in self._twins.get(character, ()):
            letters = [
                part for part in unicodedata.normalize("NFKD", twin) if part.isalnum() or part in SIGNS
            ]
            read = [self.resolve(part, depth + 1) for part in letters]
            if letters and all(read):
                return "".join(filter(None, read))
        return None

    def _varied(self, character: str, depth: int) -> str | None:
        """As the letter that it is a variant of: CYRILLIC SMALL LETTER EN WITH DESCENDER."""
        name = unicodedata.name(character, "")
        base = re.sub(r"^COMBINING CYRILLIC LETTER", "CYRILLIC SMALL LETTER", name.partition(" WITH ")[0])
        if base == name or "LETTER" not in name:
            return None
        try:
            return self.resolve(unicodedata.lookup(base), depth + 1)
        except KeyError:
            return None


def _plain(character: str) -> str | None:
    """What it decomposes to, without marks, if that is ASCII."""
    parts = [part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part)]
    text = "".join(parts)
    return text if text.isascii() and text.isalnum() else None


def _named(character: str) -> str | None:
    name = unicodedata.name(character, "")
    if name.startswith("REGIONAL INDICATOR SYMBOL LETTER"):
        return name[-1]
    if LINES.fullmatch(name):
        return "l"
    found = _NAME.search(name)
    if not found:
        return None
    letter = TELLING.get(found["letter"], found["letter"].lower())
    return letter.upper() if found["case"] == "CAPITAL" else letter


if __name__ == "__main__":
    main()

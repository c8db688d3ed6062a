"""Whether a text looks like a key or card that was pasted by mistake. Shapes alone: nothing is looked up or sent.

Ids that people do paste pass: UUIDs, hashes in hex, base32, order numbers, words with hyphens, links. What is left is
either marked by its issuer, or a run of letters and digits as mixed as only chance mixes them. Every shape begins
where a word begins, so that a long text is read once.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

_START: Final = r"(?<![A-Za-z0-9_-])"

_ISSUED: Final = {
    "a private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    "a GitHub token": rf"{_START}(?:gh[opusr]_[A-Za-z0-9]{{30,}}|github_pat_[A-Za-z0-9_]{{30,}})",
    "a GitLab token": rf"{_START}gl(?:pat|dt|ptt|rt|soat)-[A-Za-z0-9_-]{{20,}}",
    "an AWS access key": rf"{_START}(?:AKIA|ASIA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
    "a Google API key": rf"{_START}AIza[A-Za-z0-9_-]{{35}}",
    "a Google token": rf"{_START}(?:ya29\.[A-Za-z0-9_-]{{20,}}|GOCSPX-[A-Za-z0-9_-]{{20,}})",
    "a Slack token": rf"{_START}(?:xox[abeoprs]-[A-Za-z0-9-]{{10,}}|xapp-\d-[A-Za-z0-9-]{{10,}})",
    "a Stripe key": rf"{_START}(?:[rs]k_(?:live|test)_[A-Za-z0-9]{{10,}}|whsec_[A-Za-z0-9+/=]{{20,}})",
    "an npm token": rf"{_START}npm_[A-Za-z0-9]{{36}}",
    "a PyPI token": rf"{_START}pypi-[A-Za-z0-9_-]{{50,}}",
    "a Hugging Face token": rf"{_START}hf_[A-Za-z0-9]{{30,}}",
    "a SendGrid key": rf"{_START}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}",
    "a Telegram bot token": rf"{_START}\d{{8,10}}:[A-Za-z0-9_-]{{35}}(?![A-Za-z0-9_-])",
    "an access token": (
        rf"{_START}(?:dop_v1_[a-f0-9]{{64}}|dapi[a-f0-9]{{32}}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}"
        r"|hv[sb]\.[A-Za-z0-9_-]{24,}|lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{32,}|xai-[A-Za-z0-9]{32,}"
        r"|gsk_[A-Za-z0-9]{32,}|r8_[A-Za-z0-9]{32,}|dckr_pat_[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{40,}"
        r"|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,})"
    ),
    "a signed token (JWT)": rf"{_START}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.",
    "an address with a password in it": r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:@]{0,100}:[^\s/?#@]{1,100}@",
}
"""What issuers write before their keys, so that programs like this one know them."""

_SK: Final = re.compile(rf"{_START}sk-[A-Za-z0-9_-]{{20,}}")
"""The mark of several makers of models; also how "sk-learn-..." begins, so the rest has to be mixed."""

_LINK: Final = re.compile(r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://\S+|[^\s,;]{0,60};base64,\S+)")
_RUN: Final = re.compile(r"[A-Za-z0-9+/_=-]+")
_GROUPS: Final = re.compile(r"(?<![\w.-])\d{3,19}(?:[ -]\d{3,19}){0,6}(?![\w-])")
"""Digits as they stand on cards, perhaps with more before and behind them."""

_SHORTEST: Final = 13
"""Characters; below are neither keys nor card numbers."""

_RUN_LENGTHS: Final = range(32, 201)
"""Characters of a run that may be a key by its mixture alone: shorter ones are ids, longer ones files."""

_MIXED: Final = 0.42
"""Share of neighbours of different kind (capital, small, digit). Chance gives 0.62, words with humps up to 0.35."""

_ISSUERS: Final = (
    (r"4", {13, 16, 19}),
    (r"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)", {16}),
    (r"3[47]", {15}),
    (r"3(?:0[0-5]|[689])", {14, 16}),
    (r"6(?:011|4[4-9]|5)|35(?:2[89]|[3-8])|62", {16, 17, 18, 19}),
)
"""How card numbers begin, and how long they are then. A telephone's own number (35..., 15 digits) is none."""

_BEGINNINGS: Final = tuple((re.compile(begins), lengths) for begins, lengths in _ISSUERS)


def recognize_key(text: str) -> str | None:
    """What the text looks like, as the end of a sentence: "looks like a GitHub token"."""
    if len(text) < _SHORTEST:
        return None
    found = next((what for what, looks_so in _LOOKS if looks_so(text)), None)
    return None if found is None else f"looks like {found}"


_LOOKS: Final[Sequence[tuple[str, Callable[[str], object]]]] = (
    *((what, re.compile(shape).search) for what, shape in _ISSUED.items()),
    ("an API key", lambda text: any(_is_mixed(one[0][3:]) for one in _SK.finditer(text))),
    ("a card number", lambda text: any(_holds_card(one[0]) for one in _GROUPS.finditer(text))),
    ("a key", lambda text: any(_is_random(one[0]) for one in _RUN.finditer(_LINK.sub(" ", text)))),
)
"""What a text can look like, and how that is found, in this order."""


def _is_random(run: str) -> bool:
    bare = run.rstrip("=")
    return len(bare) in _RUN_LENGTHS and bare.count("/") < len(bare) / 8 and _is_mixed(bare)


def _is_mixed(run: str) -> bool:
    """Whether capitals, small letters and digits follow each other as only chance has them."""
    kinds = [_kind(character) for character in run]
    known = [kind for kind in kinds if kind]
    changes = sum(one != other for one, other in pairwise(kinds) if one and other)
    return len(set(known)) == 3 and changes >= _MIXED * len(known)


def _kind(character: str) -> str:
    """Nothing for the marks between words."""
    if not character.isalnum():
        return ""
    return "digit" if character.isdecimal() else "capital" if character.isupper() else "small"


def _holds_card(written: str) -> bool:
    groups = re.split("[ -]", written)
    ends = range(1, len(groups) + 1)
    return any(_is_card("".join(groups[start:end])) for end in ends for start in range(end))


def _is_card(digits: str) -> bool:
    is_known = any(begins.match(digits) and len(digits) in lengths for begins, lengths in _BEGINNINGS)
    return is_known and _adds_up(digits)


def _adds_up(digits: str) -> bool:
    """Luhn's sum: every second digit from the right is doubled, its own digits added."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[::-2])) + sum(doubled)) % 10 == 0

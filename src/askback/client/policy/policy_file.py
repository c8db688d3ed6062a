"""A policy file, read: TOML, checked before anything is answered by it. Its errors say where and what to write."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from datetime import date, time
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, cast

from askback.client.policy.rules import AnswerWith, Decline, LeaveToPerson, Outcome, Policy, PolicyRule
from askback.errors import PolicyRefused

KINDS: Final = ("tool", "prompt", "resource")
"""The calls in which a server can ask; a rule names at most one of them."""

QUESTIONS: Final[dict[str | None, Literal["form", "visit"] | None]] = {
    None: None,
    "form": "form",
    "visit": "visit",
}

OUTCOMES: Final = ("answer", "decline", "ask")

KEYS: Final = ("name", "server", *KINDS, "message", "fields", "question", *OUTCOMES, "defaults", "secrets")

NOT_FOR_POLICIES: Final = {
    "accept": "answer = {...} for a form. A link is accepted by whoever opens it, so a policy can only write "
    "decline = true or ask = true for a visit",
    "open": "decline = true or ask = true: a policy opens no link, because nobody would see the page",
    "visit": 'question = "visit" with decline = true or ask = true',
    "cancel": "decline = true, or ask = true to leave it to a person",
    "regex": 'message = "..." with * for any text',
}
"""What somebody might write, and what there is."""

_HEADER = re.compile(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)


def load_policy(path: Path | str) -> Policy:
    """The policy in this file; raises `PolicyRefused`, with the place and what to write instead."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyRefused(
            file=str(path), problem=f"it cannot be read ({error})", instead="name a TOML file"
        ) from error
    return parse_policy(text, file=str(path))


def parse_policy(text: str, *, file: str) -> Policy:
    """The policy in a text; `file` is the name that its answers bear in records."""
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyRefused(file=file, problem=f"it is no TOML: {error}", instead="mend that line") from error
    rules = _tables(written, file)
    lines = [text.count("\n", 0, found.end()) + 1 for found in _HEADER.finditer(text)]
    return Policy(
        file=file,
        rules=tuple(
            _RuleReader(table, number, file, lines[number - 1] if len(lines) == len(rules) else None).rule()
            for number, table in enumerate(rules, start=1)
        ),
    )


def _tables(written: dict[str, Any], file: str) -> list[dict[str, Any]]:
    instead = "begin each rule with [[rule]]"
    if others := [key for key in written if key != "rule"]:
        raise PolicyRefused(file=file, problem=f"{others[0]!r} is not part of a policy", instead=instead)
    rules = written.get("rule")
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in cast("list[Any]", rules)):
        raise PolicyRefused(file=file, problem="it holds no list of rules", instead=instead)
    return cast("list[dict[str, Any]]", rules)


class _RuleReader:
    """One rule as it was written."""

    def __init__(self, table: Mapping[str, Any], number: int, file: str, at: int | None) -> None:
        self._table, self._number, self._file, self._at = table, number, file, at

    def rule(self) -> PolicyRule:
        self._require_known_keys()
        outcome = self._outcome()
        rule = PolicyRule(
            number=self._number,
            name=self._text("name"),
            server=self._text("server"),
            purpose=self._purpose(),
            message=self._text("message"),
            fields=self._names("fields"),
            question=self._question(),
            outcome=outcome,
        )
        self._require_sense(rule)
        return rule

    def _outcome(self) -> Outcome:
        given = [key for key in OUTCOMES if key in self._table]
        if len(given) != 1:
            said = f"says both {' and '.join(given)}" if given else "does not say what to do"
            self._refuse(said, "write one of answer = {...}, decline = true, ask = true")
        if given == ["answer"]:
            return self._answer()
        self._is_set(given[0])
        return Decline() if given == ["decline"] else LeaveToPerson()

    def _answer(self) -> Outcome:
        values = self._table["answer"]
        if not isinstance(values, dict):
            self._refuse("has an answer that is no table", "write answer = { field = value }")
        named = {name: self._value(name, value) for name, value in cast("dict[str, Any]", values).items()}
        return AnswerWith(
            values=named, with_defaults=self._is_set("defaults"), secrets=self._names("secrets")
        )

    def _value(self, name: str, value: Any) -> Any:
        """TOML has dates of its own; a form has them as text."""
        if isinstance(value, date | time):
            return value.isoformat()
        if isinstance(value, dict):
            self._refuse(f"answers {name} with a table", "forms are flat: write one value per field")
        return value

    def _purpose(self) -> str | None:
        given = [kind for kind in KINDS if kind in self._table]
        if len(given) > 1:
            self._refuse(
                f"names {' and '.join(given)}", "a question is asked in one call: write a rule for each"
            )
        return f"{given[0]} {self._text(given[0])}" if given else None

    def _question(self) -> Literal["form", "visit"] | None:
        kind = self._text("question")
        if kind not in QUESTIONS:
            self._refuse(f"has question = {kind!r}", 'write "form", "visit", or nothing for both')
        return QUESTIONS[kind]

    def _text(self, key: str) -> str | None:
        value = self._table.get(key)
        if value is not None and not isinstance(value, str):
            self._refuse(f"has {key} = {value!r}", f'write text: {key} = "..."')
        return value

    def _names(self, key: str) -> frozenset[str]:
        value = self._table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[Any]", value)):
            self._refuse(f"has {key} = {value!r}", f'write a list of field names: {key} = ["..."]')
        return frozenset(cast("list[str]", value))

    def _is_set(self, key: str) -> bool:
        """Whether the key is there; its only value is true."""
        if self._table.get(key, True) is not True:
            self._refuse(f"has {key} = {self._table[key]!r}", f"write {key} = true, or leave it out")
        return key in self._table

    def _require_known_keys(self) -> None:
        for key in self._table:
            if key in NOT_FOR_POLICIES:
                self._refuse(f"has {key!r}, which a policy does not know", f"write {NOT_FOR_POLICIES[key]}")
            if key not in KEYS:
                near = difflib.get_close_matches(key, KEYS, n=1)
                self._refuse(
                    f"has {key!r}, which a policy does not know",
                    f"write {near[0] if near else ', '.join(KEYS)}",
                )

    def _require_sense(self, rule: PolicyRule) -> None:
        answers = isinstance(rule.outcome, AnswerWith)
        for is_wrong, problem, instead in (
            (
                answers and rule.question == "visit",
                "answers a visit",
                "write decline = true or ask = true: a policy opens no link, because nobody would see the page",
            ),
            (
                answers and rule.server is None,
                "says what to answer, and not which server",
                'write server = "...": all else that a rule goes by is chosen by the server itself ("*" is any)',
            ),
            (
                not answers and bool({"defaults", "secrets"} & self._table.keys()),
                "has defaults or secrets without an answer",
                "leave them out, or write answer = {...}",
            ),
            (
                bool(rule.fields) and rule.question == "visit",
                "names fields of a visit, which has none",
                "leave out fields",
            ),
        ):
            if is_wrong:
                self._refuse(problem, instead)

    def _refuse(self, problem: str, instead: str) -> NoReturn:
        name = f" ({self._table['name']})" if isinstance(self._table.get("name"), str) else ""
        at = f", line {self._at}" if self._at else ""
        raise PolicyRefused(
            file=self._file, problem=f"rule {self._number}{name}{at} {problem}", instead=instead
        )

"""A problem with a reply, and the sentences that people read: about problems, guards and lengths of time.

A translator replaces sentences, `dataclasses.replace(Words(), missing="{title} fehlt.")`, or subclasses `Words` for
grammar that templates cannot hold.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from askback.errors import AuthorError
from askback.model.question import SINGLE

_UNITS = (
    (86_400, "a_day", "days"),
    (3_600, "an_hour", "hours"),
    (60, "a_minute", "minutes"),
    (1, "a_second", "seconds"),
)
"""Seconds, and the templates for one and for several units; the largest unit that leaves no rest is used."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that does not fit. Its facts are the question's, never the reply's, so they can be shown and logged."""

    code: str
    field: str | None = None
    title: str | None = None
    facts: Mapping[str, object] = dataclasses.field(default_factory=dict[str, object])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One `str.format` template per sentence; a translation may use the places that the English template has.

    `{title}` is the field's label, the others are facts of the problem.
    """

    not_a_reply: str = "The answer could not be read."
    unknown_action: str = "The answer was neither accepted, declined nor cancelled."
    no_content: str = "The form was accepted, but what was filled in did not arrive."
    too_large: str = "The answer is too large: {most} bytes is the most that can be taken."
    not_an_object: str = "The answer did not come as a filled-in form."
    missing: str = "{title} is needed."
    not_text: str = "{title} should be text."
    broken_text: str = "{title} contains characters that cannot be read."
    too_short: str = "{title} needs {least} or more characters."
    too_long: str = "{title} can have {most} characters at most."
    wrong_pattern: str = "{title} does not have the expected form."
    not_an_email: str = "{title} should be an email address, like name@example.org."
    not_a_url: str = "{title} should be a complete web address, from its very beginning."
    not_a_date: str = "{title} should be a date, like 2031-05-24."
    not_a_date_time: str = (
        "{title} should be a date and time with its offset, like 2031-05-24T09:30:00+02:00."
    )
    not_a_number: str = "{title} should be a number."
    not_whole: str = "{title} should be a whole number."
    too_low: str = "{title} should be {least} or more."
    too_high: str = "{title} should be {most} or less."
    not_above: str = "{title} should be more than {bound}."
    not_below: str = "{title} should be less than {bound}."
    not_a_multiple: str = "{title} should be a multiple of {step}."
    not_yes_or_no: str = "{title} should be yes or no."
    not_an_option: str = "{title} should be one of: {options}."
    not_a_list: str = "{title} should be a list of choices."
    too_few: str = "{title}: please choose {least} or more."
    too_many: str = "{title}: please choose {most} at most."
    chosen_twice: str = "{title}: each choice counts only once."
    refused: str = "{title}: {reason}"

    again: str = "{message}\n\nThe last answer did not fit:\n{problems}"
    still_open: str = (
        "{message}\n\nThis is still open: finish it on the page that you opened, or open it here once more. "
        "If you have changed your mind, decline."
    )
    answer: str = "Your answer"

    guard_run: str = "Run {tool}?"
    guard_with: str = "With {name} = {value}"
    guard_decision: str = "Decision"
    guard_yes: str = "Yes"
    guard_once: str = "Yes, this once"
    guard_conversation: str = "Yes, and for the rest of this call: {covers}"
    guard_for: str = "Yes, and for {time}: {covers}"
    guard_no: str = "No"
    guard_covers: str = "{tool} with exactly these arguments"
    guard_covers_key: str = "{tool} with {key}, whatever else changes"

    a_day: str = "a day"
    days: str = "{count} days"
    an_hour: str = "an hour"
    hours: str = "{count} hours"
    a_minute: str = "a minute"
    minutes: str = "{count} minutes"
    a_second: str = "a second"
    seconds: str = "{count} seconds"

    def __post_init__(self) -> None:
        require_templates(self)

    def sentence(self, problem: Problem) -> str:
        """What to tell the person about one problem."""
        template: str = getattr(self, problem.code)
        return template.format(title=self.label(problem), **problem.facts)

    def label(self, problem: Problem) -> str:
        """What the person knows the field by."""
        if problem.title is not None:
            return problem.title
        return self.answer if problem.field in {None, SINGLE} else str(problem.field)

    def describe(self, problems: Iterable[Problem]) -> str:
        """All problems, a sentence to a line."""
        return "\n".join(map(self.sentence, problems))

    def again_message(self, message: str, description: str) -> str:
        """The message of a question that is asked again, with what did not fit below it."""
        return self.again.format(message=message, problems=description)

    def open_again(self, message: str) -> str:
        """The message of a visit that the person has not finished and is shown again."""
        return self.still_open.format(message=message)

    def length(self, seconds: float) -> str:
        """A length of time."""
        unit, one, several = next(row for row in _UNITS if seconds % row[0] == 0 or row[0] == 1)
        count = seconds / unit
        template: str = getattr(self, one if count == 1 else several)
        return template.format(count=f"{count:.15g}")


def require_templates(words: Any) -> None:
    """Refuse a text in a dataclass of texts that is no template, or that uses what its default does not."""
    for field in dataclasses.fields(words):
        name = f"{type(words).__name__}.{field.name}"
        known = _places_in(name, str(field.default))
        if unknown := sorted(_places_in(name, getattr(words, field.name)) - known):
            raise AuthorError(
                f"{name} uses {{{unknown[0]}}}, which it is not given. It can use: "
                f"{', '.join(sorted(known)) or 'nothing'}."
            )


def _places_in(name: str, template: str) -> set[str]:
    try:
        return {place for _, place, _, _ in Formatter().parse(template) if place is not None}
    except ValueError as error:
        raise AuthorError(f"{name} is not a template: {error}. Write {{{{ for a brace.") from error

"""The sentences of a question about SQL."""

from dataclasses import dataclass, fields
from string import Formatter

from askback.errors import AuthorError


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLWords:
    """One `str.format` template each, which a translator replaces: `SQLWords(query="Abfrage ausführen?")`."""

    query: str = "Run this query?"
    statement: str = "Run this statement?"
    changing: str = "Run this statement, which changes something?"
    several: str = "Run these {count} statements, one after the other?"
    unreadable: str = "Run this, which cannot be read as SQL?"
    cost: str = "How much: {cost}."
    cost_unknown: str = "How much: nobody can tell what it would cost."
    impersonal: str = "It shows and tests no personal columns."
    personal: str = "Personal columns that it shows or tests:"
    found_by: str = "{engine} said what it touches; nothing of it has run."
    column: str = "- {column}: {tag}"
    column_like: str = "- {column}: {tag}, such as {example}"
    untold: str = (
        "Nobody can tell what it touches: which tables and personal columns there are cannot be read."
    )
    unresolved: str = "Not understood, so nobody can tell what else it touches:"
    silent: str = "Nobody can tell what it touches: {engine} did not answer."
    changes: str = "It changes:"
    item: str = "- {item}"
    more: str = "- and {count} more"
    beside: str = "With {name} = {value}"
    text: str = "All of it:"

    run: str = "Run it"
    limit: str = "Run it for at most {rows}"
    no: str = "Do not run it"
    covers: str = "exactly this statement, while tables, tags and the size of it stay the same"

    def __post_init__(self) -> None:
        for field in fields(self):
            known = _places(str(field.default))
            try:
                unknown = _places(getattr(self, field.name)) - known
            except ValueError as error:
                raise AuthorError(f"SQLWords.{field.name} is not a template: {error}.") from error
            if unknown:
                raise AuthorError(
                    f"SQLWords.{field.name} uses {{{min(unknown)}}}, which it is not given. It can use: "
                    f"{', '.join(sorted(known)) or 'nothing'}."
                )


def _places(template: str) -> set[str]:
    return {place for _, place, _, _ in Formatter().parse(template) if place is not None}

"""A cinema whose tools are plain functions over a database that blocks."""

import sqlite3
from contextlib import closing
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from askback import Accepted, Ask, Askback, Cancelled, Declined, sync
from askback.errors import EffectFailed

mcp = MCPServer("cinema")
Askback(mcp)

path = "cinema.db"

Seats = Annotated[int, Field(ge=1, le=8, title="Seats")]


def open_book() -> sqlite3.Connection:
    book = sqlite3.connect(path)
    book.execute("CREATE TABLE IF NOT EXISTS bookings (film TEXT, seats INTEGER)")
    return book


# --8<-- [start:effect]
def enter(book: sqlite3.Connection, film: str, seats: int) -> int:
    """Write a booking down and give its number."""
    with book:
        return book.execute("INSERT INTO bookings VALUES (?, ?)", (film, seats)).lastrowid or 0


# --8<-- [end:effect]


# --8<-- [start:book]
@mcp.tool()
def book(film: str) -> str:
    """Book seats; the guest is asked how many and must confirm."""
    seats = sync.ask(f"How many seats for {film}?", Seats).or_stop("Nothing booked.")
    if not sync.confirm(f"Book {seats} seats for {film}?"):
        return "Nothing booked."
    with closing(open_book()) as bookings:
        number = sync.once("enter", enter, bookings, film, seats)
    return f"Booking {number}: {seats} seats for {film}"


# --8<-- [end:book]


# --8<-- [start:together]
@mcp.tool()
def review(film: str) -> str:
    """Take down what a guest thought of a film."""
    stars, words = sync.ask_all(
        Ask("stars", f"How many stars for {film}?", Annotated[int, Field(ge=1, le=5)]),
        Ask("words", "In your own words?", str),
    )
    match stars, words:
        case Accepted(count), Accepted(text):
            return f"{'*' * count} {text}"
        case Accepted(count), _:
            return "*" * count
        case ((Declined() | Cancelled()), _):
            return "No review."


# --8<-- [end:together]


def call_the_cinema() -> str:
    raise ConnectionError("nobody there at night")


# --8<-- [start:failed]
@mcp.tool()
def complain() -> str:
    """Reach somebody, or leave a note."""
    try:
        return sync.once("call", call_the_cinema)
    except EffectFailed as failed:
        note = sync.ask("Nobody answers. Leave a note?", str).or_stop("No note.")
        return f"{note} (after {failed.kind})"


# --8<-- [end:failed]


# --8<-- [start:prompt]
@mcp.prompt()
def recommend() -> str:
    """A prompt for the next film."""
    mood = sync.choose("What are you in the mood for?", ["laughing", "crying"]).or_stop("Any film at all.")
    return f"Recommend a film for {mood}."


# --8<-- [end:prompt]


if __name__ == "__main__":
    mcp.run()

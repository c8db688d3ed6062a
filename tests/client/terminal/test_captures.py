"""The captures in the documentation are what the terminal shows now."""

from scripts.captures import PLACE, captures

PAGE = PLACE.parent / "terminal.md"


def test_every_capture_is_current_and_shown_on_the_page():
    taken = captures()
    kept = {file.name: file.read_text() for file in PLACE.iterdir()}
    assert kept == taken, "Run `python -m scripts.captures`, and read what changed."
    page = PAGE.read_text()
    assert [name for name in taken if name not in page] == []

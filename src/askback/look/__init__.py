"""What the desk and the hosted pages have in common to the eye: one palette, one mark."""

from importlib.resources import files

SHARED = ("palette.css", "icon.svg")


def look(name: str) -> bytes:
    """One of these files."""
    return (files("askback.look") / name).read_bytes()

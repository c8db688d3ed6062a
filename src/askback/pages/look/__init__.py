"""What the desk and the hosted pages have in common to the eye: one palette, one mark."""

from importlib.resources import files

SHARED_ASSETS = ("palette.css", "icon.svg")


def read_asset(name: str) -> bytes:
    """One of these files."""
    return (files("askback.pages.look") / name).read_bytes()

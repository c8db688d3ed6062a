"""Askback inside a server: where it is installed, and what it does with each call."""

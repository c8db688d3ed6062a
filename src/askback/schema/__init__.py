"""Turns what an author asks for into the schema that a client is sent, and a reply into the author's value."""

"""`askback call`: list what a server offers, or call it and answer its questions."""

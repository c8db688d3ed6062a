"""`askback desk`: several servers kept connected, and one page for their questions."""

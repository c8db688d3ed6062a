"""From what an author asks for to what a client is sent, and from what comes back to the author's value."""

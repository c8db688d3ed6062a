"""Who is at the door: the caller, and a stranger with the caller's link, both with accounts at the same place."""

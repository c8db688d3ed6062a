"""`askback vault`: list and forget what servers keep for people, and renew the keys."""

"""The answers and effects so far: what a later round replays."""

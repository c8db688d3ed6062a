"""A length of time in words."""

UNITS = ((86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


def in_words(seconds: float) -> str:
    """In the largest unit that it fills twice, or exactly: 36 hours, 1 day, 90 seconds."""
    for size, unit in UNITS:
        count = round(seconds / size)
        if count >= 2 or count * size == seconds:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "a moment"

"""Which turns were run whose results are kept no longer: a fixed number of bits, however many turns there were.

A Bloom filter never forgets what was put in, and now and then believes to know what was not: so a turn that was run is
always refused, and one in more than 100,000 new ones is refused although it was not. Bits cannot be taken out one by
one, so there are generations: one takes turns in until the first of them has expired, and is dropped as a whole when
the last has. Turns that last much longer than others would keep those from being dropped, so each span of time has
generations of its own, at most two at once.
"""

from math import inf, log

Places = list[int]
"""Which bits stand for one turn."""

BYTES = 2**21
"""2 MiB: for 400,000 turns, say 100,000 conversations of four, the rate of false refusals stays below 1 in 150,000."""

PLACES = 6
"""Bits per turn: more would hardly be mistaken less often, and each costs time in a full store."""

BITS = 8 * BYTES - 1
"""The last bit; as a mask, any bit."""

SPAN = 8
"""Turns whose times to live differ by more than this factor are kept apart."""


class Generation:
    """Turns that were put in at about the same time."""

    __slots__ = ("_bits", "first_until", "last_until")

    def __init__(self, until: float) -> None:
        self._bits = bytearray(BYTES)
        self.first_until = self.last_until = until

    def add(self, places: Places, until: float) -> None:
        bits = self._bits
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        self.last_until = max(self.last_until, until)

    def holds(self, places: Places) -> bool:
        for place in places:  # noqa: SIM110 - a new turn is told by its first bit or two, sooner than a generator begins
            if not self._bits[place >> 3] & 1 << (place & 7):
                return False
        return True


class Spent:
    """Starts empty, and is empty again when all it was given has expired."""

    __slots__ = ("_spans",)

    def __init__(self) -> None:
        self._spans: dict[int, list[Generation]] = {}

    @property
    def size(self) -> int:
        """Bytes taken at the moment."""
        return BYTES * sum(len(span) for span in self._spans.values())

    def add(self, key: str, turn: int, *, until: float, now: float) -> None:
        """Put in this turn and all before it, so that a later look need ask for one turn alone."""
        generation = self.make_room(until=until, now=now)
        for earlier in range(turn + 1):
            generation.add(_places(key, earlier), until)

    def holds(self, key: str, turn: int) -> bool:
        """Whether this turn, or a later one of the key, was put in."""
        if not self._spans:
            return False
        places = _places(key, turn)
        return any(generation.holds(places) for span in self._spans.values() for generation in span)

    def make_room(self, *, until: float, now: float) -> Generation:
        """The generation that takes in what expires then; takes its memory now."""
        span = self._spans.setdefault(int(log(max(until - now, 1.0), SPAN)), [])
        if span and span[0].last_until <= now:
            del span[0]
        if not span or (len(span) == 1 and span[0].first_until <= now):
            span.append(Generation(until))
        return span[-1]

    def forget(self, now: float) -> float:
        """Drop what has expired as a whole; gives the time at which the next does."""
        for length, span in list(self._spans.items()):
            span[:] = [generation for generation in span if generation.last_until > now]
            if not span:
                del self._spans[length]
        kept = (generation.last_until for span in self._spans.values() for generation in span)
        return min(kept, default=inf)


def _places(key: str, turn: int) -> Places:
    """Two halves of one hash are as good as six hashes. Python's own is keyed anew in each process, which is as long
    as this lasts."""
    hashed = hash((turn, key))
    first, step = hashed & BITS, hashed >> 32 | 1
    return [(first + number * step) & BITS for number in range(PLACES)]

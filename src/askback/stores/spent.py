"""Which turns were run whose results are kept no longer: a fixed number of bits, however many turns there were.

A Bloom filter never forgets what was put in, and now and then believes to know what was not: so a turn that was run is
always refused, and one in more than 100,000 new ones is refused although it was not. Bits cannot be taken out one by
one, so there are generations: one takes turns in until the first of them has expired, and is dropped as a whole when
the last has. Turns that last much longer than others would keep those from being dropped, so each span of time has
generations of its own, at most two at once.
"""

from array import array
from math import inf, log

BYTES = 2**21
"""2 MiB: for 400,000 turns, say 100,000 conversations of four, the rate of false refusals stays below 1 in 200,000."""

WORDS = BYTES // 8

SPAN = 8
"""Turns whose times to live differ by more than this factor are kept apart."""


class Generation:
    """Turns that were put in at about the same time: five bits for each in one word, and five in another.

    Two words, since one that is not in the processor's cache costs more than all there is to reckon.
    """

    __slots__ = ("_words", "first_until", "last_until")

    def __init__(self, until: float) -> None:
        self._words = array("Q", bytes(BYTES))
        self.first_until = self.last_until = until

    def add(self, key: str, turn: int, until: float) -> None:
        words = self._words
        for number in (hash((turn, key)), hash((key, turn))):
            words[number % WORDS] |= _bits(number)
        self.last_until = max(self.last_until, until)

    def holds(self, key: str, turn: int) -> bool:
        number = hash((turn, key))
        bits = _bits(number)
        return self._words[number % WORDS] & bits == bits and self._holds_more(hash((key, turn)))

    def _holds_more(self, number: int) -> bool:
        bits = _bits(number)
        return self._words[number % WORDS] & bits == bits


def _bits(number: int) -> int:
    """Of a word, by bits of a hash that do not tell which word it is; two may be the same.

    Python's own hash is keyed anew in each process, which is as long as this lasts.
    """
    at = number >> 20
    return (
        1 << (at & 63)
        | 1 << (at >> 6 & 63)
        | 1 << (at >> 12 & 63)
        | 1 << (at >> 18 & 63)
        | 1 << (at >> 24 & 63)
    )


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
        for earlier in range(min(turn, 1), turn + 1):
            generation.add(key, earlier, until)

    def holds(self, key: str, turn: int) -> bool:
        """Whether this turn, or a later one of the key, was put in."""
        if not self._spans:
            return False
        # Few keys have a turn 0, and those have no other: it is put in alone, and known by the next one too.
        return self._has(key, turn) or (turn == 0 and self._has(key, 1))

    def _has(self, key: str, turn: int) -> bool:
        for span in self._spans.values():
            for generation in span:
                if generation.holds(key, turn):
                    return True
        return False

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

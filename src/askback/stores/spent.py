"""Which turns were run whose results are kept no longer: a fixed number of bits, however many turns there were.

A Bloom filter never forgets what was put in, and now and then believes to know what was not: so a turn that was run is
always refused, and one in more than 100,000 new ones is refused although it was not. Bits cannot be taken out one by
one, so there are generations: one takes turns in until the first of them has expired, and is dropped as a whole when
the last has. Turns that last much longer than others would keep those from being dropped, so each span of time has
generations of its own, at most two at once.
"""

from array import array
from math import inf, log
from typing import NamedTuple

BYTES = 2**21
"""2 MiB: for 400,000 turns, say 100,000 conversations of four, the rate of false refusals stays below 1 in 150,000."""

WORDS = BYTES // 8

SPAN = 8
"""Turns whose times to live differ by more than this factor are kept apart."""


class Places(NamedTuple):
    """Which bits stand for one turn: four in each of two words. Two, since a word that is not in the processor's cache
    costs more than all there is to reckon."""

    first: int
    bits: int
    second: int
    more_bits: int


class Generation:
    """Turns that were put in at about the same time."""

    __slots__ = ("_words", "first_until", "last_until")

    def __init__(self, until: float) -> None:
        self._words = array("Q", bytes(BYTES))
        self.first_until = self.last_until = until

    def add(self, places: Places, until: float) -> None:
        first, bits, second, more_bits = places
        self._words[first] |= bits
        self._words[second] |= more_bits
        self.last_until = max(self.last_until, until)

    def holds(self, places: Places) -> bool:
        first, bits, second, more_bits = places
        return self._words[first] & bits == bits and self._words[second] & more_bits == more_bits


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
            generation.add(_places(key, earlier), until)

    def holds(self, key: str, turn: int) -> bool:
        """Whether this turn, or a later one of the key, was put in."""
        if not self._spans:
            return False
        # Few keys have a turn 0, and those have no other: it is put in alone, and known by the next one too.
        return self._has(_places(key, turn)) or (turn == 0 and self._has(_places(key, 1)))

    def _has(self, places: Places) -> bool:
        for span in self._spans.values():
            for generation in span:
                if generation.holds(places):
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


def _places(key: str, turn: int) -> Places:
    """Python's own hash is keyed anew in each process, which is as long as this lasts."""
    one, other = hash((turn, key)), hash((key, turn))
    return Places(one % WORDS, _four_bits(one >> 20), other % WORDS, _four_bits(other >> 20))


def _four_bits(number: int) -> int:
    """Of a word, by as many bits of a hash as it takes; two may be the same."""
    return 1 << (number & 63) | 1 << (number >> 6 & 63) | 1 << (number >> 12 & 63) | 1 << (number >> 18 & 63)

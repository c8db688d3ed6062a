"""Which rows of the store in memory are capped, in the order in which they were put, and what they weigh together."""

from collections import Counter
from collections.abc import Container, Iterator
from itertools import islice

from askback.model.store import Cap

Pair = tuple[str, str]
"""Owner and name of a row."""


class CappedRows:
    """All kinds of one store. Knows names and weights; the rows themselves are the store's."""

    def __init__(self) -> None:
        self._caps: dict[Pair, Cap] = {}
        self._of_kind: dict[str, dict[Pair, None]] = {}
        self._of_holder: dict[Pair, dict[Pair, None]] = {}
        self._weights: Counter[str | Pair] = Counter()

    def add(self, pair: Pair, cap: Cap) -> list[Pair]:
        """The rows that must go for this one, the oldest first."""
        former = self._caps.get(pair)
        if former is not None and former[:2] != cap[:2]:
            self.remove(pair)
            former = None
        self._caps[pair] = cap
        holder, more = (cap.kind, cap.holder), cap.weight - (0 if former is None else former.weight)
        self._of_kind.setdefault(cap.kind, {})[pair] = None
        self._of_holder.setdefault(holder, {})[pair] = None
        self._weights[cap.kind] += more
        self._weights[holder] += more
        return [*self._drop(pair, holder, cap.max_of_holder), *self._drop(pair, cap.kind, cap.max_in_all)]

    def remove(self, pair: Pair) -> None:
        """May repeat."""
        cap = self._caps.pop(pair, None)
        if cap is None:
            return
        holder = (cap.kind, cap.holder)
        del self._of_kind[cap.kind][pair], self._of_holder[holder][pair]
        self._weights[cap.kind] -= cap.weight
        self._weights[holder] -= cap.weight
        if not self._of_holder[holder]:
            del self._of_holder[holder], self._weights[holder]
        if not self._of_kind[cap.kind]:
            del self._of_kind[cap.kind], self._weights[cap.kind]

    def keep_only(self, there: Container[Pair]) -> None:
        """Forget those that are in the store no longer."""
        for pair in [pair for pair in self._caps if pair not in there]:
            self.remove(pair)

    def _drop(self, but: Pair, group: str | Pair, most: int) -> Iterator[Pair]:
        rows = self._of_kind[group] if isinstance(group, str) else self._of_holder[group]
        while self._weights[group] > most:
            oldest = next((pair for pair in islice(rows, 2) if pair != but), None)
            if oldest is None:
                return
            self.remove(oldest)
            yield oldest

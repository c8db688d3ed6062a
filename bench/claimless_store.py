"""A store that keeps nothing: every round is run as often as it comes. What claims cost is measured against it."""

from askback.stores import Granted, Verdict


class NoClaims:
    """Everything is granted and nothing remembered; the verbs that no contest needs are missing."""

    async def epoch(self) -> str:
        return ""

    async def claim(
        self,
        key: str,
        *,
        turn: int = 0,
        digest: str = "",
        until: float,
        takeover: bool = True,
        epoch: str = "",
    ) -> Verdict:
        return GRANTED

    async def record(self, claim: Granted, result: bytes) -> bool:
        return True

    async def note(self, claim: Granted, noted: bytes) -> bool:
        return True

    async def release(self, claim: Granted) -> None:
        return None


GRANTED = Granted("", "")

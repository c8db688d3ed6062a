"""An effect that must not be repeated, with a memory of its own."""

from datetime import timedelta

from askback import ask, once

HOUR = timedelta(hours=1)


class Bank:
    """Remembers every transfer that was made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def transfer(self, to: str = "Ada") -> int:
        self.made.append(to)
        return len(self.made)

    async def body(self) -> str:
        return f"transfer {await once('transfer', self.transfer, within=HOUR)}"

    async def asking(self) -> str:
        """With a question before it and one after it."""
        await ask("Sure?", bool)
        number = await once("transfer", self.transfer, within=HOUR)
        await ask("A receipt?", bool)
        return f"transfer {number}"

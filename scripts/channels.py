"""Writes the table of docs/explain/who-may-answer.md: what an answer is worth, by the way it came.

python -m scripts.channels
"""

from pathlib import Path

from askback.model.channels import Channel

PAGE = Path(__file__).parent.parent / "docs" / "explain" / "who-may-answer.md"

BEGIN = "<!-- This table is written by `python -m scripts.channels`. -->\n"
END = "<!-- From here the page is written by hand. -->\n"

TITLES = ("an answer through", "stands on the word of", "it shows", "it does not show")


def page(written: str) -> str:
    """The page with its table as it should be; what was written by hand stays."""
    before, _, rest = written.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    lines = [TITLES, ["---"] * len(TITLES), *(channel.value for channel in Channel)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    print(PAGE.name)

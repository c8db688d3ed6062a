"""All that is measured by how it grows, in the order in which it is shown."""

from bench.desk import desk_growths
from bench.forms import form_growths
from bench.growth import Growth


def all_growths() -> list[Growth]:
    """One list per part of the client."""
    return [*form_growths(), *desk_growths()]

"""All that is measured by how it grows, in the order in which it is shown."""

from bench.cluster.growths import cluster_growths
from bench.desk import desk_growths
from bench.forms import form_growths
from bench.growth import Growth
from bench.spending import spending_growths


def all_growths() -> list[Growth]:
    """One list per part of the client, one for the store that workers share, and one for many workers."""
    return [*form_growths(), *desk_growths(), *spending_growths(), *cluster_growths()]

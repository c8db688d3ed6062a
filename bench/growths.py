"""All that is measured by how it grows, in the order in which it is shown."""

from bench.cluster.growths import cluster_growths
from bench.desk import desk_growths
from bench.engines import engine_growths
from bench.forms import form_growths
from bench.growth import Growth
from bench.guards import guard_growths
from bench.redis_rounds import spending_growths


def all_growths() -> list[Growth]:
    """One list per part of the client, for guards, for the store that workers share, and for many workers."""
    return [
        *form_growths(),
        *desk_growths(),
        *guard_growths(),
        *engine_growths(),
        *spending_growths(),
        *cluster_growths(),
    ]

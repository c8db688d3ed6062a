"""Whether more workers serve more: a crowd of flows through nginx to three workers, against the same to one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import perf_counter

from bench.blocks import Call
from bench.cluster.cluster import cluster
from bench.cluster.load import Load, run
from bench.contests import NOT_SLOWER
from bench.growth import Growth
from scripts.services import redis_server

CROWD = Load(flows=24, at_a_time=12)
"""One call of the bench: three questions and an effect each."""


def cluster_growths() -> list[Growth]:
    return [
        Growth(
            name="cluster/workers",
            much=f"{CROWD.flows} flows, three workers",
            little="one worker",
            target=NOT_SLOWER,
            clock=perf_counter,
            sides=three_and_one,
            most_pairs=20,
        )
    ]


@asynccontextmanager
async def three_and_one() -> AsyncGenerator[tuple[Call, Call]]:
    """Two clusters with one Redis, which writes to no disk: else that is what is measured. Whichever is not called has
    nothing to do."""
    with (
        redis_server(keeps=False) as redis,
        cluster(redis.url, workers=3, way=0.0) as three,
        cluster(redis.url, workers=1, way=0.0) as one,
    ):
        yield (lambda: serve_crowd(three.port)), (lambda: serve_crowd(one.port))


async def serve_crowd(port: int) -> None:
    """Only what was served is compared."""
    flows = await run(CROWD, port)
    if any(flow.ending != "right" for flow in flows):
        raise RuntimeError(f"Not served: {next(flow for flow in flows if flow.ending != 'right')}")

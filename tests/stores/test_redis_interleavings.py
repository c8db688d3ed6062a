"""Everything a claimant can do, in any order, in Redis: see `test_interleavings`."""

from itertools import count
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings

from askback.stores.redis import RedisStore
from tests.stores.test_interleavings import MOVES, Act, Claim, play
from tests.support.stores.postgres import schema_of

pytestmark = pytest.mark.services

NUMBERS = count()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
def test_in_redis_nothing_runs_twice_and_nobody_waits_for_ever(
    moves: list[Claim | Act], redis_url: str, tmp_path: Path
):
    store = RedisStore(redis_url, prefix=f"{schema_of(tmp_path)}/{next(NUMBERS)}")
    anyio.run(play, store, moves)

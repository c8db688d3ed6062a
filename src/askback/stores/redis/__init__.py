"""A store in Redis 7: serves all processes of any number of machines at once.

What it promises beyond `Store` depends on how that Redis is run. The store notices that memory was lost: `FLUSHALL`, a
restart without `appendfsync always`, a replica in place of its primary, keys evicted. From then on it has another
`epoch`, and a claim that began before gets `EpochChanged`. `spend` and `settle` carry no epoch: the first one wins
once per epoch. So give it a Redis with `maxmemory-policy noeviction`, and with
`appendonly yes` and `appendfsync always` where links and visits must outlive a crash of Redis.
"""

from askback.stores.redis.store import RedisStore

__all__ = ["RedisStore"]

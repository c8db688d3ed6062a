"""Redis, Postgres and nginx for tests, the bench and examples: started on loopback with throw-away data, and stopped.

    with redis_server() as redis, postgres_server() as postgres:
        ...  # redis.url, postgres.url; kill(), start(), pause(), resume(), stop()

`python -m scripts.services` installs what is missing.
"""

from scripts.machine import Missing
from scripts.services.nginx import Nginx, nginx
from scripts.services.postgres import PostgresServer, postgres_server
from scripts.services.redis import RedisServer, redis_server
from scripts.services.service import CannotStart, Service, free_port

__all__ = [
    "CannotStart",
    "Missing",
    "Nginx",
    "PostgresServer",
    "RedisServer",
    "Service",
    "free_port",
    "nginx",
    "postgres_server",
    "redis_server",
]

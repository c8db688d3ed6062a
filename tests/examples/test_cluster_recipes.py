"""What the nginx files of the page about workers must say: each line here was a fault before."""

import re

import pytest

from tests.support.paths import ROOT

CLUSTER = ROOT / "examples" / "cluster"

RECIPES = ["nginx.conf", "sticky.conf"]

NEEDED = {
    "worker_connections 8192": "the default of 512 is enough for about 120 people",
    "worker_rlimit_nofile 20000": "connections are files",
    "keepalive_timeout 4s": "uvicorn closes unused connections after five seconds",
    "proxy_set_header Host $http_host": "the SDK checks it",
    "proxy_set_header Askback-Delivery $request_id": "what is sent again is not run again",
    'proxy_set_header Connection ""': "connections are kept",
    "proxy_http_version 1.1": "connections are kept",
    "proxy_next_upstream error timeout non_idempotent": "a worker that ends closes connections under requests",
    "proxy_next_upstream_timeout 60s": "workers know an Askback-Delivery for 180 seconds",
    "proxy_connect_timeout 2s": "a machine that vanished refuses nothing",
    "proxy_buffering off": "a question is sent when it is asked",
    "proxy_read_timeout 1h": "a person thinks",
}


@pytest.fixture(params=RECIPES)
def directives(request: pytest.FixtureRequest) -> list[str]:
    """Those of one file, without comments, each on one line."""
    text = re.sub(r"#.*", "", (CLUSTER / request.param).read_text())
    return [" ".join(directive.split()) for directive in re.split(r"[;{}]", text) if directive.strip()]


@pytest.mark.parametrize("directive", NEEDED)
def test_a_recipe_has_what_a_rolling_restart_needs(directives: list[str], directive: str):
    assert directive in directives, NEEDED[directive]


def test_no_worker_is_left_out_after_one_failure(directives: list[str]):
    servers = [directive for directive in directives if directive.startswith("server 127.")]
    assert len(servers) >= 3
    assert [server for server in servers if "max_fails=0" not in server] == []


def test_every_group_of_workers_keeps_its_connections_for_less_time_than_they_do(directives: list[str]):
    groups = [directive for directive in directives if directive.startswith("upstream ")]
    assert directives.count("keepalive_timeout 4s") == len(groups)

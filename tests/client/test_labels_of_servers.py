"""How a server is called that got no label: enough to know it by, and nothing that could be a secret."""

import pytest

from askback.client.target import resolve_target
from askback.errors import AuthorError

NAMES: dict[str, tuple[object, str]] = {
    "user and query": ("https://user:SECRET@inn.example/mcp?api_key=SECRET", "inn.example"),
    "path": ("https://inn.example/s/SECRET/mcp#SECRET", "inn.example"),
    "port": ("http://127.0.0.1:8000/mcp", "127.0.0.1:8000"),
    "no address": ("http://", "this address"),
    "no port": ("https://user:SE/CRET@inn.example", "this address"),
    "program": (["inn-server", "SECRET"], "inn-server"),
    "whole path": (["/usr/local/bin/inn-server", "--key", "SECRET"], "inn-server"),
    "script": (["python3.12", "-u", "inn/server.py", "--key", "SECRET"], "python3.12 inn/server.py"),
    "module": (["/opt/python", "-m", "inn", "SECRET"], "python inn"),
    "package": (["npx", "-y", "@inn/server", "postgres://u:SECRET@h/db"], "npx @inn/server"),
    "subcommand": (["uv", "run", "server.py", "SECRET"], "uv server.py"),
    "code": (["python", "-c", "key = 'SECRET'"], "python"),
    "option first": (["npx", "--registry", "SECRET", "inn"], "npx"),
    "address of a script": (["deno", "run", "https://u:SECRET@inn.example/x.ts"], "deno"),
    "environment": (["env", "KEY=SECRET", "python", "server.py"], "env"),
    "no words": (["python"], "python"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_server_without_a_label_is_named_without_what_may_be_secret(name: str):
    target, expected = NAMES[name]
    assert resolve_target(target).label == expected


def test_what_is_no_target_is_not_repeated_either():
    with pytest.raises(AuthorError, match="of type dict") as raised:
        resolve_target({"url": "https://inn.example", "token": "SECRET"})
    assert "SECRET" not in str(raised.value)

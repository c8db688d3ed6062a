"""Servers that do not start or do not answer: what is said, and that it ends with three."""

import json
import shlex
import sys
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from askback.cli.call.options import read_call
from askback.cli.console import Misused
from askback.cli.servers.targets import AddressTarget, make_driver
from tests.support.command.process import Shell, answering

pytestmark = pytest.mark.slow


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


class Refusing(BaseHTTPRequestHandler):
    """Answers with the status in the path."""

    def do_POST(self) -> None:
        self.send_response(int(self.path[1:]))
        self.send_header("Content-Length", "0")
        self.send_header("Location", "/other")
        self.end_headers()

    do_GET = do_DELETE = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing to the screen."""


@pytest.fixture(scope="module")
def refusing() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


ENDED = {
    "at once": ("pass", "it ended before it had answered"),
    "with its last words": (
        "raise SystemExit('no database \x1b[2J')",
        "The last it wrote:\nno database ␛[2J",
    ),
}


@pytest.mark.parametrize("case", ENDED)
@pytest.mark.verifies("T15")
def test_a_program_that_ends_is_told_with_its_last_words(shell: Shell, case: str):
    code, said = ENDED[case]
    ended = shell.run("call", python(code), "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (3, "CannotConnect")
    assert said in ended.json["error"]["message"]


def test_an_entry_whose_program_is_not_there_says_so(shell: Shell):
    Path("mcp.json").write_text(json.dumps({"servers": {"gone": {"command": "no-such-program"}}}))
    ended = shell.run("call", "gone", "--config", "mcp.json")
    assert ended.code == 3
    assert "there is no program 'no-such-program'" in ended.errors


def test_a_port_that_nobody_listens_on_says_so(shell: Shell):
    ended = shell.run("call", "http://127.0.0.1:9/mcp")
    assert ended.code == 3
    assert ended.errors.startswith("Cannot connect to 127.0.0.1:9: All connection attempts failed.")


STATUSES = {
    307: "it points elsewhere, to /other (HTTP 307). Give that address",
    401: "it wants to know who calls (HTTP 401). Give it a token, in a header Authorization",
    403: "it does not let this caller in (HTTP 403)",
    404: "there is nothing at this path (HTTP 404). Check the path",
    405: "it takes no messages at this path (HTTP 405). Servers of the old SSE transport",
    500: "it failed (HTTP 500)",
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_refusal_over_http_is_told_in_words(shell: Shell, refusing: str, status: int):
    ended = shell.run("call", f"{refusing}/{status}", "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (3, "CannotConnect")
    assert STATUSES[status] in ended.json["error"]["message"]


def test_a_program_that_never_answers_is_given_up_in_time(shell: Shell):
    ended = shell.run("call", python("input()\nwhile True: input()"), "--timeout", "0.2", "--json")
    assert ended.code == 5
    message = ended.json["error"]["message"]
    assert message.startswith(f"{sys.executable} did not answer within 0.2 seconds")
    assert "input()" not in message


HEADERS = {
    "control": ("X-Key: ${CONTROL}", "The header X-Key cannot be sent"),
    "inner line": ("X-Key: ${LINES}", "The header X-Key cannot be sent"),
    "umlaut": ("X-Key: ${UMLAUT}", "The header X-Key cannot be sent"),
    "no colon": ("Authorization", "is written 'Name: value'"),
    "a new line": ("A: b\nC: d", "is written 'Name: value'"),
    "not set": (
        "Authorization: Bearer ${NOT_SET}",
        "--header Authorization uses ${NOT_SET}, and NOT_SET is not set",
    ),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(
    shell: Shell, refusing: str, case: str, monkeypatch: pytest.MonkeyPatch
):
    for name, value in {"CONTROL": "s3c\x01ret", "LINES": "s3c\nret", "UMLAUT": "s3c\xfcret"}.items():
        monkeypatch.setenv(name, value)
    header, said = HEADERS[case]
    ended = shell.run("call", f"{refusing}/401", "--header", header)
    assert ended.code == 2
    assert said in ended.errors
    assert "s3c" not in ended.errors


@pytest.mark.parametrize("name", ["X-Key", "s3cret name"])
def test_a_header_of_an_entry_that_cannot_be_sent_is_refused_without_its_value(
    shell: Shell, refusing: str, name: str
):
    entry = {"url": f"{refusing}/401", "headers": {name: "s3cret\x01"}}
    Path("mcp.json").write_text(json.dumps({"servers": {"weather": entry}}))
    ended = shell.run("call", "weather", "--config", "mcp.json", "--json")
    assert ended.code == 2
    assert "header" in ended.json["error"]["message"]
    assert "s3cret" not in ended.out + ended.errors


def test_the_line_end_that_a_file_leaves_in_a_variable_is_not_sent(
    shell: Shell, refusing: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOKEN", "s3cret\n")
    ended = shell.run("call", f"{refusing}/401", "--header", "Authorization: Bearer ${TOKEN}", "--json")
    assert "it wants to know who calls (HTTP 401)" in ended.json["error"]["message"]
    assert "s3cret" not in ended.out + ended.errors


def test_a_header_is_for_addresses(shell: Shell):
    ended = shell.run("call", sys.executable, "--header", "A: b")
    assert (ended.code, ended.errors) == (
        2,
        f"--header is for addresses, and {sys.executable} is a command.\n",
    )


def test_what_only_the_driver_finds_wrong_with_a_header_is_misuse_too(shell: Shell):
    target = AddressTarget(label="weather", url="https://mcp.example/mcp", headers={"X-Key": "s3cret\n"})
    with pytest.raises(Misused, match="The header X-Key has a value that HTTP cannot carry") as raised:
        make_driver(target, None, read_call(["weather"]))
    assert "s3cret" not in str(raised.value)


SHAPE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
TOOLS = [{"name": "order", "inputSchema": {"type": "object"}, "outputSchema": SHAPE}]
DONE = {"content": [{"type": "text", "text": "Order 7 placed"}], "structuredContent": {"size": "big"}}
UNFIT = answering({"tools/list": {"tools": TOOLS}, "tools/call": DONE})
"""A server whose tool does its work and then tells of it in a form that it does not declare."""


def test_a_result_that_does_not_fit_its_schema_is_printed_beside_the_error(shell: Shell):
    ended = shell.run("call", UNFIT, "order")
    assert ended.code == 1
    assert "The tool order was called and has finished" in ended.errors
    assert ended.out.startswith("Order 7 placed\n")
    assert '"size": "big"' in ended.out


def test_as_json_it_stands_beside_the_error_too(shell: Shell):
    told = shell.run("call", UNFIT, "order", "--json").json
    assert (told["error"]["kind"], told["exit"]) == ("PeerError", 1)
    assert told["result"]["structuredContent"] == {"size": "big"}


def test_a_revision_that_it_does_not_speak_is_told_in_words_of_the_command_line(shell: Shell):
    ended = shell.run("call", UNFIT, "--revision", "2026-07-28")
    assert ended.code == 3
    assert "Leave the revision out, or name one that it speaks." in ended.errors


LATE: dict[str, tuple[dict[str, None], list[str], str]] = {
    "call": (
        {"tools/call": None},
        ["order"],
        "The call of tool order was given up: it was to take 2 seconds at most",
    ),
    "arguments": (
        {"tools/list": None},
        ["order"],
        "The tool order was not called: its arguments were not there within 2 seconds.",
    ),
    "listing": ({"tools/list": None}, [], "did not answer within 2 seconds."),
}


@pytest.mark.parametrize("case", LATE)
def test_out_of_time_after_it_has_started_a_server_is_named_with_what_it_did_not_do(
    shell: Shell, case: str, monkeypatch: pytest.MonkeyPatch
):
    # So that even this server, which starts at once, takes longer to start than the grace.
    monkeypatch.setattr("askback.cli.call.server_call.GRACE", 0)
    results, words, said = LATE[case]
    ended = shell.run("call", answering(dict(results)), *words, "--label", "slow", "--timeout", "2", "--json")
    assert ended.code == ended.json["exit"] == 5
    assert ended.json["server"] == {"label": "slow", "name": "answering", "host": None}
    assert (ended.json["revision"], ended.json["answers"]) == ("2025-11-25", [])
    assert ended.json["error"]["kind"] == "Unfinished"
    assert said in ended.json["error"]["message"]


RAW = """
from mcp.server import MCPServer
mcp = MCPServer("raw")
@mcp.tool()
def fall() -> str:
    print("on the way \\x1b[2J", file=__import__("sys").stderr)
    raise KeyError("the stairs")
mcp.run()
"""


@pytest.mark.verifies("T15")
def test_a_tool_that_fails_without_a_word_is_told_with_where_to_look(shell: Shell):
    ended = shell.run("call", python(RAW), "fall", "--label", "stairs")
    assert (ended.code, ended.out) == (1, "Error executing tool fall\n")
    assert ended.errors.endswith("stairs wrote to its standard error meanwhile; --stderr shows it.\n")
    shown = shell.run("call", python(RAW), "fall", "--label", "stairs", "--stderr")
    _, *rest = shown.errors.partition("stairs wrote to its standard error:\n")[2].splitlines()
    assert "| on the way ␛[2J" in shown.errors.splitlines()
    assert "KeyError: 'the stairs'" in shown.errors
    assert all(row.startswith("| ") for row in rest)

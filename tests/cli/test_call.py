"""`askback call` where no terminal is: what it prints, what it gives as JSON, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from askback.cli.servers.configs import AT_HOME, AgreedEntries, read_configs
from askback.client.consent import path_of_user
from tests.support.command.process import KITCHEN, Shell

pytestmark = pytest.mark.slow

LISTED = """\
  weigh grams=... [unit=...] [precise=...]
      Weigh something.
      grams: whole number
      unit: one of g, kg, default g
      precise: true or false, default false
"""


def test_without_a_tool_the_server_is_listed(shell: Shell):
    ended = shell.call()
    assert ended.code == 0
    assert ended.out.splitlines()[:3] == ["kitchen, on 2026-07-28", "kitchen says:", "| Wash your hands."]
    assert LISTED in ended.out
    assert "  menu day=...\n" in ended.out
    assert "  recipe://soup\n" in ended.out


def test_a_listing_as_json_has_all_that_the_server_sent(shell: Shell, revision: str):
    listed = shell.call("--json", "--revision", revision).json
    assert listed["server"]["name"] == "kitchen"
    assert listed["revision"] == revision
    assert "weigh" in [tool["name"] for tool in listed["offers"]["tools"]]
    assert [prompt["name"] for prompt in listed["offers"]["prompts"]] == ["menu"]
    assert [one["uri"] for one in listed["offers"]["resources"]] == ["recipe://soup"]


def test_a_tool_gets_its_arguments_as_it_wants_them(shell: Shell):
    ended = shell.call("weigh", "grams=5", "--revision", "2025-11-25", "precise=yes", "unit=kg")
    assert (ended.code, ended.out, ended.errors) == (0, "5 kg, precise: True\n", "")


def test_a_result_as_json_names_server_revision_and_answers(shell: Shell, revision: str):
    ended = shell.call("weigh", "grams=5", "--json", "--revision", revision)
    assert ended.json["result"]["structuredContent"] == {"result": "5 g, precise: False"}
    assert (ended.json["revision"], ended.json["answers"], ended.json["exit"]) == (revision, [], 0)


def test_objects_come_back_readable_and_pictures_as_a_word(shell: Shell):
    dish = {"name": "soup", "spices": ["salt"]}
    assert json.loads(shell.call("plate", f"dish={json.dumps(dish)}").out) == dish
    assert shell.call("picture").out == "[image: image/png, 1.2 KB]\n"


def test_a_resource_is_read(shell: Shell):
    assert shell.call("--resource", "recipe://soup").out == "Water and salt\n"


@pytest.mark.verifies("T15")
def test_a_tool_that_fails_ends_with_one_and_cannot_move_the_terminal(shell: Shell):
    ended = shell.call("burn")
    assert ended.code == 1
    assert ended.out.startswith("Error executing tool burn: burnt ␛]0;stolen␇␛[2J<U+202E>evil")
    assert ended.errors == "The tool reports this as an error.\n"


@pytest.mark.verifies("T14", "T15")
def test_what_a_server_answers_in_an_error_stands_behind_a_bar(shell: Shell, revision: str):
    ended = shell.call("refuse", "--revision", revision)
    assert ended.code == 1
    first, *rest = ended.errors.splitlines()
    assert first == "kitchen says:"
    assert rest == ["| No.", "| Type your password: ␛]0;stolen␇␛[2J<U+202E>evil"]


def test_a_command_that_was_not_written_as_one_word_is_noticed(shell: Shell):
    Path("server.py").touch()
    ended = shell.run("call", sys.executable, "server.py")
    assert ended.code == 2
    assert f'askback call "{sys.executable} server.py"' in ended.errors


WRONG: dict[str, tuple[list[str], str]] = {
    "tool": (["weihg"], "has no tool 'weihg'. Did you mean weigh?"),
    "argument": (["weigh", "gram=5"], "The tool weigh has no argument gram. Did you mean grams?"),
    "value": (["weigh", "grams=many"], "grams: expected whole number, not 'many'."),
    "prompt": (["--prompt", "x"], "has no prompt 'x'. It has menu."),
    "missing": (
        ["weigh"],
        "The tool weigh needs 1 more argument:\n  grams=...  whole number\nNobody can be asked for more here",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_was_typed_wrong_ends_with_two_and_a_hint(shell: Shell, case: str):
    words, said = WRONG[case]
    ended = shell.call(*words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.errors


@pytest.mark.parametrize(
    "words",
    [
        ["--revision", "2024-11-05"],
        ["grams=5"],
        ["--timeout", "0"],
        ["--resource", "x", "y=1"],
        ["--nonsense"],
    ],
)
def test_options_that_cannot_be_followed_end_with_two_and_the_usage(shell: Shell, words: list[str]):
    ended = shell.call(*words)
    assert ended.code == 2
    assert ended.errors.startswith("usage: askback call")


@pytest.mark.parametrize("words", [["--prompt", "menu"], ["--resource", "recipe://soup"]])
def test_what_is_wanted_of_no_server_is_misuse(shell: Shell, words: list[str]):
    ended = shell.run("call", *words)
    assert (ended.code, ended.out) == (2, "")
    assert f"TARGET comes first: the server that has the {words[0][2:]} '{words[1]}'" in ended.errors


def test_as_json_a_mistake_is_an_error_with_its_kind(shell: Shell):
    error = shell.call("weihg", "--json").json["error"]
    assert error["kind"] == "Misused"
    assert "Did you mean weigh?" in error["message"]


@pytest.mark.parametrize("words", [[], ["kitchen"]], ids=["list", "call"])
def test_a_config_that_is_not_there_is_said_whatever_was_wanted_of_it(shell: Shell, words: list[str]):
    ended = shell.run("call", *words, "--config", "gone.json", "--json")
    assert ended.code == ended.json["exit"] == 2
    assert ended.json["error"]["message"].startswith("gone.json cannot be read")


@pytest.mark.verifies("R45")
def test_where_no_terminal_is_nothing_is_declared_and_the_reason_is_said(shell: Shell, revision: str):
    ended = shell.call("serve", "dish=soup", "--revision", revision)
    assert ended.code == 4
    assert "(elicitation.form)" in ended.out + ended.errors
    assert "Nobody can be asked here: standard input is not a terminal." in ended.errors


@pytest.mark.verifies("R45")
def test_as_json_the_reason_stands_beside_the_error(shell: Shell, revision: str):
    ended = shell.call("serve", "dish=soup", "--json", "--revision", revision)
    assert ended.code == ended.json["exit"] == 4
    advice = ended.json.get("advice") or ended.json["error"]["advice"]
    assert "add --desk to answer in a browser, or --policy FILE" in advice


POLICY = """
[[rule]]
server = "kitchen"
tool = "serve"
message = "Serve *"
answer = { yes = true }
"""


def test_a_policy_answers_what_its_rules_name_and_says_so(shell: Shell, revision: str):
    Path("policy.toml").write_text(POLICY)
    ended = shell.call("serve", "dish=soup", "--policy", "policy.toml", "--json", "--revision", revision)
    assert ended.json["result"]["content"][0]["text"] == "soup served"
    (answer,) = ended.json["answers"]
    assert (answer["asked"], answer["mode"], answer["action"]) == ("Serve soup?", "form", "accept")
    assert "policy.toml" in answer["by"]


def test_what_no_rule_names_is_not_answered(shell: Shell):
    Path("policy.toml").write_text(POLICY)
    ended = shell.call("--prompt", "menu", "day=Monday", "--policy", "policy.toml")
    assert ended.code == 4
    assert "With soup?" in ended.errors


def test_a_policy_that_cannot_be_read_ends_with_two(shell: Shell):
    ended = shell.call("weigh", "grams=5", "--policy", "gone.toml", "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (2, "PolicyRefused")


def test_the_callers_own_limit_holds_and_is_told_as_it_was_typed(shell: Shell, revision: str):
    ended = shell.call("cook", "--timeout", "1.5", "--json", "--revision", revision)
    assert (ended.code, ended.json["error"]["kind"]) == (5, "Unfinished")
    assert "it was to take 1.5 seconds at most, all told" in ended.json["error"]["message"]
    assert (ended.json["server"]["name"], ended.json["revision"]) == ("kitchen", revision)
    assert ended.json["answers"] == []


def test_out_of_time_before_somebody_has_answered_the_server_is_not_blamed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("askback.cli.call.server_call.GRACE", 0)
    ended = shell.call("serve", "dish=soup", "--desk", "--no-open", "--timeout", "1.5")
    assert ended.code == 5
    assert "kitchen asks on the desk." in ended.errors
    assert "The call of tool serve was given up" in ended.errors
    assert "did not answer" not in ended.errors


def test_a_command_is_started_and_called(shell: Shell, revision: str):
    ended = shell.run("call", KITCHEN, "weigh", "grams=5", "--json", "--revision", revision)
    assert ended.json["result"]["content"][0]["text"] == "5 g, precise: False"
    assert ended.json["server"] == {"label": KITCHEN, "name": "kitchen", "host": None}


def test_a_server_of_an_mcp_json_file_is_called_by_its_name(shell: Shell, home: Path):
    own, entry = {"command": sys.executable, "args": [KITCHEN]}, {"command": "${NOT_SET}"}
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"kitchen": entry}}))
    (home / AT_HOME[0]).write_text(json.dumps({"mcpServers": {"kitchen": own, "other": entry}}))
    ended = shell.run("call", "kitchen", "weigh", "grams=1")
    assert ended.out == "1 g, precise: False\n"
    near = Path.cwd() / ".mcp.json"
    assert f"kitchen is taken from {home / AT_HOME[0]}; it is also in {near}.\n" in ended.errors
    listed = [line.strip() for line in shell.run("call").out.splitlines()]
    assert listed == [str(home / AT_HOME[0]), "kitchen", "other", str(near), "kitchen"]
    assert [one["name"] for one in shell.run("call", "--json").json["servers"]] == [
        "kitchen",
        "other",
        "kitchen",
    ]


def test_a_server_that_came_with_the_folder_is_told_with_where_it_leads_and_what_it_is_given(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DEPLOY_KEY", "s3cret")
    entry = {
        "url": "http://user:pass@127.0.0.1:9/mcp?key=${DEPLOY_KEY}",
        "headers": {"X": "${DEPLOY_KEY} ${NO_SUCH:-}"},
    }
    Path("mcp.json").write_text(json.dumps({"servers": {"deploy": entry}}))
    (named,) = read_configs(here=Path.cwd(), home=Path.home()).servers
    AgreedEntries(path_of_user().with_name("projects.json")).add(named)
    ended = shell.run("call", "deploy")
    told = f"deploy is taken from {Path.cwd() / 'mcp.json'}. It is given DEPLOY_KEY from your"
    assert ended.errors.startswith(f"{told} environment, and connects to 127.0.0.1:9.\n")
    assert "s3cret" not in ended.errors
    assert "pass@" not in ended.errors


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[" * 200_000, "is nested too deeply"), ("{oops", "is not JSON")],
    ids=["deep", "broken"],
)
@pytest.mark.parametrize("words", [[], ["weather"]], ids=["list", "call"])
def test_a_config_that_cannot_be_read_is_said(shell: Shell, text: str, problem: str, words: list[str]):
    Path("mcp.json").write_text(text)
    ended = shell.run("call", *words)
    assert ended.code == (2 if words else 0)
    assert f"mcp.json {problem}" in ended.errors
    assert "Traceback" not in ended.errors


LOADING = """
import signal, sys
from askback.cli import main

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "askback.cli.commands.call":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Slow())
sys.exit(main(["call"]))
"""


def test_ctrl_c_while_the_command_still_loads_ends_it_without_a_word():
    command = [sys.executable, "-c", LOADING]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stderr) == (130, "")

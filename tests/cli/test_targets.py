"""TARGET: what each way of writing it means, and what is said where it means nothing."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from askback.cli.console import Misused
from askback.cli.servers import configs
from askback.cli.servers.configs import Configs, read_configs
from askback.cli.servers.targets import AddressTarget, CommandTarget, Surroundings, find_target
from tests.support.corpus import corpus

HOME_FILES = [".claude.json", ".cursor/mcp.json", ".config/Claude/claude_desktop_config.json"]
NEAR_FILES = [".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"]


class Folder:
    """A project and a home, each with the files a test writes into it."""

    def __init__(self, path: Path) -> None:
        self.here, self.home = path / "project", path / "home"
        self.here.mkdir()
        self.home.mkdir()
        self.environment = {"PATH": str(path / "bin")}

    def write(self, file: Path, body: Any) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body if isinstance(body, str) else json.dumps(body))
        return file

    def configs(self, only: Path | None = None) -> Configs:
        return read_configs(here=self.here, home=self.home, only=only)

    def find(self, word: str, only: Path | None = None) -> Any:
        around = Surroundings(
            configs=self.configs(only), here=self.here, home=self.home, environment=self.environment
        )
        return find_target(word, around)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def nested(levels: int) -> list[Any]:
    return json.loads("[" * levels + "]" * levels)


def program(folder: Folder, name: str) -> None:
    file = folder.write(Path(folder.environment["PATH"]) / name, "#!/bin/sh\n")
    file.chmod(0o755)


def test_what_begins_like_an_address_is_one(folder: Folder):
    assert folder.find("https://mcp.example:8000/mcp") == AddressTarget(
        label="mcp.example:8000", url="https://mcp.example:8000/mcp"
    )


def test_a_command_is_one_word_and_split_as_a_shell_would(folder: Folder):
    program(folder, "python")
    target = folder.find("python 'my server.py' --port 80")
    assert target == CommandTarget(label="my server.py", words=("python", "my server.py", "--port", "80"))


def test_a_python_file_is_run_with_this_python(folder: Folder):
    folder.write(folder.here / "server.py", "")
    assert folder.find("server.py --fast").words == (sys.executable, "server.py", "--fast")


def test_a_file_whose_path_holds_blanks_is_one_word(folder: Folder):
    server = folder.write(folder.here / "Müllers Küche" / "server.py", "")
    assert folder.find(str(server)).words == (sys.executable, str(server))
    started = folder.write(folder.here / "Müllers Küche" / "start", "#!/bin/sh\n")
    started.chmod(0o755)
    assert folder.find(str(started)).words == (str(started),)


@corpus("word", ["./my folder/server.py", "../project/my folder/server.py"])
def test_a_relative_path_with_blanks_is_written_as_a_path(folder: Folder, word: str):
    folder.write(folder.here / "my folder" / "server.py", "")
    assert folder.find(word).words == (sys.executable, word)
    with pytest.raises(Misused, match=r"write './my folder/server.py'"):
        folder.find("my folder/server.py")


@pytest.mark.verifies("T30")
@corpus("name", ["server-everything", "server.py"])
def test_no_file_of_the_project_has_the_path_of_a_command_line(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, name: str
):
    program(folder, "npx")
    monkeypatch.chdir(folder.here)
    planted = folder.write(folder.here / "npx -y @modelcontextprotocol" / name, "#!/bin/sh\n")
    planted.chmod(0o755)
    target = folder.find(f"npx -y @modelcontextprotocol/{name}")
    assert target.words == ("npx", "-y", f"@modelcontextprotocol/{name}")


@corpus("table", ["mcpServers", "servers"])
@corpus("name", NEAR_FILES)
def test_a_server_of_a_file_of_the_project_is_found_by_its_name(folder: Folder, name: str, table: str):
    folder.write(folder.here / name, {table: {"weather": {"command": "npx", "args": ["-y", "w"]}}})
    assert folder.find("weather") == CommandTarget(label="weather", words=("npx", "-y", "w"), environment={})


@corpus("name", HOME_FILES)
def test_a_server_of_a_file_of_the_person_is_found_by_its_name(folder: Folder, name: str):
    folder.write(folder.home / name, {"mcpServers": {"weather": {"url": "https://w.example/mcp"}}})
    assert folder.find("weather") == AddressTarget(label="weather", url="https://w.example/mcp")


def test_claude_code_keeps_servers_of_one_folder_in_the_file_of_the_person(folder: Folder):
    near, far = {"command": "near"}, {"command": "far"}
    projects = {str(folder.here): {"mcpServers": {"one": near}}, "/elsewhere": {"mcpServers": {"two": far}}}
    folder.write(folder.home / ".claude.json", {"projects": projects, "mcpServers": {"one": far}})
    assert folder.find("one").words == ("near",)
    assert not folder.configs().named("two")


def test_of_two_servers_of_one_name_the_persons_own_is_meant(folder: Folder):
    folder.write(folder.home / ".cursor/mcp.json", {"mcpServers": {"weather": {"command": "far"}}})
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": {"command": "near"}}})
    assert folder.find("weather").words == ("far",)
    assert [one.is_near for one in folder.configs().named("weather")] == [False, True]


def test_no_file_of_the_project_decides_what_a_file_or_a_command_line_means(folder: Folder):
    program(folder, "python")
    folder.write(folder.here / "server.py", "")
    shadows = {
        name: {"command": "evil"} for name in ("server.py", "python server.py", "https://w.example/mcp")
    }
    folder.write(folder.here / ".mcp.json", {"mcpServers": shadows})
    with pytest.raises(
        Misused, match=r"is a file in .* and also a server in .*write './server.py'.*--config"
    ):
        folder.find("server.py")
    assert folder.find("./server.py").words == (sys.executable, "./server.py")
    assert folder.find("python server.py").words == ("python", "server.py")
    assert folder.find("https://w.example/mcp").url == "https://w.example/mcp"


@pytest.mark.verifies("T30")
@corpus("name", ["weather", "weather.py", "acme/weather", "acme/my weather"])
def test_a_name_of_the_persons_own_files_means_their_server_whatever_files_lie_here(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.chdir(folder.here)
    for path in {name, name.split()[0]}:
        folder.write(folder.here / path, "#!/bin/sh\n").chmod(0o755)
    folder.write(folder.home / ".claude.json", {"mcpServers": {name: {"command": "own"}}})
    assert folder.find(name) == CommandTarget(label=name, words=("own",), environment={})
    assert f"./{name}" in folder.find(f"./{name}").words
    assert str(folder.here / name) in folder.find(str(folder.here / name)).words


def test_a_file_that_no_word_would_start_does_not_hide_a_server_of_the_project(folder: Folder):
    folder.write(folder.here / "weather", "no program")
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": {"command": "w"}}})
    assert folder.find("weather").words == ("w",)


@corpus("word", ["https://", "https://user:s3cret@", "https://[s3cret"])
def test_an_address_without_a_host_is_refused_without_repeating_it(folder: Folder, word: str):
    with pytest.raises(Misused, match="has no host") as caught:
        folder.find(word)
    assert "s3cret" not in str(caught.value)


def test_at_home_no_file_is_read_twice_and_it_is_the_persons_own(folder: Folder):
    folder.write(folder.home / ".cursor/mcp.json", {"mcpServers": {"weather": {"command": "w"}}})
    (weather,) = read_configs(here=folder.home, home=folder.home).servers
    assert not weather.is_near


def test_a_file_that_is_named_is_the_only_one_read(folder: Folder):
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": {"command": "near"}}})
    only = folder.write(folder.here / "other.json", {"servers": {"weather": {"command": "named"}}})
    assert folder.find("weather", only).words == ("named",)
    with pytest.raises(Misused, match="cannot be read"):
        folder.configs(folder.here / "gone.json")


def test_comments_and_last_commas_are_read_over(folder: Folder):
    text = """{
      // the weather
      "servers": {"weather": {"url": "https://w.example//mcp", /* two
      lines */ "headers": {"X": "a,}"},},},
    }"""
    folder.write(folder.here / ".vscode/mcp.json", text)
    assert folder.find("weather") == AddressTarget(
        label="weather", url="https://w.example//mcp", headers={"X": "a,}"}
    )


def test_a_file_that_is_broken_is_said_and_the_others_are_read(folder: Folder):
    folder.write(folder.here / "mcp.json", "{oops")
    folder.write(folder.here / ".cursor/mcp.json", {"mcpServers": {"weather": {"command": "w"}}})
    (problem,) = folder.configs().problems
    assert "mcp.json is not JSON" in problem
    assert folder.find("weather").words == ("w",)


def test_variables_are_filled_in_everywhere(folder: Folder):
    folder.environment |= {"TOKEN": "t0", "HOST": "w.example"}
    body = {
        "url": "https://${HOST}/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}", "X": "${NOT_SET:-none}"},
    }
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": body}})
    assert folder.find("weather").headers == {"Authorization": "Bearer t0", "X": "none"}
    assert folder.find("weather").url == "https://w.example/mcp"


def test_a_started_server_gets_its_folder_and_its_environment(folder: Folder):
    body = {"command": "w", "env": {"KEY": "1"}, "cwd": "${workspaceFolder}/sub"}
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": body}})
    target = folder.find("weather")
    assert target.environment == {"KEY": "1"}
    assert target.folder == folder.here / "sub"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "not set": ({"command": "${NOT_SET}"}, r"'weather' in .*uses \$\{NOT_SET\}, and NOT_SET is not set"),
    "input": ({"command": "w", "env": {"K": "${input:key}"}}, r"\$\{input:key\}, which only another program"),
    "sse": ({"type": "sse", "url": "https://w.example/sse"}, "old SSE transport"),
    "neither": ({"type": "http"}, "neither a command to start nor a url"),
    "args": ({"command": "w", "args": "x"}, "args is a list"),
    "env": ({"command": "w", "env": ["A=1"]}, "tables of texts"),
    "env file": ({"command": "w", "envFile": ".env"}, "under env instead"),
}


@corpus("case", REFUSED)
def test_an_entry_that_cannot_be_followed_says_what_to_change(folder: Folder, case: str):
    body, advice = REFUSED[case]
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": body}})
    with pytest.raises(Misused, match=advice):
        folder.find("weather")


@corpus("depth", [101, 700, 1_200, 3_000, 6_000, 20_000, 200_000])
def test_a_file_is_nested_too_deeply_at_the_same_depth_on_every_python(folder: Folder, depth: int):
    args = depth - 3  # the file, its table and the entry are around them
    text = f'{{"mcpServers": {{"weather": {{"command": "w", "args": {"[" * args}{"]" * args}}}}}}}'
    folder.write(folder.here / ".mcp.json", text)
    with pytest.raises(Misused, match="nested too deeply, over 100 levels"):
        folder.find("weather")


def test_a_file_that_is_as_deep_as_it_may_be_is_read(folder: Folder):
    text = f'{{"mcpServers": {{"weather": {{"command": "w", "more": {"[" * 97}{"]" * 97}}}}}}}'
    folder.write(folder.here / ".mcp.json", text)
    assert folder.find("weather").words == ("w",)


def test_without_that_check_a_deep_file_would_be_followed(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    def objects_to_nothing(value: object) -> bool:
        return False

    monkeypatch.setattr(configs, "exceeds_depth", objects_to_nothing)
    folder.write(
        folder.here / ".mcp.json", {"mcpServers": {"weather": {"command": "w", "more": nested(200)}}}
    )
    assert folder.find("weather").words == ("w",)


def test_a_word_that_is_nothing_is_told_what_it_could_have_been(folder: Folder):
    folder.write(folder.here / ".mcp.json", {"mcpServers": {"weather": {"command": "w"}}})
    with pytest.raises(Misused, match=r"Did you mean the server 'weather'"):
        folder.find("wether")
    with pytest.raises(
        Misused, match=r"not a server of the mcp.json files \(they name weather\) and not a command"
    ):
        folder.find("pizzeria")


@corpus("word", ["gone.py", "gone.py --fast", "./gone", "servers/gone.js"])
def test_a_word_that_is_written_like_a_path_is_told_that_there_is_no_such_file(folder: Folder, word: str):
    with pytest.raises(Misused, match=f"There is no file '{word.split()[0]}' in {folder.here}") as caught:
        folder.find(word)
    assert "mcp.json" not in str(caught.value)


def test_a_file_that_cannot_be_started_is_told_what_it_lacks(folder: Folder):
    folder.write(folder.here / "server.js", "")
    with pytest.raises(Misused, match=r'cannot be started.*askback call "PROGRAM server.js"'):
        folder.find("server.js")


@corpus("word", ["", "  ", "python 'server.py"])
def test_a_command_that_cannot_be_split_is_refused(folder: Folder, word: str):
    with pytest.raises(Misused, match=r"TARGET is empty|cannot be split"):
        folder.find(word)

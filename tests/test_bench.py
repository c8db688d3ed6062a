"""The bench says what it measured, whatever the speed: every ratio with its interval, and JSON to keep."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.contests import all_contests
from bench.interval import estimate
from bench.thinking import traced_each

pytestmark = pytest.mark.slow


def test_every_ratio_in_memory_comes_with_an_interval_and_is_kept_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    written = tmp_path / "made" / "bench.json"
    assert main(["--quick", "--only", "in-memory", "--pairs", "2", "--json", str(written)]) == 0
    report = json.loads(written.read_text())
    measured = [contest.name for contest in all_contests() if contest.transport == "in-memory"]
    assert [ratio["name"] for ratio in report["ratios"]] == measured
    for ratio in report["ratios"]:
        low, high = ratio["interval"]
        assert 0 < low <= ratio["ratio"] <= high
        assert ratio["verdict"] in ("met", "not shown", "missed", "no target")
    assert report["versions"].keys() >= {"askback", "mcp", "python"}
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("95 % interval", "five in sequence", "targets met"))


def test_what_grows_comes_with_an_interval_and_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written = tmp_path / "bench.json"
    assert main(["--quick", "--only", "forms/", "--pairs", "2", "--json", str(written)]) == 0
    report = json.loads(written.read_text())
    assert [growth["name"] for growth in report["growths"]] == ["forms/read", "forms/check"]
    for growth in report["growths"]:
        low, high = growth["interval"]
        assert 1 < low <= growth["ratio"] <= high
        assert growth["target"]["ratio"] == 60
    assert "check 50 fields" in capsys.readouterr().out


def test_a_name_that_nothing_has_lists_those_there_are(capsys: pytest.CaptureFixture[str]):
    assert main(["--only", "the weather"]) == 2
    listed = capsys.readouterr().err
    assert all(contest.name in listed for contest in all_contests())


def test_an_interval_holds_the_ratio_and_narrows_with_agreement():
    apart, together = estimate([0.5, 0.8, 1.0, 1.2, 2.0]), estimate([0.99, 1.0, 1.0, 1.0, 1.01])
    assert apart.low < apart.value == 1.0 < apart.high
    assert together.high - together.low < apart.high - apart.low


@pytest.mark.anyio
async def test_the_memory_of_people_who_are_thinking_is_counted():
    assert await traced_each(people=5) < 1_000_000

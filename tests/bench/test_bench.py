"""The bench says what it measured, whatever the speed: every ratio with its interval, and JSON to keep."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.contests import all_contests
from bench.finished_flows import measure_finished
from bench.interval import estimate
from bench.memory import traced_each
from bench.results import finished_verdict
from bench.table import finished_lines
from scripts.services import programs
from scripts.services.programs import REDIS
from tests.support.services import found

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


def test_what_a_guard_costs_is_told_against_sqlglot(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written = tmp_path / "bench.json"
    assert main(["--quick", "--only", "guards/sqlglot/short", "--pairs", "2", "--json", str(written)]) == 0
    report = json.loads(written.read_text())
    assert [growth["target"]["ratio"] for growth in report["growths"]] == [2.0, 2.0]
    assert "guard SQL, short, asked about" in capsys.readouterr().out


@pytest.mark.services
@pytest.mark.parametrize(
    ("only", "told"),
    [
        ("redis/spending", ["round and once: 6 verbs", "8 PINGs", "1.00"]),
        ("http/redis/2026-07-28/one", ["over HTTP, on Redis", "memory", "1.40"]),
    ],
    ids=["in-round-trips", "over-http"],
)
def test_what_redis_adds_to_a_round_is_told(
    only: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with found():
        REDIS.path()
    written = tmp_path / "bench.json"
    assert main(["--only", only, "--quick", "--pairs", "2", "--json", str(written)]) == 0
    report = json.loads(written.read_text())
    (measured,) = [*report["ratios"], *report["growths"]]
    assert measured["verdict"] in ("met", "not shown", "missed")
    shown = capsys.readouterr().out
    assert all(words in shown for words in told)


def test_where_there_is_no_redis_the_bench_says_so_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def nowhere(name: str) -> Iterator[str]:
        return iter(())

    monkeypatch.setattr(programs, "on_path", nowhere)
    written = tmp_path / "bench.json"
    assert main(["--quick", "--only", "redis", "--json", str(written)]) == 0
    report = json.loads(written.read_text())
    assert (report["ratios"], report["growths"], report["finished"]) == ([], [], None)
    told = capsys.readouterr().err
    for name in ("http/redis/2026-07-28/one/memory", "redis/spending", "redis/finished"):
        assert f"{name} is left out. {REDIS.advice}" in told


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


@pytest.mark.services
@pytest.mark.anyio
async def test_a_worker_is_weighed_after_some_finished_flows_and_after_many():
    with found():
        finished = await measure_finished(flows=40)
    assert (finished.few.flows, finished.many.flows) == (20, 40)
    assert 0 < finished.blocks < 1.1
    assert finished.many.keys > finished.few.keys > 0
    assert finished_verdict(finished) == "not shown"
    assert "after 40 finished flows, of 100,000 that it takes to show it" in finished_lines(finished)

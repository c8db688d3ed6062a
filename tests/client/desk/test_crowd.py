"""Many questions on one desk: what one answer costs is measured, with two hundred waiting and with one."""

import json
from pathlib import Path

from bench.__main__ import main


def test_the_bench_answers_one_of_two_hundred_and_one_of_one(tmp_path: Path):
    written = tmp_path / "bench.json"
    assert main(["--quick", "--only", "desk/", "--pairs", "2", "--json", str(written)]) == 0
    (growth,) = json.loads(written.read_text())["growths"]
    assert growth["name"] == "desk/answer"
    assert growth["target"]["ratio"] == 2
    assert growth["ratio"] > 0

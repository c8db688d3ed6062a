"""What all tests share: the backend, the numbers that tests may name, and the count of what was left out."""

import os
import signal

import pytest
from fastmcp.utilities.logging import configure_logging
from hypothesis import settings

from askback.testing import REVISIONS
from tests.support.omission import PREFIX
from tests.support.requirements import REQUIREMENTS, named_by
from tests.support.services import postgres_service as postgres_service
from tests.support.services import postgres_url as postgres_url
from tests.support.services import redis_service as redis_service
from tests.support.services import redis_url as redis_url
from tests.support.time_limit import pytest_enter_pdb as pytest_enter_pdb
from tests.support.time_limit import pytest_runtest_call as pytest_runtest_call
from tests.support.time_limit import pytest_runtest_setup as pytest_runtest_setup
from tests.support.time_limit import pytest_runtest_teardown as pytest_runtest_teardown
from tests.support.time_limit import pytest_timeout_cancel_timer as pytest_timeout_cancel_timer
from tests.support.time_limit import pytest_timeout_set_timer as pytest_timeout_set_timer

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

configure_logging(enable_rich_tracebacks=False)  # FastMCP would draw each in colours that nobody sees

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it runs in the background so, and the programs under test would be as deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"  # nobody's own is touched


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nobody's own vault is touched either."""
    os.environ["ASKBACK_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    # The SDK's HTTP transports run under uvicorn, which knows asyncio alone. For the session, since a browser and a
    # provider live longer than one test.
    return "asyncio"


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Every revision that can ask; a folder's own fixture takes its place where it runs on fewer."""
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if unknown := named_by(item) - REQUIREMENTS.keys():
            numbers = ", ".join(sorted(unknown))
            raise pytest.UsageError(
                f"{item.nodeid} verifies {numbers}, not listed in tests/requirements.toml"
            )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    reasons = [why for report in skipped if (why := _reason(report)).startswith(PREFIX)]
    terminalreporter.write_line(f"{PREFIX}{len(reasons)}")
    for why in sorted(set(reasons)):
        terminalreporter.write_line(f"  {reasons.count(why)}: {why.removeprefix(PREFIX)}")


def _reason(report: pytest.TestReport) -> str:
    _file, _line, text = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
    return text.removeprefix("Skipped: ")

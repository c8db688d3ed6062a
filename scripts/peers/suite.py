"""The suites: where each is from, what its tests need, and how it is installed. Nothing of them is committed."""

import hashlib
import shutil
import sys
import tarfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.machine import BUILD, Step

ROOT = Path(__file__).resolve().parents[2]
HOME = BUILD / "peers"

SDK = "mcp==2.3.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The tests in the source distribution of one release."""

    name: str
    version: str
    needs: tuple[str, ...]
    """What its tests import; the versions are those of its own lock file."""
    options: tuple[str, ...]
    paths: tuple[str, ...] = ()
    """Folders of its sources that its tests import from."""

    @property
    def home(self) -> Path:
        return HOME / self.name

    @property
    def sources(self) -> Path:
        return self.home / f"{self.name}-{self.version}"

    @property
    def python(self) -> Path:
        return self.home / "venv" / "bin" / "python"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


MCP = Suite(
    name="mcp",
    version="2.3.0",
    needs=(
        *("mcp[cli,rich]==2.3.0", "pydantic-settings", "pillow", "trio", "logfire", "opentelemetry-sdk"),
        *("pytest", "pytest-timeout", "pytest-xdist", "pytest-examples", "inline-snapshot", "dirty-equals"),
        *(
            "blockbuster",
            "coverage",
            "ruff",
            "zensical",
            "mkdocstrings",
            "mkdocstrings-python",
            "pyyaml",
            "griffelib",
        ),
    ),
    options=("-o", "log_cli=false"),
    paths=("examples",),
)

FASTMCP = Suite(
    name="fastmcp",
    version="4.1.2",
    needs=(
        "fastmcp[anthropic,apps,azure,code-mode,gemini,jev,openai,tasks]==4.1.2",
        *("fastmcp-remote==4.1.2", SDK, "fastapi", "psutil", "pyperclip", "dirty-equals"),
        *("pytest", "pytest-asyncio", "pytest-env", "pytest-examples", "pytest-retry", "pytest-timeout"),
        *("pytest-xdist", "inline-snapshot[dirty-equals]"),
        *("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-grpc"),
    ),
    # Those need Node, or services on the internet.
    options=("-m", "not conformance and not integration"),
)

SUITES = (MCP, FASTMCP)

_OUR_CHOICE = frozenset({"mcp", "mcp-types", "fastmcp", "fastmcp-slim"})
"""Not as the lock has them: FastMCP 4.1.2 was locked with an earlier SDK."""


def install(suite: Suite, step: Step) -> None:
    """Its sources and an environment of its own; at once where that was done before for the same pins."""
    stamp = suite.home / "made-for"
    if stamp.exists() and stamp.read_text() == _key(suite):
        return
    shutil.rmtree(suite.home, ignore_errors=True)
    suite.home.mkdir(parents=True)
    step.say(f"fetching the sources of {suite} and what its tests need (a minute)")
    _fetch(suite, step)
    constraints = suite.home / "constraints.txt"
    constraints.write_text("".join(f"{pin}\n" for pin in _locked(suite.sources / "uv.lock")))
    step.run(sys.executable, "-m", "venv", str(suite.home / "venv"))
    pip = (str(suite.python), "-m", "pip", "install", "--quiet")
    step.run(*pip, "--upgrade", "pip>=25.1")
    step.run(*pip, "--constraint", str(constraints), *suite.needs)
    step.run(*pip, "--editable", str(ROOT))
    stamp.write_text(_key(suite))


def _key(suite: Suite) -> str:
    """Changes when a pin, the package's own requirements or this file change."""
    wanted = (ROOT / "pyproject.toml").read_bytes() + Path(__file__).read_bytes() + sys.version.encode()
    return hashlib.sha256(wanted + repr(suite).encode()).hexdigest()


def _fetch(suite: Suite, step: Step) -> None:
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", f"--no-binary={suite.name}")
    step.run(*pip, f"--dest={suite.home}", f"{suite.name}=={suite.version}")
    with tarfile.open(suite.home / f"{suite.name}-{suite.version}.tar.gz") as archive:
        archive.extractall(suite.home, filter="data")


def _locked(lock: Path) -> list[str]:
    """The versions that the suite was last run with by its own people, as far as there is one of each."""
    packages: list[dict[str, Any]] = tomllib.loads(lock.read_text())["package"]
    times = Counter(package["name"] for package in packages)
    return [
        f"{package['name']}=={package['version']}"
        for package in packages
        if "registry" in package["source"]
        and times[package["name"]] == 1
        and package["name"] not in _OUR_CHOICE
    ]

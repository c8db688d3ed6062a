"""The questions of a round that a body returned: read, and examined before anything of it is sent."""

from collections.abc import Mapping
from typing import NamedTuple

from mcp_types import (
    ClientCapabilities,
    CreateMessageRequest,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
)
from pydantic import ValidationError

from askback.errors import AuthorError, CannotAsk, QuestionRefused, SecretInForm
from askback.protocol.elicitation import question_of
from askback.protocol.revisions import Era, Modes, Revision, require_mode


class CallClient(NamedTuple):
    """What the client of one call speaks and can do."""

    revision: Revision
    modes: Modes
    declared: ClientCapabilities | None


def read_round(result: object) -> InputRequiredResult:
    """The round that a body returned."""
    if isinstance(result, InputRequiredResult):
        return result
    try:
        return InputRequiredResult.model_validate(result)
    except ValidationError as error:
        raise AuthorError(
            "This call returned a round of questions that is not one: check it against InputRequiredResult."
        ) from error


def examine(requests: Mapping[str, InputRequest] | None, client: CallClient) -> None:
    """Refuse, before any of it is sent, a round that the client cannot serve (R02) or that fishes for secrets (R11).

    A round of the author's own goes to a client that declares nothing: its author may answer by hand, as in the SDK's
    tutorial, and that works without Askback.
    """
    if not may_answer_by_hand(client):
        require_served(requests, client)
    for request in (requests or {}).values():
        if isinstance(request, ElicitRequest):
            _examine_question(request, client)


def may_answer_by_hand(client: CallClient) -> bool:
    """Whether a client of the rounds era says nothing at all about what it can be asked for."""
    declared = client.declared
    if client.revision.era is not Era.ROUNDS or client.modes:
        return False
    return declared is None or (declared.sampling is None and declared.roots is None)


def require_served(requests: Mapping[str, InputRequest] | None, client: CallClient) -> None:
    """Refuse what this client did not declare; the questions themselves were examined before."""
    for request in (requests or {}).values():
        match request:
            case ElicitRequest():
                mode = "url" if isinstance(request.params, ElicitRequestURLParams) else "form"
                require_mode(mode, client.revision, client.modes)
            case CreateMessageRequest():
                _require("sampling", client.declared is not None and client.declared.sampling is not None)
            case ListRootsRequest():
                _require("roots", client.declared is not None and client.declared.roots is not None)


def _examine_question(request: ElicitRequest, client: CallClient) -> None:
    try:
        question_of(request.params)
    except SecretInForm:
        raise
    except QuestionRefused:
        # On the rounds era it goes out in its author's own words, which are the author's business.
        if client.revision.era is not Era.ROUNDS:
            raise


def _require(capability: str, is_declared: bool) -> None:
    if not is_declared:
        raise cannot_give(capability, f"This client did not declare {capability}.")


def cannot_give(capability: str, reason: str) -> CannotAsk:
    """Sampling and roots are not ours, but a round of questions may need them."""
    return CannotAsk(
        mode=capability,
        reason=f"This call needs {capability} from the client. {reason}",
        advice="Use a client that offers it; in the tool, ask for it only where ctx.client_capabilities has it.",
    )

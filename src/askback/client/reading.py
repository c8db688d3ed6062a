"""A server's words made into a question that a person can be shown. Nothing of it is looked up or fetched."""

from collections.abc import Collection

from askback.client.consent import judge
from askback.client.forms import read_form
from askback.client.person import Asked, Asker, FormAsked, VisitAsked
from askback.protocol.client.questions import IncomingForm, IncomingQuestion


def prepare_question(
    words: IncomingQuestion,
    *,
    asker: Asker,
    purposes: tuple[str, ...],
    key: str | None = None,
    before: Collection[str] | None = None,
) -> Asked:
    """The form read with care, or the link judged; `before` are the sites that this server sent the person to."""
    if isinstance(words, IncomingForm):
        return FormAsked(
            asker=asker,
            purposes=purposes,
            message=words.message,
            blank=read_form(words.schema),
            key=key,
            meta=words.meta,
            question=words.question,
        )
    return VisitAsked(
        asker=asker,
        purposes=purposes,
        message=words.message,
        url=words.url,
        verdict=judge(words.url, server_host=asker.host, before=before),
        id=words.id,
        key=key,
        meta=words.meta,
        question=words.question,
    )

"""`Askback(ledger=...)`: on where its lines would last and could be sealed, unless somebody says otherwise."""

from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer

from askback import Askback
from askback.errors import AuthorError, OperatorError
from askback.ledger import Ledger
from tests.server.audit.books import KEY


def made(**options: Any) -> Askback:
    return Askback(MCPServer("bakery"), **options)


def test_without_a_word_it_is_on_where_keys_are_given_and_the_store_lasts(tmp_path: Path):
    lasting = f"sqlite:///{tmp_path}/askback.db"
    assert made().ledger is None
    assert made(keys=[KEY]).ledger is None
    assert made(store=lasting).ledger is None
    assert made(keys=[KEY], store=lasting, ledger=False).ledger is None
    assert made(keys=[KEY], store=lasting).ledger is not None


def test_one_that_must_be_kept_needs_keys_and_a_store_that_lasts(tmp_path: Path):
    with pytest.raises(OperatorError, match=r"keys=\[\.\.\.\]"):
        made(ledger=True, store=f"sqlite:///{tmp_path}/askback.db")
    with pytest.raises(OperatorError, match="Give one that lasts"):
        made(ledger=True, keys=[KEY])
    assert made(ledger=True, keys=[KEY], store=f"sqlite:///{tmp_path}/askback.db").ledger is not None


def test_one_of_its_own_is_taken_as_it_is(tmp_path: Path):
    own = Ledger(f"sqlite:///{tmp_path}/ledger.db", [KEY])
    assert made(ledger=own).ledger is own


def test_anything_else_is_refused_when_it_is_given():
    with pytest.raises(AuthorError, match="True, False, or says more"):
        made(ledger="sqlite:///ledger.db")

"""The documentation holds together: its code is code, its links lead somewhere, and it leaves nothing out."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import askback.errors
from askback.errors import AskbackError
from tests.support.corpus import corpus
from tests.support.docs_pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    code_of,
    includes,
    is_include,
    links,
    table,
)

PYTHON = [block for page in PAGES for block in blocks(page, "python") if not is_include(block)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@corpus("block", PYTHON)
def test_code_on_a_page_is_python(block: Block):
    compile(block.text, name_of(block.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)


@corpus("page", PAGES)
def test_what_a_page_includes_is_there(page: Path):
    for file, section in includes(page):
        text = (ROOT / file).read_text()
        if section is not None:
            for mark in ("start", "end"):
                assert f"# --8<-- [{mark}:{section}]" in text, f"{file} does not {mark} a section {section}"


@corpus("page", PAGES)
def test_a_link_leads_to_a_file_and_to_a_heading_in_it(page: Path):
    for link in links(page):
        file, _, heading = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link} leads nowhere"
        if heading:
            assert heading in anchors(target), f"{name_of(target)} has no heading {heading}"


def test_every_picture_is_shown_on_a_page():
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    forgotten = sorted(name_of(picture) for picture in DOCS.rglob("*.png") if picture.resolve() not in shown)
    assert not forgotten, (
        f"Show these on a page, or let scripts/screenshots.py make them no more: {forgotten}"
    )


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    missing = [name for page in DOCS.rglob("*.md") if (name := str(page.relative_to(DOCS))) not in navigation]
    assert not missing, f"Add to nav in mkdocs.yml: {', '.join(missing)}"


PUBLIC = [
    "askback",
    "askback.client",
    "askback.client.consent",
    "askback.client.desk",
    "askback.client.forms",
    "askback.client.policy",
    "askback.client.terminal",
    "askback.guards",
    "askback.guards.cost",
    "askback.guards.sql",
    "askback.ledger",
    "askback.oauth",
    "askback.pages",
    "askback.testing",
    "askback.vault",
]
ALSO_AT_THE_TOP = {"askback.guards.guard", "askback.vault.Secret", "askback.vault.Token"}
"""Told under their shorter names."""


@corpus("name", PUBLIC)
def test_every_public_name_has_its_place_in_the_reference(name: str):
    listed = (DOCS / "reference" / "api.md").read_text().splitlines()
    names = {f"{name}.{one}" for one in import_module(name).__all__} - ALSO_AT_THE_TOP
    missing = sorted(one for one in names if f"::: {one}" not in listed)
    assert not missing, f"Add to docs/reference/api.md: {', '.join(missing)}"


def test_every_variable_of_ours_is_on_its_page():
    listed = (DOCS / "reference" / "environment.md").read_text()
    sources = "".join(module.read_text() for module in (ROOT / "src").rglob("*.py"))
    missing = {name for name in re.findall(r"\bASKBACK_[A-Z_]+", sources) if f"`{name}`" not in listed}
    assert not missing, f"Add to docs/reference/environment.md: {', '.join(sorted(missing))}"


ERRORS = {
    name: kind
    for name, kind in vars(askback.errors).items()
    if inspect.isclass(kind) and issubclass(kind, AskbackError)
}
ROWS = table(DOCS / "reference" / "errors.md", "error", "raised by", "whose move", "facts", "code")


def test_the_page_of_errors_draws_the_tree_that_is_there():
    (tree,) = (one.text for one in blocks(DOCS / "reference" / "errors.md", "text"))
    drawn = [line.lstrip("│ ├└─").split()[0] for line in tree.splitlines()]
    assert sorted(drawn) == sorted(ERRORS)


def test_every_error_that_is_raised_has_its_row():
    groups = {"AskbackError", "AuthorError", "PeerError", "OperatorError"}
    assert {code_of(row[0]) for row in ROWS} == ERRORS.keys() - groups


@corpus("row", ROWS)
def test_a_row_tells_the_facts_and_the_code_of_its_error(row: list[str]):
    error, _, _, facts, codes = row
    kind: Any = ERRORS[code_of(error)]
    source = "".join(inspect.getsource(base) for base in kind.__mro__ if issubclass(base, AskbackError))
    for fact in facts.replace("`", "").split(", ") if facts else []:
        assert f"self.{fact}" in source, f"{kind.__name__} does not keep {fact}"
    if codes:
        assert str(kind.default_code) in codes.split(", ")

"""The example on FastMCP passes the tests that its author wrote."""

import pytest

from tests.examples.test_examples import EXAMPLES, pytest_of


@pytest.mark.slow
def test_the_pizzeria_on_fastmcp_passes_its_own_tests():
    assert "12 passed" in pytest_of(EXAMPLES / "fastmcp")

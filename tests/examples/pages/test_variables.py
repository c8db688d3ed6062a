"""An example that needs variables says which, and what they are."""

import pytest

from examples.sign_in.__main__ import main


def test_the_sign_in_example_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["sign_in"])
    monkeypatch.delenv("SIGN_IN_CLIENT_ID", raising=False)
    monkeypatch.setenv("SIGN_IN_ISSUER", "https://id.example")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "set SIGN_IN_CLIENT_ID: how this server is registered there" in said
    assert "SIGN_IN_ISSUER:" not in said

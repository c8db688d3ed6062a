"""Secrets and tokens, encrypted, keyed by caller."""

from askback.vault.secret import Secret, Token

__all__ = ["Secret", "Token"]

"""Secrets and tokens, encrypted, keyed by caller."""

from askback.runtime.secrets import Secret, SecretField, Token
from askback.vault.keys import find_keys, new_key, read_keys
from askback.vault.vault import Vault

__all__ = ["Secret", "SecretField", "Token", "Vault", "find_keys", "new_key", "read_keys"]

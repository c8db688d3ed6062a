"""The pages behind the links: secrets typed, sign-ins begun and finished, and who may do so."""

from askback.pages.settings import Brand, Pages, SignIn

__all__ = ["Brand", "Pages", "SignIn"]

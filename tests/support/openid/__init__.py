"""A real OpenID provider, started by the tests, and servers that trust it."""

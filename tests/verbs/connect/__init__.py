"""`connect` from end to end, with a real OpenID provider at the other end."""

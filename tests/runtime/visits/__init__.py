"""Visits: to pages of others, from the question to their end, on every revision that knows links."""

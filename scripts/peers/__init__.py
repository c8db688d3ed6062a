"""`make peers`: the hosts' own test suites, once as they are and once with `Askback(server)` on every server.

The line is added in the process of the tests. Servers that a test starts in a process of its own stay as they are.
"""

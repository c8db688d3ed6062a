"""`make peers`: the hosts' own test suites, once as they are and once with `Askback(server)` on every server."""

"""Workers behind nginx with a store between them, a load of flows, and what goes wrong meanwhile; all of it is counted.

Loopback only; bounded in count and in time. `tests/server/cluster/` runs it with faults, `make bench` without.
"""

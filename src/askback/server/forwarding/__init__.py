"""Many workers, one server: requests of a session find the worker that it lives with, whichever they reach first.

finding    each request: served here, brought to another worker, or refused
keeping    this worker's presence in the store       register   the rows that say who is where
bringing   to another worker and back                listening  from another worker
parcels    a request as it travels                   answering  its answer, frame by frame
sealing    what nobody else reads or forges          homes      the sessions that live here
addresses  where workers reach each other            places     a socket that listens there
routes     the way to a session, remembered          outbox     answers that are accepted and delivered later
copies     a request that comes twice is run once    drain      how a worker ends that is told to
single     a server that has no other workers
"""

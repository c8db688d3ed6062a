"""Forwarding: a request of a 2025 session goes to the worker that has the session, whichever worker it reaches first.

router      each request: served here, forwarded to another worker, or refused
directory   rows in the store: which worker has which session, and which workers live
presence    keeps the rows of this worker in the store
sessions    the sessions of this worker
forwarder   sends requests to another worker          listener   receives them
envelope    a request as it is sent                   seal       its encryption, and that of the response
outbox      answers that are accepted now and delivered later
dedupe      a request that is delivered twice is run once
drain       how a worker ends                         single     a server without other workers
addresses   where workers reach each other
"""

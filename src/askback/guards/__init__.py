"""Guards: a person is asked before it hurts."""

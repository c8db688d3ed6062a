"""Guards: what a person is asked before it hurts."""

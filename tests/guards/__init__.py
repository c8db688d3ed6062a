"""Guards: what a person is asked before something dangerous runs."""

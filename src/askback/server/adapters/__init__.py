"""One file per host: what Askback relies on there, checked when it is installed."""

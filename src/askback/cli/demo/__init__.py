"""`askback demo`: three small servers that ask you, and what goes over the wire on each revision."""

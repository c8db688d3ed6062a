"""The ledger: what is written, what is noticed, what stays."""

"""`askback ledger`: read and verify the record of what was asked and answered."""

"""`askback approvals`: list and revoke what people approved for longer than one call."""

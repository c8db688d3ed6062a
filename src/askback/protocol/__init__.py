"""What differs between the protocol's revisions. Version strings and wire field names are spelled here alone."""

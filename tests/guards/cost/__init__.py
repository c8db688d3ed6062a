"""What a statement costs, told by real engines."""

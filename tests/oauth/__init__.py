"""Authorization servers that lie, break, stall, or lead elsewhere; all of our own, on loopback."""

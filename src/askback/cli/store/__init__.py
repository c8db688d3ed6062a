"""`askback store`: check a store, and make or update its tables in Postgres."""

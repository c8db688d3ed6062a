"""What crosses the whole package: callers at their pages, killed workers, secrets, migration, programs by others."""

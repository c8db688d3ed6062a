"""Where the repository lies, for tests that start programs, read pages or look into examples."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

"""`python -m askback.cli` is the `askback` command."""

import sys

from askback.cli import main

sys.exit(main())

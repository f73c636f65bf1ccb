"""`python -m engrain`: the command line."""

import sys

from engrain.interfaces.cli import run

sys.exit(run())

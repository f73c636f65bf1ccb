"""`python -m engrain`: the command line."""

import sys

from engrain.interfaces.cli import main

sys.exit(main())

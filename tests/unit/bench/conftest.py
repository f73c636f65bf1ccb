import sys
from pathlib import Path

# The bench is run from the checkout and never installed.
sys.path.insert(0, str(Path(__file__).parents[3]))

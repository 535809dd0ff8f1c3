"""``python -m adforest`` is the command ``adforest``."""

import sys

from adforest.cli import main

sys.exit(main())

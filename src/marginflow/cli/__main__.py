"""`python -m marginflow.cli`."""

import sys

from marginflow.cli import main

sys.exit(main())

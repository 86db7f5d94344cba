"""`python -m marginflow.cli`."""

import sys

from marginflow.cli.app import main

sys.exit(main())

"""``python -m sparkconfig``: the command, where its script is not on the PATH."""

import sys

from sparkconfig.cli import main

if __name__ == "__main__":
    sys.exit(main())

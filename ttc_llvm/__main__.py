"""`python -m ttc_llvm`: the same as `ttc`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())

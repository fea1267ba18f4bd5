"""The program: `ttc`, and `python -m ttc_llvm`. Ctrl-C ends it with one line and status 130 from the first lines of the
package on; before, while Python itself starts, the signal or a traceback of Python's does."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())

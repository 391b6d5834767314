"""``python -m autodiff_sct``: see `autodiff_sct.cli.main`."""

import sys

from autodiff_sct.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

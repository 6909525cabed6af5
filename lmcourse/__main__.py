"""``python -m lmcourse`` is the command ``lmcourse``."""

from lmcourse.cli import main

if __name__ == "__main__":
    main()

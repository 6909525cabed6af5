"""``python -m lmcourse`` is the command ``lmcourse``; the one file here that names `coursekit`."""

from coursekit.cli import main

if __name__ == "__main__":
    main()

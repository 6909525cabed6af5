"""``python -m lmcourse`` is the command ``lmcourse``; the one file here that names `coursekit`."""

import sys

CHECKOUT = (
    "The command lmcourse needs a checkout of the course; the wheel has what notebooks import.\n"
    "Get the checkout, and run `make lab` or `python -m coursekit.install` in its folder."
)


def main() -> None:
    """Run the command, or say where it is."""
    try:
        from coursekit.cli import main as command
    except ModuleNotFoundError as error:
        if error.name != "coursekit":
            raise
        sys.exit(CHECKOUT)
    command()


if __name__ == "__main__":
    main()

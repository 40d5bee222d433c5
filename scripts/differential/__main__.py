"""`python -m differential programs SEED COUNT`, or `framework SEED ROUNDS`."""

import sys

from differential.run import COMMANDS


def main() -> None:
    """Run what the arguments name, and print what it says."""
    command, *numbers = sys.argv[1:]
    for line in COMMANDS[command](*map(int, numbers)):
        print(line)


if __name__ == "__main__":
    main()

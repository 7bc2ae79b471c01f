"""``python -m talkhouse.cli``: the command line, where the command itself may not be on the path."""

from talkhouse.cli import main

if __name__ == "__main__":
    main()

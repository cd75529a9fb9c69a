"""``python -m faithscope`` is the command ``faithscope``."""

from faithscope.cli import main

if __name__ == "__main__":
    main()

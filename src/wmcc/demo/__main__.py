"""``python -m wmcc.demo``."""

from . import main

if __name__ == "__main__":
    main()

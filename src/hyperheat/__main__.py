"""`python -m hyperheat` is the command line."""

from hyperheat.cli import main

main()

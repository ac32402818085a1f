"""`hyperheat completion`: what makes a shell complete commands and options."""

import sys
from typing import Literal

from hyperheat.cli.outputs import put

__all__ = ["completion"]


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the completion script of a shell.

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from hyperheat.cli import app

    put(app.generate_completion(prog_name="hyperheat", shell=shell), sys.stdout)

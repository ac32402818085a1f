"""Running git on repositories that others made: nothing in their settings may start a program or reach a network."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["OFFLINE", "GitCall", "GitError", "git_call"]

OFFLINE = MappingProxyType({"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"})
"""The environment of calls that reach no network, not even for objects that a partial clone lacks."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
}
_ENVIRONMENT = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_PROBLEMS = ("fatal: ", "error: ")


class GitError(ValueError):
    """What git cannot do, in one sentence that begins with its subject."""


@dataclass(frozen=True)
class GitCall:
    """How git is called: what goes before a command's name, its environment, what errors speak of, and for how long."""

    command: list[str]
    environment: dict[str, str]
    subject: str
    seconds: float | None = None

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """The output of a git command; raises GitError with what it said."""
        try:
            done = subprocess.run(
                [*self.command, *arguments],
                input=given,
                capture_output=True,
                env=self.environment,
                timeout=self.seconds,
            )
        except subprocess.TimeoutExpired:
            raise GitError(f"git: no answer within {self.seconds:g} seconds") from None
        except (OSError, ValueError) as error:
            raise GitError(f"git: expected the program to run, got: {error}") from None
        if done.returncode:
            raise self.error(done.stderr)
        return done.stdout

    def error(self, output: bytes) -> GitError:
        """The error of a command that said this."""
        lines = output.decode(errors="replace").strip().splitlines() or ["git gave no reason"]
        told = next((line for line in lines if line.startswith(_PROBLEMS)), lines[-1])
        for start in _PROBLEMS:
            told = told.removeprefix(start)
        return GitError(f"{self.subject}: {told[:300]}")


def git_call(
    subject: str,
    options: Sequence[str] = (),
    *,
    environment: Mapping[str, str] = OFFLINE,
    settings: Mapping[str, str] = MappingProxyType({}),
    seconds: float | None = None,
) -> GitCall:
    """Calls with options before the command's name: plain English, no questions, no pager, none of the settings of a
    git command around this process, and the given settings above those of the repository.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = {**_SETTINGS, **settings}
    keys = {f"GIT_CONFIG_KEY_{i}": name for i, name in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{i}": value for i, value in enumerate(settings.values())}
    ours = {**_ENVIRONMENT, **environment, **keys, **values, "GIT_CONFIG_COUNT": str(len(settings))}
    return GitCall(["git", "--no-pager", "--no-replace-objects", *options], own | ours, subject, seconds)

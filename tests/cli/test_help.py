"""Help: every command has examples, and every example is a command line that can be parsed."""

import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
from cyclopts import App

from hyperheat.cli import app, order_words
from hyperheat.cli.examples import EXAMPLES


def commands(group: App, name: str = "") -> Iterator[str]:
    """The names of a group of commands and of all commands in it."""
    yield name
    for word in group:
        if word.startswith("-"):
            continue
        whole = f"{name} {word}".strip()
        if whole in ("bugs", "kg"):
            yield from commands(group[word], whole)
        else:
            yield whole


def test_every_command_has_examples_and_no_others_do():
    assert sorted(commands(app)) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_in_the_help(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        app([*name.split(), "--help"], exit_on_error=False)
    assert not end.value.code
    shown = capsys.readouterr().out
    assert "\nExamples:\n" in shown
    for line in EXAMPLES[name]:
        assert "".join(line.split()) in "".join(shown.split())


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_can_be_parsed(line: str):
    words = shlex.split(line)
    for sign in ("<", ">"):
        if sign in words:
            words = words[: words.index(sign)]
    program, *rest = words
    assert program == "hyperheat"
    _, _, ignored = app.parse_args(order_words(rest), exit_on_error=False, print_error=False)
    assert not ignored


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_all_commands_and_their_options(shell: str, capsys):
    app(["completion", shell], exit_on_error=False, result_action="return_value")
    script = capsys.readouterr().out
    for word in ("check", "doctor", "corpus", "complete", "show-all", "output-format", "max-alarms"):
        assert word in script


def test_bash_completes(tmp_path, capsys):
    app(["completion", "bash"], exit_on_error=False, result_action="return_value")
    (tmp_path / "hyperheat").write_text(capsys.readouterr().out)

    def complete(*words: str) -> list[str]:
        listed = " ".join(shlex.quote(word) for word in words)
        script = (
            f"source ./hyperheat; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _hyperheat; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return sorted(word.strip() for word in done.stdout.split())

    assert complete("hyperheat", "ch") == ["check"]
    assert complete("hyperheat", "check", "--show") == ["--show-all"]
    assert complete("hyperheat", "check", "--tier", "") == ["A", "B", "C"]
    assert complete("hyperheat", "bugs", "t") == ["train"]


def test_completion_needs_no_training_packages():
    script = (
        "import sys\n"
        "for name in ('torch', 'pyarrow', 'safetensors', 'starlette', 'uvicorn', 'pygls', 'lsprotocol'):\n"
        "    sys.modules[name] = None\n"
        "sys.argv = ['hyperheat', 'completion', 'bash']\n"
        "from hyperheat.cli import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_hyperheat()" in done.stdout

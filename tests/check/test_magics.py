"""IPython's commands: found where they are, never inside of Python, and replaced line by line."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.check.magics import without_commands


@pytest.mark.parametrize(
    ("line", "replaced"),
    [
        ("%matplotlib inline", "pass"),
        ("%%time", ""),
        ("!pip install numpy", "pass"),
        ("!!ls", "pass"),
        ("files = !ls -l", "files = None"),
        ("a, b = %who_ls", "a, b = None"),
        ("x.y[0] = %time f(x)", "x.y[0] = None"),
        ("len?", "pass"),
        ("np.linalg.norm??", "pass"),
        ("?len", "pass"),
        ("%time?", "pass"),
        ("/print 1", "pass"),
        (",print a b", "pass"),
        (";print a b", "pass"),
        ("    !ls", "    pass"),
    ],
)
def test_commands(line, replaced):
    assert without_commands(f"{line}\n").text == f"{replaced}\n"
    assert without_commands(f"{line}\n").commands == {1}


@pytest.mark.parametrize(
    "text",
    [
        "x = (1\n% 2)\n",
        's = """\n%time\n!ls\n"""\n',
        "s = '''it's # no comment\n!ls'''\n",
        "x = [  # ( \" '\n!=\n]\n".replace("!=", "1"),
        "s = 'a \\\n%s'\n",
        "x = 1 \\\n% 2\n",
        "plot(x);\n",
        "x = y if z else 1  # why?\n",
    ],
)
def test_python_is_left_alone(text):
    ast.parse(text)
    assert without_commands(text).text == text
    assert without_commands(text).commands == frozenset()


def test_a_command_may_take_several_lines_and_lines_keep_their_numbers():
    text = "!pip install \\\n    numpy \\\n    scipy\nx = 1\r\n%pwd\r\nif x:\n    %time f(x)\n"
    plain = without_commands(text)
    assert plain.text == "pass\n\n\nx = 1\r\npass\r\nif x:\n    pass\n"
    assert plain.commands == {1, 2, 3, 5, 7}


def test_cell_magics_of_python_and_of_others():
    assert without_commands("\n%%time\nx = 1\n%pwd\n").text == "\n\nx = 1\npass\n"
    assert without_commands("%%capture out\n%%timeit\nx = 1\n").text == "\n\nx = 1\n"
    for other in ("%%bash\nls\n", "%%html\n<b>\n", "%%writefile a.py\ndef f(:\n", "%%\n?\n"):
        assert without_commands(other).text.strip() == ""
        assert without_commands(other).text.count("\n") == other.count("\n")


@given(st.text("%!?=x \t\n\r\\'\"#([])/;,\u2028\x0c", max_size=60))
def test_anything_keeps_its_line_ends(text):
    def ends(text: str) -> str:
        return "".join(character for character in text if character in "\r\n")

    assert ends(without_commands(text).text) == ends(text)

"""How long an editor waits for the language server: from an edit until the new diagnostics have arrived.

The server is a process of its own, as editors start it; steps take turns, and the median of each counts.
"""

import ast
import json as json_module
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.command import Positive, fail, run
from benchmarks.timing import processor_ms

__all__ = ["STEPS", "cut_lines", "main", "measure_lsp"]

STEPS = {
    "body": "a statement in a function",
    "signature": "a parameter of a function",
    "shift": "a line above all functions",
    "broken": "a syntax error",
    "hover": "hover: why a finding is reported",
    "open": "open: all functions",
    "parse": "for comparison: ast.parse of the file",
}
"""What is measured, in the order of a turn."""

_URI = "file:///benchmark/code.py"


class _Server:
    """A language server, and messages to and from it."""

    def __init__(self, folder: Path, model: Path | None) -> None:
        command = [sys.executable, "-m", "hyperheat", "lsp"]
        command += [] if model is None else ["--model", str(model.resolve())]
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._version = 0
        self._requests = 0
        options = {"tier": "C"}
        self.ask("initialize", {"capabilities": {}, "processId": None, "initializationOptions": options})
        self.tell("initialized", {})

    def tell(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self._requests += 1
        number = self._requests
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise ValueError(f"{method}: expected an answer, got {answer['error']}")
        return answer["result"]

    def open(self, text: str) -> list[Any]:
        """Open a text anew; its diagnostics."""
        self._version += 1
        item = {"uri": _URI, "languageId": "python", "version": self._version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self._diagnostics()

    def close(self) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": _URI}})

    def edit(self, line: int, column: int, text: str, removed: int = 0) -> list[Any]:
        """Put a text at a place, for a number of characters that are removed; the new diagnostics."""
        self._version += 1
        span = {
            "start": {"line": line, "character": column},
            "end": {"line": line, "character": column + removed},
        }
        changes = [{"range": span, "text": text}]
        document = {"uri": _URI, "version": self._version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        return self._diagnostics()

    def __enter__(self) -> "_Server":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.ask("shutdown", None)
            self.tell("exit", None)
        else:
            self._process.kill()
        self._process.communicate()

    def processor_ms(self) -> float:
        """The processor time that the server and its workers have taken; 0 where the system cannot tell."""
        return processor_ms(self._process.pid) or 0.0

    def _diagnostics(self) -> list[Any]:
        while True:
            message = self._receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params.get("version") == self._version:
                    return params["diagnostics"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json_module.dumps(message).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._in.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while (line := self._out.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not line:
            raise ValueError("expected a message of the server, got the end of its output")
        return json_module.loads(self._out.read(length))


def cut_lines(text: str, lines: int) -> str:
    """The first statements of a module, up to the one that reaches a number of lines."""
    for statement in ast.parse(text).body:
        if (statement.end_lineno or 0) >= lines:
            return "".join(text.splitlines(keepends=True)[: statement.end_lineno])
    return text


def measure_lsp(text: str, *, model: Path | None, repeats: int) -> dict[str, Any]:
    """The milliseconds of each step, after a first turn that does not count: the median, the slowest, the processor time."""
    spent: dict[str, list[_Spent]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="hyperheat-bench-") as folder,
        _Server(Path(folder), model) as server,
    ):
        for turn in range(repeats + 1):
            for step, of_step in _turn(server, text, turn):
                if turn:
                    spent.setdefault(step, []).append(of_step)
    return {
        "lines": text.count("\n"),
        "functions": sum(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(text))),
        "repeats": repeats,
        "median_ms": {
            step: round(statistics.median(s.clock for s in some), 1) for step, some in spent.items()
        },
        "slowest_ms": {step: round(max(s.clock for s in some), 1) for step, some in spent.items()},
        "work_ms": {step: round(statistics.median(s.work for s in some), 1) for step, some in spent.items()},
    }


class _Spent(NamedTuple):
    """Milliseconds on the clock, and of processor time of all processes."""

    clock: float
    work: float


def _turn(server: _Server, text: str, turn: int) -> Iterator[tuple[str, _Spent]]:
    """Each step once, with another function each turn."""
    spent: dict[str, _Spent] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        work, start = server.processor_ms() + 1e3 * time.process_time(), time.perf_counter()
        yield
        clock = 1e3 * (time.perf_counter() - start)
        spent[step] = _Spent(clock, server.processor_ms() + 1e3 * time.process_time() - work)

    function = _function(text, turn)
    line, indent = function.body[0].lineno - 1, function.body[0].col_offset
    parameter = text.splitlines()[function.lineno - 1].index("(") + 1
    with timed("parse"):
        ast.parse(text)
    with timed("open"):
        found = server.open(text)
    with timed("body"):
        server.edit(line, 0, f"{' ' * indent}measured_turn = len(str({turn}))\n")
    with timed("signature"):
        server.edit(function.lineno - 1, parameter, f"measured_{turn}, ")
    with timed("shift"):
        server.edit(0, 0, "\n")
    with timed("broken"):
        server.edit(0, 0, "(")
    server.edit(0, 0, "", removed=1)
    others = [place["range"]["start"] for place in found]
    others = [
        place for place in others if not function.lineno <= place["line"] + 1 <= (function.end_lineno or 0)
    ]
    if others:
        place = others[turn % len(others)]
        moved = {"line": place["line"] + 1 + (place["line"] >= line), "character": place["character"]}
        with timed("hover"):
            server.ask("textDocument/hover", {"textDocument": {"uri": _URI}, "position": moved})
    server.close()
    yield from spent.items()


def _function(text: str, turn: int) -> ast.FunctionDef:
    """A function whose body begins on a line of its own, another one each turn."""
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno
    ]
    if not functions:
        raise ValueError("expected a function of several lines, got none")
    return functions[7 * turn % len(functions)]


def main(
    path: Path | None = None,
    /,
    *,
    lines: Positive = 1_000,
    model: Path | None = None,
    repeats: Positive = 20,
    json: bool = False,
) -> None:
    """Edit a file in turns and measure how long the language server takes to answer.

    Parameters
    ----------
    path
        A Python file; argparse.py of the standard library unless given.
    lines
        Only take the first statements of the file, up to the one that reaches this number of lines.
    model
        A folder that bugs export wrote; the model in the package unless given.
    repeats
        Turns that each step takes; the median counts. One more turn warms up.
    json
        Print one JSON object.
    """
    source = path or Path(sysconfig.get_path("stdlib")) / "argparse.py"
    try:
        text = cut_lines(source.read_text(encoding="utf-8"), lines)
        measured = measure_lsp(text, model=model, repeats=repeats)
    except (ValueError, OSError, SyntaxError) as error:
        fail(error)
    content = {"code": source.name, **measured}
    sys.stdout.write((json_module.dumps(content, indent=1) if json else _table(content)) + "\n")


def _table(content: dict[str, Any]) -> str:
    rows = [
        f"{content['code']}: {content['lines']:,} lines, {content['functions']} functions; {content['repeats']} turns",
        "",
        f"{'':<38} {'median':>10} {'slowest':>10} {'processor':>10}",
    ]
    for step, title in STEPS.items():
        if step in content["median_ms"]:
            times = (content[key][step] for key in ("median_ms", "slowest_ms", "work_ms"))
            rows.append(f"{title:<38}" + "".join(f" {spent:>7.0f} ms" for spent in times))
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)

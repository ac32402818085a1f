"""`hyperheat lsp`: the language server."""

from typing import Annotated

from hyperheat.cli.options import RUNNING, ScanOptions, flag, make_checker
from hyperheat.cli.refusal import fail

__all__ = ["lsp"]


def lsp(
    *,
    model: Annotated[str | None, flag(RUNNING)] = None,
    timeout: Annotated[float | None, flag(RUNNING)] = None,
    max_memory: Annotated[str | None, flag(RUNNING)] = None,
    max_file_size: Annotated[str | None, flag(RUNNING)] = None,
    stdio: Annotated[bool, flag(RUNNING)] = False,
) -> None:
    """Show findings in an editor.

    Parameters
    ----------
    model
        Name of an installed model, or folder of an exported detector. Default: the model in the package.
    timeout
        Time limit per document in seconds; each function may use a thirtieth of it. Default: 300.
    max_memory
        Memory limit per process, such as 2GB. Default: 1GiB.
    max_file_size
        Do not check documents that are larger than this, such as 500KB. Default: 1MB.
    stdio
        Use standard input and output, which is the default; editors may pass it.
    """
    from hyperheat.check.settings import Settings
    from hyperheat.lsp.server import serve_editor

    del stdio
    options = ScanOptions(
        model=model, timeout=timeout, max_memory=max_memory, max_file_size=max_file_size, no_cache=True
    )
    try:
        checker = make_checker(options, Settings())
    except (ValueError, OSError) as error:
        fail(error)
    code = serve_editor(checker.detector, limits=checker.limits, max_characters=checker.max_bytes)
    raise SystemExit(code)

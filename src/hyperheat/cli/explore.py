"""`hyperheat explore`: look at findings, or at the answers of a model of statements, in a browser."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hyperheat.cli.options import ScanOptions, make_checker, read_settings
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.web.serving import Reader

__all__ = ["explore"]


def explore(
    *paths: str,
    kg: str | None = None,
    data: str | None = None,
    model: str | None = None,
    port: int = 0,
    open: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Look at findings, heat maps and hypergraphs in a browser.

    Parameters
    ----------
    paths
        Files and folders to check. Default: the current folder.
    kg
        Ask a model of statements instead: the folder of a trained model; demo; or heuristic, without torch.
    data
        For the heuristic: a file or folder of statements, or the name of a published data set.
    model
        Name of an installed model, or folder of an exported detector. Default: the model in the package.
    port
        Port to listen on, on this machine only. Default: any free one.
    open
        Also open the page in your browser.
    """
    from hyperheat.web.serving import listen, make_app, serve
    from hyperheat.workers.outcomes import WorkersError

    try:
        if kg is not None and (paths or model is not None):
            raise ValueError("--kg cannot be used together with paths or --model")
        if kg is None and data is not None:
            raise ValueError("--data requires --kg")
        made, address = listen(port)
        with made:
            if kg is not None:
                serve(make_app(_statements(kg, data), address), made, address, opened=open)
                return
            from hyperheat.web.code_site import CodeSite
            from hyperheat.web.desk import Desk

            options = ScanOptions(model=model)
            checker = make_checker(options, read_settings(paths or (".",), options))
            baseline = checker.read_baseline()
            scan = checker.scan_paths(paths or (".",))
            report = scan.with_every_tier().report(baseline=baseline)
            with Desk(scan.detector) as desk, Desk(scan.detector) as slow_desk:
                desk.warm_up()
                site = CodeSite(scan, report, desk=desk, slow_desk=slow_desk)
                serve(make_app(site.readers(), address), made, address, opened=open)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)


def _statements(model: str, data: str | None) -> "dict[str, Reader]":
    from hyperheat import kg
    from hyperheat.web.statement_site import StatementSite

    return StatementSite(kg.load(model, data=data), model).readers()

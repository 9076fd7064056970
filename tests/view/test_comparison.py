from jaxmb.view.comparison import comparison_report
from jaxmb.view.report import Grid, Heading

from ..studies.test_comparison import cell, table


def test_every_cell_is_in_the_numbers():
    report = comparison_report(table(cell(), cell("Schur", status="max_steps"), cell(stabilization="Baumgarte")))
    (grid,) = (block for block in report.blocks if isinstance(block, Grid))
    assert len(grid.rows) == 3
    assert grid.rows[1][-1] == "Stopped: <why>." and grid.rows[1][5] == "-"
    headings = [block.text for block in report.blocks if isinstance(block, Heading)]
    assert headings == [
        "Error over cost, Quaternion, Dopri5",
        "Cost, Quaternion, Dopri5",
        "Constraints, Quaternion, Dopri5",
        "All numbers",
    ]


def test_without_reference_there_is_no_plot_of_errors():
    report = comparison_report(table(cell(error=float("nan"))))
    assert not [block for block in report.blocks if isinstance(block, Heading) and "Error" in block.text]

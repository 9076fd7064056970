"""What is drawn: labels with units, legends, logarithmic axes where ranges span decades."""

import numpy as np

from jaxmb.view import plots

from ..studies.test_comparison import cell, table


def test_work_precision_is_logarithmic_and_leaves_failures_out():
    comparison = table(cell(), cell("Schur", status="max_steps"), cell(tolerance=1e-9, error=1e-8, run_s=0.03))
    (axes,) = plots.work_precision(comparison).axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert "ms" in axes.get_xlabel() and "error" in axes.get_ylabel()
    drawn = axes.lines[0]
    np.testing.assert_allclose(np.sort(drawn.get_xdata()), [10.0, 30.0])
    assert axes.lines[1].get_xdata().size == 0


def test_grouped_bars_by_tolerance():
    comparison = table(cell(run_s=0.01), cell("Schur", run_s=0.02), cell(tolerance=1e-9, run_s=1.0))
    (axes,) = plots.grouped_bars(comparison, "run_s", "run time (s)", "strut").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1e-06", "1e-09"]
    assert axes.get_yscale() == "log", "a factor of a hundred"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["KKT", "Schur"]
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, [0.01, 1.0, 0.02, np.nan])


def test_grouped_bars_by_stabilization_when_there_is_one_tolerance():
    comparison = table(cell(), cell(stabilization="Baumgarte"))
    (axes,) = plots.grouped_bars(comparison, "right_hand_sides", "right-hand sides").axes
    assert axes.get_xlabel() == "stabilization" and axes.get_yscale() == "linear"


def test_constraint_norms_have_three_levels_with_units():
    figure = plots.constraint_norms([cell(), cell(stabilization="Baumgarte")], ["a", "b"], "title")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert [label.count("'") for label in labels] == [0, 1, 2] and all("m" in label for label in labels)
    assert all(axes.get_yscale() == "log" and len(axes.lines) == 2 for axes in figure.axes)
    np.testing.assert_allclose(figure.axes[1].lines[0].get_ydata(), cell().history.velocity)


def test_drift_has_a_line_for_each_cell():
    (axes,) = plots.drift([cell(), cell("Schur")], ["one", "two"]).axes
    assert [line.get_label() for line in axes.lines] == ["one", "two"]
    assert axes.get_xlabel() == "time (s)"


def test_bars_without_any_run_that_succeeded_are_empty():
    (axes,) = plots.grouped_bars(table(cell(status="max_steps")), "run_s", "run time (s)").axes
    assert not axes.patches and axes.get_ylabel() == "run time (s)"

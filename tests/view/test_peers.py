"""The report of the benchmark against other engines, from made-up runs."""

from jaxmb.studies.peers_result import PeerBenchmark, Race, Run
from jaxmb.view.peers import peers_report, ratio_figure


def run(engine, error, run_s, method="one", reason=""):
    return Run(engine, method, 1e-3, engine != "jaxmb", error, run_s, 0.5, 3, reason)


FOUND = PeerBenchmark(
    (
        Race(
            "a01",
            "A01 one",
            ("x",),
            1e-4,
            (
                run("jaxmb", 1e-3, 0.01),
                run("jaxmb", 1e-5, 0.04),
                run("other", 1e-4, 0.1),
                run("other", 1e-4, 0.2, method="slow"),
                run("other", float("nan"), float("nan"), reason="It stopped: out of breath"),
            ),
            {"gone": "not installed: pip install gone"},
        ),
        Race("a02", "A02 two", ("x", "y"), 1e-6, (run("jaxmb", 1e-7, 0.01), run("other", 1e-3, 0.1)), {}),
    ),
    {"jaxmb": "0.1", "other": "2.0"},
)


def test_the_page_has_every_number():
    report = peers_report(FOUND)
    page, text = report.html(), report.markdown()
    assert len(report.figures) == 3
    assert "<img" in page and "http" not in page, "one file that needs nothing else"
    assert "Versions: jaxmb 0.1, other 2.0." in text
    assert "| A01 one | 1e-04 | 20.0 | 5 | not installed: pip install gone |" in text
    assert "| A02 two | 1e-06 | <= 10.0 | (best 1e-03) |" in text
    assert "| other | one | step 0.001 s | 1.0e-04 | 100.00 |  |" in text
    assert "It stopped: out of breath" in text
    assert "gone: not installed: pip install gone." in text


def test_dots_are_the_ratios():
    axes = ratio_figure(FOUND).axes[0]
    dots = {line.get_label(): line for line in axes.get_lines()}
    assert list(dots["other"].get_xdata()) == [5.0] and list(dots["other"].get_ydata()) == [0]
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "none" and len(line.get_ydata())]
    assert [list(line.get_ydata()) for line in hollow] == [[1]], "where other does not reach the error"
    low, high = axes.get_xlim()
    assert low < 1.0 < 5.0 < high
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a01, 1e-04 m", "a02, 1e-06 m"]


def test_lines_are_methods():
    report = peers_report(FOUND)
    labels = [line.get_label() for line in report.figures[1].axes[0].get_lines()]
    assert [label for label in labels if not label.startswith("_")] == ["jaxmb, one", "other, one", "other, slow"]


def test_a_page_without_any_ratio():
    only = PeerBenchmark((Race("a01", "A01 one", ("x",), 1e-4, (run("jaxmb", 1e-3, 0.01),), {}),), {"jaxmb": "0.1"})
    assert "(best 1e-03)" in peers_report(only).markdown()
    assert peers_report(only).html().count("<img") == 2

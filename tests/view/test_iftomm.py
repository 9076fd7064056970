"""The report of the IFToMM benchmark, from made-up runs."""

from jaxmb.studies.iftomm_result import Benchmark, Curve, Point
from jaxmb.view.iftomm import advice, iftomm_report


def point(pair, level, error, run_s, status="successful"):
    return Point(pair, level, False, status, "Too many steps.", error, error, 1e-15, 100, 10, 1, run_s, 1.0)


def curve(title, *points):
    return Curve("key", title, "smooth", ("x",), (1e-3, 1e-6, 1e-9), ("good", 1e-9), points)


#: "quick" is the fastest on one problem and useless on the other; "good" is at most twice as slow as the best on both.
FOUND = Benchmark(
    (
        curve(
            "A01 one",
            point("quick", 1e-3, 1e-4, 0.01),
            point("good", 1e-3, 1e-4, 0.02),
            point("good", 1e-9, 1e-10, 0.1),
        ),
        curve(
            "A04 other",
            point("quick", 1e-3, 1e-1, 0.01),
            point("good", 1e-3, 1e-4, 0.02),
            point("plain", 1e-3, 1e-4, 0.06),
            point("lost", 1e-3, float("nan"), float("nan"), "max_steps"),
        ),
    )
)


def test_advice_is_for_what_works_on_all_problems_of_a_kind():
    words, failures = advice(FOUND)
    assert words.startswith("Smooth mechanisms (A01, A04). For coarse errors: good, 1.4 times the cheapest")
    assert "quick" not in words and "fine" not in words
    assert failures == "Runs that did not come to their end: lost, 1e-03 on A04 other (max steps)."


def test_the_page_has_every_number():
    report = iftomm_report(FOUND)
    assert len(report.figures) == 3
    page, text = report.html(), report.markdown()
    for title in ("Which pair to use when", "The cheapest run below each error", "The documented settings"):
        assert f"<h2>{title}</h2>" in page and f"## {title}" in text
    assert "<img" in page and "http" not in page, "one file that needs nothing else"
    assert "| good | 1e-09 | 1.0e-10 |" in text and "Too many steps." in text
    assert "solver=mb.good(), rtol=atol=1e-09" in text
    labels = [line.get_label() for line in report.figures[1].axes[0].get_lines()]
    assert labels[:2] == ["quick", "good"]

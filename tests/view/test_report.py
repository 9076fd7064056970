import base64
import re

import pytest
from matplotlib.figure import Figure

from jaxmb.view.report import Claim, Claims, Grid, Heading, Picture, Prose, Report, claim


@pytest.fixture
def report():
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1])
    return Report(
        "A & B",
        (
            Heading("one < two"),
            Prose("text with <b>"),
            Grid("x | y", ("a", "b"), [("1 | 2", "<i>")]),
            Claims([claim("p", True, "1"), claim("q", False, "2"), claim("r", None, "3")]),
            Picture('a "line"', figure),
        ),
    )


def test_html(report):
    page = report.html()
    for text in (
        "<title>A &amp; B</title>",
        "<h2>one &lt; two</h2>",
        "text with &lt;b&gt;",
        "<td>1 | 2</td>",
        "&lt;i&gt;",
    ):
        assert text in page
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert 'alt="a &quot;line&quot;"' in page


def test_markdown(report):
    text = report.markdown()
    assert text.startswith("# A & B\n") and "| 1 \\| 2 | <i> |" in text
    assert "| q | does not hold | 2 |" in text and "| r | cannot be decided | 3 |" in text
    assert '(Figure: a "line")' in text and "base64" not in text, "pictures are in the page only"


def test_claims_and_figures(report):
    assert [c.verdict for c in report.claims] == ["holds", "does not hold", "cannot be decided"]
    assert len(report.figures) == 1


def test_a_verdict_is_one_of_three():
    with pytest.raises(ValueError, match="which is none of holds, does not hold, cannot be decided"):
        Claim("p", "maybe", "1")

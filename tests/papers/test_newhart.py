import numpy as np
import pytest

from jaxmb.papers import newhart as n


@pytest.mark.slow
@pytest.mark.parametrize("name", n.LAWS)
def test_errors_are_proportional_to_one_over_mu(name):
    """The constants of the closed form's comparison within 20 %, at every penalty of the range."""
    wanted, penalties = n.LAWS[name]
    for mu in penalties:
        found = n.scaled(name, mu, n.penalty_errors(name, mu))
        np.testing.assert_allclose(found, wanted, rtol=0.2)


def test_static_lever_to_four_digits():
    C, displacements = n.static_penalty()
    assert C == pytest.approx(5.3333e8, rel=1e-4)
    np.testing.assert_array_equal(np.round(np.asarray(displacements), 4), [0.4876, 1.2191, 0.0, 0.0, 1.4629])


@pytest.mark.slow
def test_report(monkeypatch):
    """With one penalty for each law and half of table 1."""
    monkeypatch.setattr(n, "LAWS", {name: (wanted, penalties[-1:]) for name, (wanted, penalties) in n.LAWS.items()})
    monkeypatch.setattr(n, "LAWS", {**n.LAWS, **{k: (n.LAWS[k][0], (1e5,)) for k in list(n.LAWS)[:2]}})
    monkeypatch.setattr(n, "TABLE_1", {mu: n.TABLE_1[mu] for mu in (1e1, 1e2, 1e5, 1e8)})
    report = n.experiment()
    claims = {claim.text: claim.verdict for claim in report.claims}
    assert claims["Static lever: 0.4876, 1.2191, 0, 0, 1.4629 mm"] == "holds"
    assert next(verdict for text, verdict in claims.items() if "proportional to 1/mu" in text) == "holds"
    assert claims["Baumgarte's terms make the static penalty more accurate"] == "holds"
    assert claims["Goicolea-Orden becomes slow with mu (22 times from 10 to 1e8)"] == "holds"
    assert len(report.figures) == 1
    (axes,) = report.figures[0].axes
    assert axes.get_xscale() == axes.get_yscale() == "log" and len(axes.lines) == 4

import pytest

from jaxmb.papers import carvalho as c


@pytest.mark.slow
def test_author_and_default_on_a_benchmark():
    """Andrews' squeezer with the author's penalties: right, at forty times the evaluations."""
    author, default = c.run_benchmark("A03")
    assert author.ok and default.ok
    assert author.error < 1e-5 and default.error < 1e-4
    assert author.right_hand_sides > 20 * default.right_hand_sides


@pytest.mark.slow
def test_both_solvers_close_the_driven_slider_crank():
    for solver in c._solvers().values():
        _, left, steps = c._kinematics(solver)
        assert left < 1e-9 and 401 < steps < 20_000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "t1"), [("simple-pendulum", 2.0), ("slider-crank", 2.0), ("flyball-governor", 0.05)])
def test_multistep_needs_fewer_right_hand_sides_than_runge_kutta(name, t1):
    adams, dopri5 = c.multistep_and_runge_kutta(name, t1)
    assert 0.1 < c._saving(adams, dopri5) < 0.9
    row = c._multistep_table({name: (adams, dopri5)}).rows[0]
    assert int(row[2]) < int(row[4]) < int(row[3]) and float(row[6]) < 1e-5
    assert sum(int(part.split(":")[1]) for part in row[7].split(",")) == int(adams.stats.steps)


@pytest.mark.slow
def test_corrections():
    numbers = {row[0]: row[3] for row in c._corrections().rows}
    for name in ("n2", "spherical-spherical", "p1", "p2", "Euler parameter norm (program)"):
        words = numbers[f"table 1, gamma of {name}"].split()
        assert float(words[2]) > 0.1 and float(words[5]) < 1e-12
    assert numbers["algorithm 2, step 4"] == "rank 18 of 21"

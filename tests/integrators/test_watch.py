import jax.numpy as jnp

from jaxmb.formulations.deflated import null_space
from jaxmb.integrators.watch import watch
from jaxmb.status import Status


def test_it_foresees_a_parabola_and_is_never_more_hopeful_than_a_line():
    def value(t, bend):
        return 1.0 + 0.3 * t + bend * t**2

    for bend in (-1.0, 1.0):
        watching = watch(null_space(jnp.eye(2)))
        for start, end in ((0.0, 0.1), (0.1, 0.3)):
            watching = watching.after(jnp.asarray(value(end, bend) - value(start, bend)), jnp.asarray(end - start))
        line = 0.5 * (value(0.3, bend) - value(0.1, bend)) / 0.2
        expected = value(0.8, bend) - value(0.3, bend) if bend < 0 else line
        assert abs(watching.ahead(jnp.asarray(0.5)) - expected) < 1e-12


def rows(s, angle=0.0):
    """Two rows, the second of which shrinks with s, turned by an angle."""
    c, d = jnp.cos(angle), jnp.sin(angle)
    return jnp.array([[1.0, 0.0, 0.0], [0.0, s, 0.0]]) @ jnp.array([[c, d, 0.0], [-d, c, 0.0], [0.0, 0.0, 1.0]])


def follow(path, adaptive=True):
    """Statuses and verdicts of steps of one second along a list of Jacobians."""
    weights = null_space(rows(1.0)).D
    nulls = [null_space(J, weights) for J in path]
    watching, out = watch(nulls[0]), []
    for before, after, J in zip(nulls[:-1], nulls[1:], path[1:], strict=True):
        status, too_far, watching = watching.step(before, after, J, jnp.ones(()), adaptive)
        out.append((status, bool(too_far)))
    return out


def test_a_value_that_passes_zero_is_a_singular_configuration_when_the_step_is_short():
    (first, second) = follow([rows(0.01), rows(0.005), rows(-0.002)])
    assert first[0] == Status.successful and second[0] == Status.singular_configuration


def test_a_long_step_over_zero_is_taken_again():
    assert follow([rows(0.6), rows(0.3), rows(-0.3)])[1][1]
    assert follow([rows(0.6), rows(0.3), rows(0.3)])[1][1], "it may have touched zero and come back"


def test_a_turn_is_no_alarm():
    for angle in (0.5, 2.0, 3.0):
        ((status, too_far),) = follow([rows(1.0), rows(1.0, angle)])
        assert status == Status.successful and not too_far


def test_what_has_fallen_to_nothing_is_singular_and_what_rises_is_not():
    fall = [rows(0.5**k) for k in range(12)]
    assert [status == Status.singular_configuration for status, _ in follow(fall)] == [False] * 9 + [True] * 2
    assert all(status == Status.successful and not far for status, far in follow([rows(0.1), rows(0.5), rows(0.9)]))

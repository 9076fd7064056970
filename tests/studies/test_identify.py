"""Fits against closed forms, and of redundant mechanisms against the numbers with which the data were made."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from ..models import spatial_loop

TIMES = np.linspace(0.0, 2.0, 60)


def line(p, y):
    return p["slope"] * TIMES + p["offset"] - y


def noisy_line(seed=0):
    return jnp.asarray(2.0 * TIMES - 1.0 + 0.05 * np.random.default_rng(seed).normal(size=TIMES.size))


def test_linear_least_squares_is_the_textbook_one():
    y = noisy_line()
    fit = mb.identify(line, {"slope": 0.5, "offset": 0.3}, y)
    A = np.stack([np.ones_like(TIMES), TIMES], axis=1)  # names come in alphabetical order
    exact, (rss,), *_ = np.linalg.lstsq(A, np.asarray(y), rcond=None)
    covariance = rss / (TIMES.size - 2) * np.linalg.inv(A.T @ A)
    assert fit.names == ("offset", "slope") and fit.converged and fit.unidentifiable == () and fit.at_bounds == ()
    np.testing.assert_allclose([fit.value["offset"], fit.value["slope"]], exact, atol=1e-9)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-8)
    np.testing.assert_allclose(fit.standard_error["slope"], np.sqrt(covariance[1, 1]), rtol=1e-8)
    np.testing.assert_allclose(fit.correlation[0, 1], covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))
    np.testing.assert_allclose(fit.noise, np.sqrt(rss / (TIMES.size - 2)), rtol=1e-8)


def test_standard_errors_cover_the_truth_as_often_as_they_should():
    """Of 200 fits 68.3 % within one standard error, give or take 3 standard deviations of that count."""
    fits = [mb.identify(line, {"slope": 0.5, "offset": 0.3}, noisy_line(seed)) for seed in range(200)]
    inside = sum(abs(float(fit.value["slope"]) - 2.0) < float(fit.standard_error["slope"]) for fit in fits)
    assert abs(inside - 136.6) < 3 * np.sqrt(200 * 0.683 * 0.317)


def test_missing_samples_and_weights():
    y = np.asarray(noisy_line()).copy()
    y[::3] = np.nan
    sigma = np.where(TIMES > 1.0, 0.05, 0.5)
    predict = lambda p: p["slope"] * TIMES + p["offset"]  # noqa: E731
    fit = mb.identify(lambda p, y: mb.misfit(predict(p), y, sigma), {"slope": 0.5, "offset": 0.3}, y)
    there = np.isfinite(y)
    A = np.stack([np.ones_like(TIMES), TIMES], axis=1)[there] / sigma[there][:, None]
    exact, (rss,), *_ = np.linalg.lstsq(A, y[there] / sigma[there], rcond=None)
    np.testing.assert_allclose([fit.value["offset"], fit.value["slope"]], exact, atol=1e-9)
    np.testing.assert_allclose(fit.noise, np.sqrt(rss / (there.sum() - 2)), rtol=1e-8)
    assert fit.residuals.size == there.sum()


def test_misfit_of_trees():
    predicted, measured = {"a": np.ones(2), "b": np.zeros(1)}, {"a": np.array([0.0, np.nan]), "b": np.ones(1)}
    np.testing.assert_array_equal(mb.misfit(predicted, measured, {"a": 2.0, "b": 4.0}), [0.5, 0.0, -0.25])
    np.testing.assert_array_equal(mb.misfit(predicted, measured, 0.5), [2.0, 0.0, -2.0])
    with pytest.raises(mb.ModelError, match=r"shape \(2,\) for measurements of shape \(3,\)"):
        mb.misfit(np.ones(2), np.ones(3))


def test_a_bound_holds_and_is_never_left():
    seen = []

    def residual(p, y):
        import jax

        jax.debug.callback(lambda s: seen.append(float(s)), p["slope"])
        return line(p, y)

    fit = mb.identify(residual, {"slope": 0.5, "offset": 0.3}, noisy_line(), bounds={"slope": (None, 1.5)})
    assert float(fit.value["slope"]) == pytest.approx(1.5, abs=1e-5) and fit.at_bounds == ("slope",)
    assert fit.converged and "at its bound" in str(fit)
    assert seen and max(seen) <= 1.5
    # With the slope held, the offset is the mean of what is left.
    left = np.mean(np.asarray(noisy_line()) - float(fit.value["slope"]) * TIMES)
    assert float(fit.value["offset"]) == pytest.approx(left, abs=1e-5)


def test_a_prior_is_one_more_measurement():
    y, sd = noisy_line(), 0.05
    residual = lambda p, y: line(p, y) / sd  # noqa: E731
    fit = mb.identify(residual, {"slope": 0.5, "offset": 0.3}, y, priors={"slope": (2.5, 0.01)})
    A = np.concatenate([np.stack([np.ones_like(TIMES), TIMES], axis=1) / sd, [[0.0, 1 / 0.01]]])
    exact = np.linalg.lstsq(A, np.append(np.asarray(y) / sd, 2.5 / 0.01), rcond=None)[0]
    np.testing.assert_allclose([fit.value["offset"], fit.value["slope"]], exact, atol=1e-8)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(A.T @ A), rtol=1e-8)
    assert fit.noise == 1.0


def test_many_starts_find_the_lowest_of_several_minima():
    y = jnp.asarray(np.sin(7.0 * TIMES))
    residual = lambda p, y: jnp.sin(p["w"] * TIMES) - y  # noqa: E731
    alone = mb.identify(residual, {"w": 2.0}, y, bounds={"w": (0.5, 12.0)})
    several = mb.identify(residual, {"w": 2.0}, y, bounds={"w": (0.5, 12.0)}, starts=9)
    assert float(alone.value["w"]) != pytest.approx(7.0, abs=0.5)
    assert float(several.value["w"]) == pytest.approx(7.0, abs=1e-8) and len(several.starts) == 9
    assert several.cost == min(several.starts)


def test_unfinished_is_not_converged():
    fit = mb.identify(
        lambda p, y: jnp.stack([10 * (p["y"] - p["x"] ** 2), 1 - p["x"]]), {"x": -1.2, "y": 1.0}, max_steps=3
    )
    assert not fit.converged and "max_steps" in fit.message
    assert mb.identify(
        lambda p, y: jnp.stack([10 * (p["y"] - p["x"] ** 2), 1 - p["x"]]), {"x": -1.2, "y": 1.0}
    ).converged


def test_steps_back_from_what_fails():
    """log of a parameter that a full step would make negative."""
    fit = mb.identify(lambda p, y: jnp.log(p["x"]) - jnp.log(jnp.array([0.01, 0.0102])), {"x": 5.0})
    assert float(fit.value["x"]) == pytest.approx(np.sqrt(0.01 * 0.0102), rel=1e-6) and fit.converged


@pytest.mark.parametrize(
    "call, phrase",
    [
        (lambda: mb.identify(lambda p, y: jnp.log(p["x"]) * jnp.ones(3), {"x": -1.0}), r"cannot start.*x = -1"),
        (lambda: mb.identify(lambda p: p["x"], {"x": 1.0}), "takes one argument"),
        (lambda: mb.identify(line, {"slope": 1.0}, starts=0), "starts=0"),
        (lambda: mb.identify(line, {"slope": 1.0}, starts=4), "no bounds"),
    ],
)
def test_bad_input_is_named(call, phrase):
    with pytest.raises(mb.ModelError, match=phrase):
        call()


SAMPLES = np.linspace(0.0, 0.6, 16)


def motion(p):
    """Of a loop with 20 rows of rank 17: two measured coordinates of the coupler."""
    system, state = spatial_loop(p["mass"], p["length"], p["stiffness"], p["angle"])
    sol = mb.simulate(system, state, t1=0.6, ts=SAMPLES, rtol=1e-8, atol=1e-8, gradient="forward", throw=False)
    return sol.point("coupler", "middle")[:, :2]


def residual(p, y):
    return mb.misfit(motion(p), y)


TRUTH = {"mass": 1.0, "length": 1.5, "stiffness": 20.0, "angle": 1.2}
START = {"mass": 1.1, "length": 1.45, "stiffness": 15.0, "angle": 1.15}


@functools.cache
def measured():
    clean = np.asarray(motion(TRUTH))
    noise = 0.01 * np.std(clean) * np.random.default_rng(11).normal(size=clean.shape)
    return jnp.asarray(clean + noise), 0.01 * np.std(clean)


def test_redundant_loop_is_identified_within_its_standard_errors():
    y, sigma = measured()
    fit = mb.identify(residual, START | {"mass": 1.1}, y, fixed=("mass",), bounds={"length": (1.2, 1.8)})
    assert fit.converged and fit.unidentifiable == ()
    assert float(fit.value["mass"]) == 1.1 and float(fit.standard_error["mass"]) == 0.0
    # The motion depends on the ratio of stiffness and mass.
    truth = {"length": 1.5, "angle": 1.2, "stiffness": 20.0 * 1.1}
    for name, x in truth.items():
        assert abs(float(fit.value[name]) - x) < 3 * float(fit.standard_error[name])
    assert 0.6 * sigma < fit.noise < 1.5 * sigma


def test_what_the_motion_of_a_redundant_loop_does_not_tell_is_named():
    fit = mb.identify(residual, START, measured()[0])
    (sentence,) = fit.unidentifiable
    assert sentence.startswith("only a combination of mass, stiffness can be told")
    assert "mass by +1 %, stiffness by +1 %" in sentence
    assert np.isinf(fit.standard_error["mass"]) and np.isinf(fit.standard_error["stiffness"])
    assert float(fit.value["stiffness"]) / float(fit.value["mass"]) == pytest.approx(20.0, rel=0.1)
    assert abs(float(fit.value["length"]) - 1.5) < 3 * float(fit.standard_error["length"])
    assert "cannot be told" in str(fit) and "Not identifiable" in str(fit)


def test_a_loop_that_cannot_be_closed_is_not_a_start():
    with pytest.raises(mb.ModelError, match=r"cannot start.*length = 5"):
        mb.identify(residual, START | {"length": 5.0}, measured()[0], fixed=("mass",))

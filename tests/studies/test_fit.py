"""Tests of residuals on noise of which it is known what it is."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

TIMES = np.linspace(0.0, 1.0, 400)


@pytest.fixture(scope="module")
def line():
    data = 1.0 + 2.0 * TIMES + 0.1 * np.random.default_rng(0).normal(size=TIMES.size)
    return mb.identify(lambda p, y: p["a"] + p["b"] * TIMES - y, {"a": 0.0, "b": 0.0}, jnp.asarray(data))


def with_residuals(fit, residuals):
    return dataclasses.replace(fit, residuals=residuals).residual_tests()


def test_noise_passes_all_tests(line):
    assert min(line.residual_tests()) > 0.01


def test_each_test_finds_what_it_is_for(line):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=400)
    assert with_residuals(line, noise + 0.5).mean < 1e-6
    assert with_residuals(line, np.sin(6 * TIMES) + 0.5 * noise).independence < 1e-6
    assert with_residuals(line, rng.exponential(size=400) - 1.0).normality < 1e-6


def test_too_few_residuals_tell_nothing(line):
    assert np.all(np.isnan(with_residuals(line, np.ones(5))))


def test_rankings_and_the_printed_table(line):
    assert list(line.sensitivity) == sorted(line.sensitivity, key=lambda name: -line.sensitivity[name])
    # Brun's index of two columns is 1 / sin of the angle between them.
    ones, t = np.ones(400), TIMES
    angle = np.arccos(ones @ t / np.sqrt((ones @ ones) * (t @ t)))
    assert line.collinearity["a"] == pytest.approx(1 / np.sin(angle), rel=1e-9)
    text = str(line)
    assert "parameter" in text and "Converged." in text and f"{float(line.value['b']):.8g}" in text
    assert line.cost == pytest.approx(0.5 * np.sum(line.residuals**2))

"""All mechanisms of the catalog: they assemble, have the freedom they should, and can be traced."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import MECHANISMS, get_mechanism

from .starts import at_start

#: Speeds, constraint rows and rank at the start.
SIZES = {
    "mcpherson-simplified": (30, 26, 26),
    "mcpherson-overconstrained": (30, 31, 26),
    "double-pendulum": (6, 4, 4),
    "four-bar-case-1": (9, 8, 8),
    "four-bar-case-2": (9, 8, 8),
    "spatial-four-bar": (18, 17, 17),
    "simple-pendulum": (2, 1, 1),
    "simple-pendulum-spatial": (3, 2, 2),
    "n-four-bar-1": (9, 8, 8),
    "n-four-bar-2": (15, 14, 14),
    "andrews-squeezer": (21, 20, 20),
    "bricard": (30, 30, 29),
    "flyball-governor": (24, 20, 20),
    "slider-crank": (18, 17, 17),
    "scotch-yoke": (2, 1, 1),
    "slider-crank-relative": (3, 2, 2),
    "slider-crank-free": (3, 2, 2),
}


@pytest.mark.parametrize("name", SIZES)
def test_assembles(name):
    terms = at_start(name)
    assert np.abs(terms.Phi).max() < 1e-14
    assert np.abs(terms.Phi_dot).max() < 1e-14


@pytest.mark.parametrize("name", SIZES)
def test_size_and_rank(name):
    J = np.asarray(at_start(name).J)
    speeds, rows, rank = SIZES[name]
    assert J.shape == (rows, speeds)
    assert np.linalg.matrix_rank(J, rtol=1e-9) == rank


#: A number of each builder.
NUMBERS = {
    "mcpherson-overconstrained": "lift",
    "double-pendulum": "moment",
    "four-bar-case-1": "ground",
    "spatial-four-bar": "coupler",
    "simple-pendulum": "length",
    "simple-pendulum-spatial": "angle",
    "n-four-bar-2": "length",
    "andrews-squeezer": "beta",
    "bricard": "section",
    "flyball-governor": "alpha",
    "slider-crank": "torque",
    "scotch-yoke": "length",
    "slider-crank-relative": "gravity",
    "slider-crank-free": "rod",
}


@pytest.mark.parametrize("name, number", NUMBERS.items())
def test_builders_are_traceable(name, number):
    """No value is asked for while building, so that the result has a derivative by any number and can be mapped."""

    def leaves(x):
        system, state = get_mechanism(name).build(**{number: x})
        return jax.tree.leaves(eqx.filter((system, state), eqx.is_inexact_array))

    plain = get_mechanism(name).build()
    traced = jax.eval_shape(jax.vmap(leaves), jnp.ones(3))
    wanted = jax.tree.leaves(eqx.filter(plain, eqx.is_inexact_array))
    assert [x.shape for x in traced] == [(3, *np.shape(x)) for x in wanted]


def test_every_family_is_checked():
    builders = {MECHANISMS[name].builder for name in NUMBERS}
    assert builders == {mechanism.builder for mechanism in MECHANISMS.values()}
    assert builders == {MECHANISMS[name].builder for name in SIZES}


def test_names():
    assert all(name == mechanism.name for name, mechanism in MECHANISMS.items())
    assert all(name == name.lower() and " " not in name and "_" not in name for name in MECHANISMS)
    assert all(mechanism.summary and "\n" not in mechanism.summary for mechanism in MECHANISMS.values())


def test_unknown_name():
    with pytest.raises(
        mb.ModelError, match=r"mechanism 'brickard', which is not in the catalog. Mechanisms: mcpherson-"
    ):
        get_mechanism("brickard")
    with pytest.raises(mb.ModelError, match=r"Did you mean 'bricard'\?"):
        get_mechanism("brickard")

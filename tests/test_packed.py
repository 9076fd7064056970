"""Equations of a mechanism: rows in order, energies, and a program that does not grow with the mechanism."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb

from .models import chain


def count(jaxpr) -> int:
    """Equations of a jaxpr, with those of the programs inside it."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [getattr(p, "jaxpr", p) for p in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr)]
        total += 1 + sum(count(p) for p in inner if hasattr(p, "eqns"))
    return total


def _is_jaxpr(x) -> bool:
    return hasattr(x, "eqns") or hasattr(x, "jaxpr")


def spring_chain(n):
    return chain(
        n, forces={"g": mb.Gravity()} | {f"s{k}": mb.joint_spring(f"J{k}", stiffness=1.0 + k) for k in range(n)}
    )


def terms_at_rest(equations, n):
    return equations.terms(jnp.zeros(()), jnp.ones(7 * n), jnp.zeros(6 * n))


def test_the_program_of_64_joints_is_as_long_as_that_of_8():
    sizes = []
    for n in (8, 64):
        equations = eqx.filter_eval_shape(lambda n=n: spring_chain(n).equations())
        sizes.append(count(jax.make_jaxpr(lambda e, n=n: terms_at_rest(e, n))(equations).jaxpr))
    assert sizes[0] > 100
    assert sizes[0] == sizes[1]


@pytest.mark.slow
def test_64_joints_compile_in_at_most_twice_the_time_of_8(without_compilation_cache):
    def seconds(n):
        equations = spring_chain(n).equations()
        lowered = jax.jit(lambda e: terms_at_rest(e, n)).lower(equations)
        start = time.process_time()
        lowered.compile()
        return time.process_time() - start

    seconds(8)  # what is set up once
    assert seconds(64) <= 2 * seconds(8)


def test_grouped_rows_come_back_in_the_order_of_the_joints():
    """Every joint of a mixed order has its own function, so a swapped row would be seen."""

    def level(value):
        return mb.UserJoint("ground", "a", jax.tree_util.Partial(lambda c, F, G, t: c[None], value))

    joints = {
        "u0": level(10.0),
        "d0": mb.Distance("ground", "a", length=1.0),
        "u1": level(20.0),
        "d1": mb.Distance("ground", "a", length=2.0),
        "u2": level(30.0),
    }
    system = mb.System({"a": mb.sphere((3, 0, 0), radius=1.0, mass=1.0)}, joints)
    state = system.state()
    equations = system.equations()
    assert len(equations.joints) == 2
    np.testing.assert_allclose(equations.terms(state.t, state.q, state.v).Phi, [10, 4, 20, 1.25, 30])
    assert equations.row_names == ("u0.1", "d0.length", "u1.1", "d1.length", "u2.1")


def test_energies_are_those_of_the_bodies():
    J = np.array([0.5, 0.6, 0.7])
    system = mb.System(
        {"a": mb.Body(2.0, J, position=(0, 0, 3.0)), "b": mb.Body(1.0, J, position=(1, 0, 3.0))},
        forces={"g": mb.Gravity((0, 0, -10.0)), "s": mb.spring("a", "b", stiffness=8.0)},
        coordinates=mb.EulerAngles("xyz"),
    )

    @eqx.filter_jit
    def energies(system):
        state = system.state(velocity={"a": (1, 2, 3)}, omega={"a": (1, 2, 3)})
        return system.equations().energies(state.q, state.v)

    kinetic, potential = energies(system)
    assert float(kinetic) == pytest.approx(0.5 * 2.0 * 14 + 0.5 * J @ [1, 4, 9])
    assert float(potential) == pytest.approx(90.0 + 4.0)


def test_bodies_without_joints_and_forces_have_empty_rows():
    system = mb.System({"a": mb.sphere(radius=1.0, mass=1.0)})
    terms = system.equations().terms(jnp.zeros(()), system.state().q, jnp.ones(6))
    assert terms.J.shape == (0, 6) and terms.Phi.shape == terms.gamma.shape == (0,)
    np.testing.assert_allclose(terms.Q, 0.0, atol=1e-15)

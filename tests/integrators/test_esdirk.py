"""diffrax's implicit Runge-Kutta methods on mechanisms."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.integrators.esdirk import Esdirk, Tableau

from ..models import spatial_loop
from . import orders


@pytest.mark.parametrize("method", [diffrax.Kvaerno3(), diffrax.Kvaerno4(), diffrax.Kvaerno5()])
def test_the_tableau_is_stiffly_accurate(method):
    """The last stage is the end of the step, which `Esdirk` relies on."""
    tableau = Tableau(method.tableau)
    np.testing.assert_allclose(tableau.A[-1], method.tableau.b_sol, atol=1e-15)
    np.testing.assert_allclose(np.sum(tableau.A, axis=1), tableau.c, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name, step", [("pendulum", 0.025), ("bricard", 0.04)])
def test_order_of_kvaerno4(name, step):
    solver = diffrax.Kvaerno4()
    coarse, halved = (
        orders.errors(name, orders.run(name, solver, dt, rtol=1e-12, atol=1e-12)) for dt in (step, step / 2)
    )
    np.testing.assert_allclose(np.log2(coarse / halved), 4, atol=0.2)


@pytest.mark.slow
def test_reverse_derivatives_of_a_redundant_run():
    def end(p):
        system, state = spatial_loop(mass=p[0], length=p[1])
        sol = mb.simulate(system, state, t1=0.3, solver=diffrax.Kvaerno3(), rtol=1e-8, atol=1e-8)
        return sol.final.point("coupler", "middle")[1]

    p, h = np.array([1.0, 1.5]), 1e-4
    run = eqx.filter_jit(end)
    differences = [float(run(p + h * e) - run(p - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(jax.grad(run)(jnp.asarray(p)), differences, rtol=1e-5)


@pytest.mark.parametrize("method", [diffrax.ImplicitEuler(), diffrax.KenCarp3(), diffrax.Tsit5()])
def test_other_methods_are_refused(method):
    with pytest.raises(mb.ModelError, match=f"{type(method).__name__}, whose stages"):
        Esdirk(method)

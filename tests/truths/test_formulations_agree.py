"""Every mechanism agrees with its trusted trajectory with three formulations; the default is tested on most of them elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmb as mb
from jaxmb.formulations.choice import Choice
from jaxmb.mechanisms import MECHANISMS, get_mechanism
from jaxmb.studies.catalog import motion_columns

from .test_reference import DIGITS

FORMULATIONS = (mb.UdwadiaKalaba(), mb.NullSpaceQR(), mb.Deflated())
#: Of the others: what is reached, and the end (s) where the published run is longer than a test should be.
OTHERS = {"n-four-bar-10": 9, "n-four-bar-40": 8, "flyball-governor": 9, "slider-crank-free-long": 8}
ENDS = {"flyball-governor": 0.5, "slider-crank-free-long": 60.0, "n-four-bar-40": 0.2}


def test_no_mechanism_is_left_out():
    with_reference = {name for name, mechanism in MECHANISMS.items() if mechanism.reference}
    assert with_reference == set(DIGITS) | set(OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DIGITS, *OTHERS])
def test_agrees(name):
    mechanism = get_mechanism(name)
    # A run ends shortly before a singular configuration.
    end = min(ENDS.get(name, mechanism.t1), 0.985 * (mechanism.singular_at or np.inf))
    reference = motion_columns(mechanism, end)
    t = reference.pop("t")
    system, state = mechanism.build()
    for k in range(len(FORMULATIONS) if name in OTHERS else 2):
        sol = mb.simulate(
            system, state, t1=t[-1], ts=t, formulation=Choice(FORMULATIONS, jnp.asarray(k)), rtol=1e-13, atol=1e-13
        )
        outputs = mechanism.outputs(sol)
        compared = [column for column in reference if column in outputs]
        assert compared
        for column in compared:
            truth = reference[column]
            scale = float(np.max(np.abs(truth)))
            error = float(np.max(np.abs(np.asarray(outputs[column]) - truth))) / (scale if scale > 1e-9 else 1.0)
            assert error < 10.0 ** -{**DIGITS, **OTHERS}[name], (FORMULATIONS[k], column)

"""A stop at a singular configuration names the joints; with singular="pass" the default goes on and stays on its branch."""

import numpy as np
import pytest

import jaxmb as mb
from jaxmb.mechanisms import get_mechanism

#: Joints of the rows that become dependent where all links lie on a line: those in every loop.
JOINTS = {
    "four-bar-case-1-gravity": {"A", "B", "C", "D"},
    "n-four-bar-2": {"A0", "A1", "A2", "B0", "C0", "B1", "C1"},
    "slider-crank-relative": {"constraint"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINTS)
def test_a_stop_names_the_joints(solve, name):
    for tolerance in (1e-5, 1e-8):
        sol = solve(name, tolerance)
        assert set(sol.weakest_joints) == JOINTS[name]
        assert all(joint in sol.message for joint in JOINTS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*JOINTS, "n-four-bar-1", "four-bar-case-1-reversed"])
def test_the_default_passes_on_its_branch(name):
    """All the way to the end of the published run, which for A02 is ten passages."""
    mechanism = get_mechanism(name)
    system, state = mechanism.build()
    reference = mechanism.read_reference()
    t = reference["t"]
    sol = mb.simulate(system, state, t1=t[-1], ts=t, rtol=1e-9, atol=1e-9, singular="pass")
    outputs = {
        column: x for column, x in mechanism.outputs(sol).items() if column in ("B0x", "B0y", "y2", "theta1", "x3")
    }
    assert outputs
    for column, x in outputs.items():
        np.testing.assert_allclose(x, reference[column], rtol=0, atol=1e-6, err_msg=column)


def test_only_stop_and_pass():
    system, state = get_mechanism("n-four-bar-1").build()
    with pytest.raises(mb.ModelError, match=r"singular='ignore'. Use 'stop' or 'pass'"):
        mb.simulate(system, state, t1=1.0, singular="ignore")

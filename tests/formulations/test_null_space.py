import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmb.formulations.null_space import partial_velocities, reduced_accelerations
from jaxmb.formulations.null_space_qr import NullSpaceQR
from jaxmb.formulations.null_space_svd import NullSpaceSVD
from jaxmb.formulations.partial_velocities import PartialVelocities
from jaxmb.formulations.partition import Partition
from jaxmb.status import Status

from . import laws
from .systems import SMALL, solution

CLASSES = pytest.mark.parametrize("cls", [PartialVelocities, NullSpaceQR, NullSpaceSVD, Partition])
SYSTEM = laws.arrays(SMALL["redundant"].at())


@CLASSES
@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, lambda f: lambda *x: jax.jvp(f, x, x)])
def test_needs_the_number_of_degrees_of_freedom_where_values_are_not_known(cls, transform):
    system = jax.tree.map(lambda x: x[None], SYSTEM) if transform is jax.vmap else SYSTEM
    name = cls.__name__
    message = rf"{name}\(\) needs the number .* as a Python int .* inside jit/grad/vmap. Give it: {name}\(dof=1\);"
    with pytest.raises(ValueError, match=message):
        transform(lambda *x: cls().solve(*x).a)(*system)


@CLASSES
@pytest.mark.parametrize("dof", [-1, 1, 7])
def test_rejects_an_impossible_number(cls, dof):
    message = rf"{cls.__name__}\(dof={dof}\) was called with 6 speeds and 4 constraint rows, which leave 2 to 6 .* Give"
    with pytest.raises(ValueError, match=message):
        cls(dof=dof).solve(*SYSTEM)


@CLASSES
def test_does_not_stumble_over_nan_when_it_looks_for_the_number(cls):
    M, J, Q, gamma = SYSTEM
    assert cls().solve(M, J.at[1, 2].set(jnp.nan), Q, gamma).status == Status.not_finite


def test_reduced_accelerations_for_any_basis():
    M, J, Q, gamma = SMALL["redundant"].at()
    B = np.linalg.svd(J)[2][3:].T @ np.random.default_rng(1).normal(size=(3, 3))
    a, unique = reduced_accelerations(*laws.arrays((M, Q, B, np.linalg.pinv(J, rcond=1e-6) @ gamma)))
    assert unique
    laws.assert_close(a, solution(M, J, Q, gamma)[0], 1e-10)


def test_rounding_is_not_inertia():
    """The only free motion has none, whatever B' M B is computed to."""
    computed = []
    for seed in range(10):
        W = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
        M, B = W @ np.diag([1.0, 2, 3, 4, 5, 0]) @ W.T, W[:, 5:]
        computed.append(float((B.T @ M @ B)[0, 0]))
        assert not reduced_accelerations(*laws.arrays((M, np.ones(6), B, np.zeros(6))))[1]
    assert max(computed) > 0


def test_partial_velocities_span_the_free_motions():
    J = SYSTEM[1]
    B, V, R = partial_velocities(J, jnp.array([4, 0, 2]), jnp.array([1, 5, 3]))
    np.testing.assert_allclose(J @ B, 0, atol=1e-13)
    np.testing.assert_array_equal(B[np.array([1, 5, 3])], np.eye(3))
    np.testing.assert_allclose(V @ R, J[:, np.array([4, 0, 2])], atol=1e-13)

"""Every annotation of the package is executed, and ranks are never promoted silently.

With JAXMB_TEST_CACHE=<folder> compiled programs are kept there, which makes the next run of the same tests shorter.
"""

import os

# Compilation is most of a test's time: half of it is saved by not optimising the machine code.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# Two workers on two cores: threads of the linear algebra would only wait for each other (a Cholesky of 242 rows took 600 times as
# long on a busy machine).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import equinox as eqx
import jax
import jaxtyping
import pytest

jaxtyping.install_import_hook("jaxmb", "beartype.beartype")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
# The programs of tests are not those of users, and there are many of them.
os.environ.setdefault("JAXMB_CACHE", "off")
if "JAXMB_TEST_CACHE" in os.environ:
    jax.config.update("jax_compilation_cache_dir", os.environ["JAXMB_TEST_CACHE"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Compiled programs of one file are let go: each keeps memory maps, of which a process may have 65530 on Linux."""
    yield
    jax.clear_caches()
    eqx.clear_caches()


@pytest.fixture
def without_type_checks():
    """Bad input as a user without beartype gives it: the package's own message is what is seen."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def without_compilation_cache():
    """Compilation is measured, so nothing may come from JAXMB_TEST_CACHE."""
    jax.config.update("jax_enable_compilation_cache", False)
    yield
    jax.config.update("jax_enable_compilation_cache", True)

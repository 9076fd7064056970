"""Flags and the cache of programs, as seen by a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from jaxmb.compiler import FLAGS, cache_folder, without_callbacks


def imported(expression, **environment):
    """What an expression is worth in a process that has just imported jaxmb."""
    kept = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "JAXMB_CACHE")}
    code = f"import jaxmb, jax, os; print({expression})"
    out = subprocess.run(
        [sys.executable, "-c", code], env=kept | environment, capture_output=True, text=True, check=True
    )
    return out.stdout.strip()


def test_flags_of_the_user_are_kept(tmp_path):
    assert all(f"--{flag}" in imported("os.environ['XLA_FLAGS']") for flag in FLAGS)
    mine = "--xla_cpu_use_fusion_emitters=true"
    flags = imported("os.environ['XLA_FLAGS']", XLA_FLAGS=mine).split()
    assert mine in flags and len(flags) == len(FLAGS)


def test_cache_is_in_the_users_folder_unless_it_is_set_or_off(tmp_path):
    folder = "jax.config.jax_compilation_cache_dir"
    assert imported(folder, XDG_CACHE_HOME=str(tmp_path)).startswith(str(tmp_path / "jaxmb"))
    assert imported(folder, JAXMB_CACHE=str(tmp_path / "mine")).startswith(str(tmp_path / "mine"))
    assert imported(folder, JAXMB_CACHE="off") == "None"
    assert imported(folder, JAX_COMPILATION_CACHE_DIR="/elsewhere") == "/elsewhere"


def test_one_folder_per_kind_of_processor(monkeypatch, tmp_path):
    monkeypatch.setenv("JAXMB_CACHE", str(tmp_path))
    here = cache_folder()
    monkeypatch.setattr(Path, "read_text", lambda self: "flags : another processor")
    assert here.parent == tmp_path == cache_folder().parent and cache_folder() != here


def test_checks_are_left_out_inside_and_stay_outside():
    def checked(x):
        return eqx.error_if(x, x > 1.0, "x is too large")

    with without_callbacks():
        assert float(eqx.filter_jit(checked)(jnp.asarray(2.0))) == 2.0
    with pytest.raises(Exception, match="too large"):
        jax.block_until_ready(
            eqx.filter_jit(lambda x: eqx.error_if(x, x > 1.0, "x is still too large"))(jnp.asarray(2.0))
        )


@pytest.mark.slow
def test_a_run_comes_from_the_cache_in_the_next_process(tmp_path):
    """A program with a call back to Python would not be kept."""
    run = (
        "(lambda s, x: jaxmb.simulate(s, x, t1=0.1, dt_save=0.05).status)"
        "(*jaxmb.mechanisms.get_mechanism('simple-pendulum').build())"
    )
    code = f"__import__('jaxmb.mechanisms') and {run}"
    imported(code, JAXMB_CACHE=str(tmp_path))
    kept = {file.name.split("-")[0] for file in tmp_path.rglob("*-cache")}
    assert "jit__run" in kept

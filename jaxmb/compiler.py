"""How XLA compiles and keeps our programs. Read when the first array is made, so `import jaxmb` comes before that."""

import contextlib
import hashlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

#: Compiled programs are kept in this folder, or nowhere if it is "off"; without it, in the user's cache folder.
CACHE = "JAXMB_CACHE"
#: Programs that compile faster than this (s) are not worth a file.
WORTH_KEEPING = 0.05

#: XLA's concurrent scheduler of this release can deadlock on two cores when many small LAPACK calls are in one program, and is
#: slower for ours in any case (Udwadia-Kalaba on the McPherson strut: 1.7 times). Its new emitters of fusions make programs that
#: are no faster, and take up to half as long again to compile.
FLAGS = ("xla_cpu_enable_concurrency_optimized_scheduler=false", "xla_cpu_use_fusion_emitters=false")


def configure() -> None:
    """float64, flags of the compiler that the user has not set, and a cache of programs unless one is set or it is off."""
    jax.config.update("jax_enable_x64", True)
    given = os.environ.get("XLA_FLAGS", "")
    if jax.__version_info__[:2] == (0, 10):  # other releases were not measured
        ours = [f"--{flag}" for flag in FLAGS if flag.partition("=")[0] not in given]
        os.environ["XLA_FLAGS"] = " ".join([given, *ours]).strip()
    folder = cache_folder()
    if folder is not None and jax.config.jax_compilation_cache_dir is None:  # pyright: ignore[reportAttributeAccessIssue]
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)


@contextlib.contextmanager
def without_callbacks() -> Iterator[None]:
    """While a program is traced here, equinox leaves out its checks of values at run time: each is a call back to Python, and a
    program with one cannot be kept in a cache. For diffrax's checks of times that were checked before."""
    errors: Any = getattr(eqx, "_errors", None)
    before = getattr(errors, "EQX_ON_ERROR", None)
    if before is None:  # another release of equinox: its programs are compiled anew in each process
        yield
        return
    errors.EQX_ON_ERROR = "off"
    try:
        yield
    finally:
        errors.EQX_ON_ERROR = before


def cache_folder() -> Path | None:
    """Where compiled programs are kept. They are for one kind of processor: a home shared by several machines has a folder for
    each."""
    chosen = os.environ.get(CACHE)
    if chosen == "off":
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(chosen) if chosen else home / "jaxmb") / _processor()


def _processor() -> str:
    """A short name for the instructions this processor has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found = "".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))
    except OSError:
        found = platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(found.encode()).hexdigest()[:12]}"

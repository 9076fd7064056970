"""Mechanisms whose rank, freedoms and redundancy are known from theory, to judge analyses by."""

from . import (
    gears,
    open_chains,
    paradoxical,
    parallel_robots,
    planar_linkages,
    sliders,
    spatial_loops,
    structures,
    supports,
)
from .label import Labelled as Labelled

FAMILIES = (
    open_chains,
    planar_linkages,
    sliders,
    structures,
    supports,
    spatial_loops,
    paradoxical,
    parallel_robots,
    gears,
)
MECHANISMS = tuple(part for family in FAMILIES for part in vars(family).values() if isinstance(part, Labelled))

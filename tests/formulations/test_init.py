import jaxmb.formulations as formulations
from jaxmb.formulations import ALL_FORMULATIONS, EXACT_FORMULATIONS, Formulation, RateFormulation
from jaxmb.status import Status

from . import laws

NAMES = [
    "KKT",
    "KKTPinv",
    "Schur",
    "UdwadiaKalaba",
    "LeastSquares1",
    "LeastSquares2",
    "UdwadiaPhohomsiri",
    "AugmentedLagrangian",
    "StaticPenalty",
    "HeaneyHou",
    "PartialVelocities",
    "NullSpaceQR",
    "NullSpaceSVD",
    "Partition",
    "GoicoleaOrden",
    "Index2Penalty",
    "Index2Lagrange",
]


def test_every_formulation_is_public_and_listed_once():
    listed = [type(formulation).__name__ for formulation in ALL_FORMULATIONS]
    assert [name for name in listed if name != "Deflated"] == NAMES
    assert all(isinstance(f, getattr(formulations, type(f).__name__)) for f in ALL_FORMULATIONS)


def test_exact_formulations_can_all_solve():
    assert all(isinstance(f, Formulation) and f.exact for f in EXACT_FORMULATIONS)
    rest = {type(f).__name__ for f in ALL_FORMULATIONS} - {type(f).__name__ for f in EXACT_FORMULATIONS}
    assert rest == {"StaticPenalty", "GoicoleaOrden", "Index2Penalty", "Index2Lagrange"}
    assert all(isinstance(f, RateFormulation) or not f.exact for f in ALL_FORMULATIONS if type(f).__name__ in rest)


def test_declarations_are_true():
    """What is declared to be tolerated is solved, and what is not is refused with the status that says so."""
    for f in EXACT_FORMULATIONS:
        if type(f).__name__ == "Deflated":  # has its own tests
            continue
        found = {name: result[1] for name, result in laws.results(f).items()}
        assert found["redundant"] == (Status.successful if f.tolerates_redundancy else Status.redundant)
        name = "singular mass" if f.tolerates_redundancy else "independent, singular mass"
        assert found[name] == (Status.successful if f.tolerates_singular_mass else Status.singular_mass)

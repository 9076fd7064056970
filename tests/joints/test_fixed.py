from jaxmb import Fixed

from .frames import allowed, along, gap

JOINT = Fixed("a", "b")


def test_nothing_is_left():
    assert allowed(JOINT) == set()
    assert gap(JOINT, along()) < 1e-15

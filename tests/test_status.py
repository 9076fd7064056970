import pytest

import jaxmb as mb
from jaxmb.status import NAMES, status_name


def test_every_status_has_a_name_and_a_sentence_with_advice():
    assert len(NAMES) == len(mb.Status)
    for name in NAMES:
        status = getattr(mb.Status, name)
        assert status_name(status) == name
        if name != "successful":
            assert mb.Status[status].endswith(".") and len(mb.Status[status].split(". ")) >= 2


def test_unknown_status_is_an_error():
    with pytest.raises(AttributeError):
        _ = mb.Status.sucessful

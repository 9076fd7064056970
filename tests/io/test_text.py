import pytest

import jaxmb as mb
from jaxmb.io.text import write_text


def test_complete_or_not_there(tmp_path):
    write_text(tmp_path / "a.csv", "é\n")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "é\n"
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "b.csv", "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"], "nothing half written is left"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(mb.ModelError, match=r"there is no folder '.*missing'. Make it first"):
        write_text(tmp_path / "missing" / "a.csv", "")

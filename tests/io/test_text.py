import pytest

from jaxmb.io.text import write_text


def test_complete_or_not_there(tmp_path):
    write_text(tmp_path / "a.csv", "é\n")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "é\n"
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "b.csv", "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"], "nothing half written is left"

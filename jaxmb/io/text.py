"""Text files that are complete or not there."""

from pathlib import Path


def write_text(path, text: str) -> None:
    """Write `text` beside `path` and move it into place."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise

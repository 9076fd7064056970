"""Text files that are complete or not there."""

from pathlib import Path

from ..errors import ModelError


def write_text(path, text: str) -> None:
    """Write `text` beside `path` and move it into place."""
    path = Path(path)
    require_folder(path)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def require_folder(path) -> None:
    """Refuse a file in a folder that does not exist, before work is done for it."""
    if not Path(path).parent.is_dir():
        raise ModelError(f"Asked to write '{path}', but there is no folder '{Path(path).parent}'. Make it first.")

"""Imports follow one direction."""

import ast
from pathlib import Path

import jaxmb

PACKAGE = Path(jaxmb.__file__).parent

#: Later layers may import earlier ones (and their own), never the other way.
LAYERS = (
    ("compiler", "status", "errors", "spatial", "functions"),
    ("body", "coordinates", "state", "jacobian", "terms", "elimination"),
    ("ports",),
    ("joints",),
    ("forces",),
    ("kinematics", "groups"),
    ("packed", "generalized", "system"),
    ("formulations",),
    ("stabilization",),
    ("integrators",),
    ("scaling",),
    ("outputs",),
    ("distribution",),
    ("trajectory",),
    ("events",),
    ("solution",),
    ("analyses",),
    ("io", "mechanisms"),
    ("peers",),
    ("studies",),
    ("view",),
    ("papers",),
    ("cli",),
)
LEVEL = {name: k for k, layer in enumerate(LAYERS) for name in layer}


def imports(path: Path):
    """Top-level parts of the package that a file imports, those inside functions too."""
    depth = len(path.relative_to(PACKAGE).parts) - 1
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            above = node.level - 1
            if above == depth:
                names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
                yield from names
            elif above < depth and depth:
                yield path.relative_to(PACKAGE).parts[0]


def test_imports_follow_the_arrow():
    files = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    assert len(files) > 60
    for path in files:
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert part in LEVEL, f"{path.name}: where does it belong?"
        for imported in imports(path):
            if path.parts[-2:] == ("jaxmb", "solution.py") and imported == "io":
                continue  # save and to_xarray are offered on a solution and live with the files
            if path.parts[-2:] == ("studies", "comparison.py") and imported == "view":
                continue  # and so is to_html on a comparison
            assert LEVEL[imported] <= LEVEL[part], (
                f"{path.relative_to(PACKAGE)} imports {imported}, which comes after it"
            )

"""The picture, held by assertions: doors, sizes, names.  import-linter holds the directions."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("daemon", "vault", "guards")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
WRITTEN = [
    *SOURCES,
    *(p for top in ("tests", "benchmarks", "training", "scripts") for p in sorted((ROOT / top).rglob("*.py"))),
]
MOST_LINES = 300
MOST_PARAMETERS = 7
SAYS_NOTHING = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?|handlers?)$")

DOORS = {
    "apscheduler": ("daemon/heartbeat/",),
    "sqlmodel": ("daemon/trajectories/",),
    "sqlalchemy": ("daemon/trajectories/",),
    "alembic": ("daemon/trajectories/",),
    "llama_cpp": ("daemon/models/llama_",),
    "httpx": ("daemon/models/",),
    "huggingface_hub": ("daemon/models/",),
    "prometheus_client": ("daemon/observe/prometheus.py",),
    "pygit2": ("vault/git",),
    "psutil": ("daemon/tools/host.py", "daemon/cli/doctor"),
    "typer": ("daemon/cli/",),
    "rich": ("daemon/cli/", "daemon/telemetry.py"),
}
STANDARD_FOR_GUARDS = {
    "__future__",
    "abc",
    "array",
    "bisect",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
}
STANDARD_FOR_GUARDS |= {"heapq", "importlib", "itertools", "json", "math", "operator", "re", "statistics", "string"}
STANDARD_FOR_GUARDS |= {"base64", "binascii", "copy", "struct", "typing", "unicodedata", "zlib", "guards"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at any depth of nesting."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.mark.parametrize("library", DOORS)
def test_each_heavy_library_enters_by_one_door(library: str) -> None:
    """A library that may have to be replaced is imported in one place only."""
    users = [
        str(path.relative_to(ROOT)) for path in SOURCES if any(name.split(".")[0] == library for name in imports(path))
    ]

    assert [] == [user for user in users if not user.startswith(DOORS[library])]


def test_guards_use_little_of_the_standard_library() -> None:
    """The guards import nothing that could do I/O, tell the time or throw dice."""
    used = {name.split(".")[0] for path in (ROOT / "guards").rglob("*.py") for name in imports(path)}

    assert set() == used - STANDARD_FOR_GUARDS


def test_no_file_outgrows_its_screen() -> None:
    """No file has more than 300 lines."""
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in WRITTEN}

    assert {} == {name: lines for name, lines in lengths.items() if lines > MOST_LINES}


def test_no_constructor_takes_a_crowd() -> None:
    """No __init__ has more than seven parameters besides self."""
    wide = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
        if len(node.args.args) + len(node.args.kwonlyargs) - 1 > MOST_PARAMETERS
    ]

    assert [] == wide


def test_every_file_is_called_what_it_is() -> None:
    """No file is a drawer for whatever has no place."""
    assert [] == [str(path.relative_to(ROOT)) for path in WRITTEN if SAYS_NOTHING.search(path.stem)]


def test_every_module_says_what_it_is() -> None:
    """Every module opens with a docstring."""
    assert [] == [
        str(path.relative_to(ROOT))
        for path in WRITTEN
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_there_is_one_blanket_except() -> None:
    """`except Exception` stands once in the daemon: around a run, which it records as failed."""
    blanket = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    ]

    assert ["daemon/runner.py"] == blanket


def test_the_loop_fits_on_a_screen() -> None:
    """One run can be read without scrolling."""
    tree = ast.parse((ROOT / "daemon/loop.py").read_text(encoding="utf-8"))
    run = next(node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.name == "run")

    assert (run.end_lineno or 0) - run.lineno < 45


@pytest.mark.parametrize(
    ("module", "registry"),
    [
        ("daemon.models", "MODELS"),
        ("daemon.tools", "TOOLS"),
        ("daemon.heartbeat", "TRIGGERS"),
        ("daemon.trajectories", "EXPORTS"),
        ("guards.panel", "GUARDS"),
    ],
)
def test_every_registered_name_can_be_loaded(module: str, registry: str) -> None:
    """A registry line names something that exists."""
    for target in getattr(importlib.import_module(module), registry).values():
        where, _, name = target.partition(":")

        assert hasattr(importlib.import_module(where), name), target


def test_nothing_of_this_machine_is_written_down() -> None:
    """No file of the project names a path of the machine that it was made on, or a package registry."""
    marks = re.compile(
        r"/work/(main|shared|\.library)|/root/|pypi\.org|files\.pythonhosted|registry\.npmjs|/opt/(pypi|wheels)"
    )
    here = Path(__file__).resolve()
    texts = [
        p
        for p in ROOT.rglob("*")
        if p.suffix in {".py", ".md", ".toml", ".yml", ".lock", ".service", ".jinja", ".sh", ".txt"}
    ]
    skipped = {".venv", ".git", "agent", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}

    assert [] == [
        str(path.relative_to(ROOT))
        for path in texts
        if not skipped & set(path.relative_to(ROOT).parts)
        and path.resolve() != here
        and marks.search(path.read_text("utf-8"))
    ]

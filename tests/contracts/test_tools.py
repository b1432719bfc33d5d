"""What every tool in the registry keeps, whoever wrote it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError

from daemon.registry import load
from daemon.tools import TOOLS
from daemon.tools.base import Setting, Tool
from daemon.tools.toolbox import Toolbox
from daemon.types import ToolCall
from guards.written import declared
from vault import Vault

every_tool = pytest.mark.parametrize("name", sorted(TOOLS))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(["what", "action", "path", "text", "query"])
VALUES = st.sampled_from(
    ["all", "read", "list", "search", "write", "append", "status", "changes", "journal", "a.md", "../x"]
)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """A run in an agent directory of its own."""
    vault = Vault.create(tmp_path / "vault", "trimtab", "trimtab@localhost")
    now = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)
    return Setting("host-watch", "01RUN", now, ZoneInfo("UTC"), vault.draft(), tmp_path)


def made(name: str) -> Tool:
    """A tool of the registry with its default options."""
    tool: Tool = load("tools", TOOLS, name)()
    return tool


@every_tool
def test_its_name_is_its_place(name: str) -> None:
    """A tool is called what the registry calls it, in its class and to the model."""
    assert made(name).name == made(name).spec().name == name


@every_tool
def test_its_schema_is_an_object_that_names_everything(name: str) -> None:
    """The parameters are a valid schema of a closed object, and can be sent as JSON."""
    parameters = made(name).spec().parameters

    Draft202012Validator.check_schema(dict(parameters))
    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert json.loads(json.dumps(parameters)) == parameters


@every_tool
def test_it_has_limits_and_words(name: str) -> None:
    """Time and size are bounded, and the model is told what it is for."""
    spec = made(name).spec()

    assert 0 < spec.timeout_seconds <= 60
    assert 0 < spec.max_chars <= 20_000
    assert 10 <= len(spec.description) <= 400


@every_tool
def test_unknown_options_are_mistakes(name: str) -> None:
    """A misspelt key in the settings is refused."""
    options: type[BaseModel] = load("tools", TOOLS, name).Options

    with pytest.raises(ValidationError):
        options(no_such_key=1)


@every_tool
@tries(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(args=st.dictionaries(WORDS | st.text(max_size=8), VALUES | JSON, max_size=4))
def test_no_arguments_raise(name: str, setting: Setting, args: dict[str, object]) -> None:
    """Whatever a model makes up, the answer is a bounded text, and a failure begins with `error: `."""
    tool = made(name)
    result = asyncio.run(Toolbox([tool], setting).run(ToolCall("1", name, args)))

    assert result.ok is not result.text.startswith("error: ")
    assert len(result.text) <= tool.spec().max_chars + 200


@every_tool
def test_what_it_says_it_writes_is_among_its_arguments(name: str) -> None:
    """The arguments that guards read as text are texts of its schema, under its own name or an action that it has."""
    tool = made(name)
    properties = tool.spec().parameters.get("properties", {})
    for call, listed in declared(tool.written).items():
        owner, _, action = call.partition(".")
        assert owner == name
        assert not action or action in properties["action"]["enum"]
        assert all(properties[one.removesuffix(":whole")]["type"] == "string" for one in listed)

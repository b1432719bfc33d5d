"""The arguments of a call against the tool's schema, with complaints that a model can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from daemon.errors import ToolError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_SHOWN = 80


class Arguments:
    """The checks for one tool.  A wrong schema raises at once: it is a mistake in the tool."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._validator = _validator(json.dumps(schema))
        self._properties: Mapping[str, Any] = schema.get("properties", {})
        self._required = frozenset(schema.get("required", ()))

    def checked(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with defaults filled in; an optional null counts as absent.  Raises ToolError."""
        given = {key: value for key, value in args.items() if value is not None or key in self._required}
        worst = min(self._validator.iter_errors(given), key=lambda error: len(error.absolute_path), default=None)
        if worst is not None:
            raise ToolError(self._complaint(worst, given))
        defaults = {name: schema["default"] for name, schema in self._properties.items() if "default" in schema}
        return {**defaults, **given}

    def _complaint(self, error: ValidationError, given: Mapping[str, Any]) -> str:
        where = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "required":
            missing = next(name for name in sorted(self._required) if name not in given)
            return f"argument {missing!r} is missing: expected {self._expected(self._properties.get(missing, {}))}"
        if error.validator == "additionalProperties":
            extra = next(name for name in given if name not in self._properties)
            return f"there is no argument {extra[:_SHOWN]!r}: expected {', '.join(self._properties) or 'no arguments'}"
        return f"argument {where!r} is {_shown(error.instance)}: expected {self._expected(error.schema)}"

    @staticmethod
    def _expected(schema: Any) -> str:
        if "enum" in schema:
            return "one of " + ", ".join(str(value) for value in schema["enum"])
        return str(schema.get("description") or f"a {schema.get('type', 'value')}")


@cache
def _validator(schema: str) -> Any:
    """Return the validator of a schema; imported when a run first has tools, and made once for each schema."""
    from jsonschema import Draft202012Validator

    document = json.loads(schema)
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

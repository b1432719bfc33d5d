"""`trimtab.toml` and `TRIMTAB_*` environment variables become one frozen object, or one clear line that says why not.

A table that belongs to something pluggable ([models.NAME], [guards.NAME], [tools.NAME], [sync]) stays raw here: whoever
builds that thing validates it with the thing's own `Options`, through `validated`.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from daemon.errors import ConfigError

FILE = "trimtab.toml"
Options = TypeVar("Options", bound=BaseModel)


class Section(BaseModel):
    """A table of the file: unknown keys are mistakes, not extras."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricsSection(Section):
    """Where `/metrics` listens; port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = Field(default=9464, ge=0, le=65535)


class LogSection(Section):
    """What is logged; the format is JSON unless a person is watching a terminal."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "text"] = "auto"


class BreakerSection(Section):
    """How long a heartbeat rests after a trip that nothing helped, in seconds; it doubles with each failed probe.

    `caution` is how many years of the agent may bring one false trip of the sequential guards together.
    """

    cooldown_seconds: float = Field(default=1800, gt=0, le=86_400)
    caution: float = Field(default=1.0, ge=0.01, le=1e6)


class JudgeSection(Section):
    """A model that is asked for a second opinion when a sequential guard is suspicious; none is the default."""

    model: str | None = None
    seconds: float = Field(default=60, gt=0, le=600)


class ContextSection(Section):
    """How much of the model's context a thread may fill before it is compacted, and how many runs stay as they were.

    `summary` says who writes what stands for the rest: a model, an extract, or (auto) a model with a large context.
    """

    summary: Literal["auto", "model", "extract"] = "auto"
    compact_at: float = Field(default=0.6, gt=0.1, lt=0.95)
    keep_runs: int = Field(default=2, ge=1, le=50)
    recall_notes: int = Field(default=3, ge=0, le=20)
    tokens: int = Field(default=32_000, ge=512)


class VaultSection(Section):
    """What of the agent's writing waits for a person's approval: only what instructs it, or all its notes too."""

    review: Literal["instructions", "all"] = "instructions"


class Settings(BaseSettings):
    """Everything that a person sets for one agent."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix="TRIMTAB_", env_nested_delimiter="__", env_ignore_empty=True
    )

    name: str = Field(default="agent", pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    timezone: str = "UTC"
    concurrency: int = Field(default=1, ge=1, le=16)
    drain_seconds: float = Field(default=30, ge=0, le=80)  # the unit gives the whole stop 90 seconds
    models: dict[str, dict[str, Any]] = Field(default_factory=lambda: {"local": {"backend": "llama_cpp"}})
    guards: dict[str, dict[str, Any]] = Field(default_factory=dict)
    tools: dict[str, dict[str, Any]] = Field(default_factory=dict)
    sync: dict[str, Any] = Field(default_factory=dict)
    metrics: MetricsSection = MetricsSection()
    log: LogSection = LogSection()
    breaker: BreakerSection = BreakerSection()
    judge: JudgeSection = JudgeSection()
    context: ContextSection = ContextSection()
    vault: VaultSection = VaultSection()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment overrides the file, and there is no third place."""
        return env_settings, init_settings

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, value: str) -> str:
        if value not in available_timezones():
            raise ValueError("an IANA time zone such as Europe/Berlin")
        return value

    @field_validator("models")
    @classmethod
    def _a_model(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if not value:
            raise ValueError("at least one [models.NAME] table")
        return value

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def load(home: Path) -> Settings:
    """Read the settings of the agent directory `home`.  Raises ConfigError."""
    file = home / FILE
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(file, "", "no such file: is this an agent directory? `trimtab init DIR` makes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise ConfigError(file, "", f"not valid TOML: {wrong}") from None
    except OSError as wrong:
        raise ConfigError(file, "", f"cannot be read: {wrong.strerror}") from None
    try:
        return Settings(**table)
    except ValidationError as wrong:
        raise explained(wrong, file, "", Settings) from None


def validated(options: type[Options], table: Mapping[str, Any], file: object, where: str) -> Options:
    """Return `table` as `options`, or raise one ConfigError that names the key under `where`."""
    try:
        return options.model_validate(dict(table))
    except ValidationError as wrong:
        raise explained(wrong, file, where, options) from None


def explained(wrong: ValidationError, file: object, where: str, model: type[BaseModel]) -> ConfigError:
    """Make the first of pydantic's complaints into one line: file, key, what was expected."""
    first = wrong.errors(include_url=False)[0]
    key = ".".join([where, *map(str, first["loc"])] if where else map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = _fields(model, first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        return ConfigError(
            file,
            key,
            f"unknown key; did you mean {near[0]!r}?" if near else f"unknown key; known: {', '.join(known) or 'none'}",
        )
    message = first["msg"].removeprefix("Value error, ")
    got = repr(first["input"])
    shown = "" if first["type"] == "missing" or len(got) > 60 else f", not {got}"
    return ConfigError(file, key, f"expected {message[0].lower() + message[1:]}{shown}" if message else "not valid")


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the table at `path` below `model` may have."""
    for part in path:
        field = model.model_fields.get(str(part))
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return sorted(model.model_fields)

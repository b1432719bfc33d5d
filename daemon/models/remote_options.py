"""What `trimtab.toml` may say of a model behind an HTTP API, and whether its address is this machine."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from daemon.models.prices import Price
from daemon.models.secret import KeyOption


class RemoteOptions(BaseModel):
    """Settings of any API.  `timeout`: seconds that it may be silent; `retries`: only where nothing is done twice."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str
    model: str = Field(min_length=1)
    api_key: KeyOption = None
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    top_p: Annotated[float | None, Field(gt=0, le=1)] = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    timeout: float = Field(default=120, gt=0, le=3600)
    retries: int = Field(default=3, ge=0, le=10)
    price: Price | None = None
    extra: dict[str, Any] = Field(default_factory=dict)

    @field_validator("url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the base of an API such as http://127.0.0.1:8000/v1")
        if parts.username or parts.password:
            raise ValueError("an address without a user or a password in it; use api_key")
        return value.rstrip("/")

    @field_validator("extra")
    @classmethod
    def _not_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(
            set(value) & {"model", "messages", "system", "tools", "stream", "stream_options", "thinking"}
        ):
            raise ValueError(
                f"fields of the API that trimtab does not set itself; {', '.join(taken)} cannot be set here"
            )
        return value

    @property
    def sampling(self) -> dict[str, Any]:
        """The sampling settings that were given."""
        given = {"temperature": self.temperature, "top_p": self.top_p}
        return {name: value for name, value in given.items() if value is not None}


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine by its address; a name other than localhost can point anywhere.

    It cannot see what listens there: a tunnel on loopback to another machine counts as this one.
    """
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"

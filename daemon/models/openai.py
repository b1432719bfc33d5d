"""Any server that speaks OpenAI's `/v1/chat/completions`, hosted or on this machine (llama.cpp, vLLM, Ollama)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from daemon.models import wire_openai
from daemon.models.draft import Draft
from daemon.models.fault import Fault, Server
from daemon.models.remote import Remote
from daemon.models.remote_options import RemoteOptions
from daemon.models.sse import Event
from daemon.stages import Clock
from daemon.types import Prompt

if TYPE_CHECKING:
    from daemon.models.http import Door

_SHOWN = 5


class OpenAI(Remote):
    """A model behind `URL/chat/completions` (implements stages.Model)."""

    class Options(RemoteOptions):
        """`calls_in_text`: read calls that a server without a parser leaves in the text."""

        calls_in_text: bool = True

    def __init__(
        self, name: str, options: Options, home: Path, clock: Clock | None = None, random: Random | None = None
    ) -> None:
        super().__init__(name, options, home, _Wire(name, options), clock, random)


class _Wire:
    path = "/chat/completions"

    def __init__(self, name: str, options: OpenAI.Options) -> None:
        self._options, self.calls_in_text = options, options.calls_in_text
        self._server = Server(name, urlsplit(options.url).netloc, options.model, None)
        # The one host that refuses the old name; all others know it.
        renamed = urlsplit(options.url).hostname == "api.openai.com"
        limit = {"max_completion_tokens" if renamed else "max_tokens": options.max_tokens} if options.max_tokens else {}
        self._settings = options.sampling | limit | options.extra

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, prompt: Prompt) -> Mapping[str, Any]:
        return wire_openai.body(prompt, self._options.model, self._settings)

    def hear(self, draft: Draft, event: Event) -> str:
        return wire_openai.hear(draft, event)

    async def ready(self, door: Door) -> str:
        """A server that lists one model answers to any name; one that lists several and not ours would answer 404."""
        try:
            listed = await door.get("/models")
        except Fault as fault:
            if fault.status in (404, 405, 501):
                return "it answers, and has no list of models"
            raise
        rows = listed.get("data") if isinstance(listed, dict) else None
        ids = [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]
        if self._options.model in ids:
            return "ready"
        if len(ids) < 2:
            return f"it answers, and lists {ids[0]!r} only" if ids else "it answers, and lists no model"
        shown = ", ".join(sorted(ids)[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
        raise Fault(self._server.line(f"does not list the model {self._options.model!r}, but {shown}"), provider=False)

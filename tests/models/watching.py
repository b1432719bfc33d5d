"""What the tests of the local model ask it: a prompt about a host, with a tool to look at it."""

from __future__ import annotations

from daemon.models.llama_cpp import LlamaCpp
from daemon.types import Message, Prompt, Reply, Stop, ToolSpec

SYSTEM = Message("system", "You keep watch over a host.")
HOT = {"temperature": 2.0, "top_p": 1.0, "min_p": 0.0, "top_k": 0}
HOST = ToolSpec(
    "host",
    "Look at the machine.",
    {
        "type": "object",
        "properties": {
            "what": {"enum": ["load", "disk", "memory"]},
            "limit": {"type": "integer", "minimum": 3, "maximum": 17},
            "note": {"type": "string", "maxLength": 30},
        },
        "required": ["what"],
        "additionalProperties": False,
    },
)


def prompt(thread: str = "watch", text: str = "How is the disk?", tools: tuple[ToolSpec, ...] = ()) -> Prompt:
    return Prompt(thread, (SYSTEM, Message("user", text)), tools)


async def ask(model: LlamaCpp, what: Prompt, stop: Stop = lambda _: False, seconds: float = 60) -> Reply:
    return await model.reply(what, stop=stop, seconds=seconds)

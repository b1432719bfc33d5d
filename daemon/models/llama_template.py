"""A model's own chat template, rendered in a sandbox, and what to do where it cannot say what a conversation holds.

Templates come out of files from anywhere: they run in Jinja's immutable sandbox, in the child process.  What a template
can do is found out once, with a probe, so that a thread is always rendered the same way and only grows at its end.
It knows text only; tokens are the business of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, TypeAlias

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from daemon.models.llama_grammar import BARE, HERMES, MISTRAL, Wrapper

Chat: TypeAlias = list[dict[str, Any]]
"""Messages as templates know them: role, content, tool_calls with object arguments, name, tool_call_id."""

PLAIN = (
    "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"
)
"""For a file that brings no template: ChatML."""

HOW_TO_CALL = (
    "You may call these tools. To call one, write exactly this and nothing after it:\n"
    '<tool_call>\n{"name": "TOOL", "arguments": {...}}\n</tool_call>\n'
)

# A template is a small program: what it raises is whatever Python raises.
_FAILURES = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


class TemplateFailed(Exception):
    """The template cannot render this conversation in any way that was tried."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a template was seen to do: its own call wrapper (None: tools are folded into the text), roles, order."""

    wrapper: Wrapper | None
    system: bool
    late_system: bool
    in_a_row: bool


class Template:
    """One compiled template.  `bos` and `eos` are the texts of those tokens, `started` is the date that it may show."""

    def __init__(self, source: str, bos: str = "", eos: str = "", started: datetime | None = None) -> None:
        extensions = [loopcontrols, _Generation]
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
        environment.filters["tojson"] = _tojson
        environment.globals.update(raise_exception=_raise, bos_token=bos, eos_token=eos)
        if started:
            # Not the present moment: a date that changes at the top of a prompt would undo all that was evaluated.
            environment.globals["strftime_now"] = started.strftime
        self.source = source or PLAIN
        try:
            self._template = environment.from_string(self.source)
        except _FAILURES as fault:
            raise TemplateFailed(f"its chat template is not valid: {fault}") from fault
        self.can = self._probe()

    @property
    def wrapper(self) -> Wrapper:
        """How calls are written: as the model was trained to, or as the folded text asks for."""
        return self.can.wrapper or HERMES

    def render(
        self, chat: Chat, tools: Sequence[Mapping[str, Any]], *, open_turn: bool = True, fold: bool = True
    ) -> str:
        """Return the conversation as text, with the beginning of the model's turn at its end.

        Raises TemplateFailed when the template's own way does not work, and neither (with `fold`) does folding.
        """
        shown = [{"type": "function", "function": dict(tool)} for tool in tools] or None
        native = self.can.wrapper is not None
        failure: Exception | None = None
        for folded in (not native, True) if fold else (not native,):
            messages = list(self._folded(chat, tools) if folded else chat)
            messages = list(self._ordered(messages, merge=not self.can.in_a_row or (native and folded)))
            try:
                return self._render(messages, None if folded else shown, open_turn)
            except _FAILURES as fault:
                failure = fault
        raise TemplateFailed(f"its chat template cannot render this conversation: {failure}")

    def opening(self) -> str:
        """Return what begins the model's turn; in a reply it would begin another one."""
        chat: Chat = [{"role": "user", "content": "probe-user"}]
        whole, closed = self._try(chat, None), self._try(chat, None, open_turn=False)
        return whole.removeprefix(closed) if whole.startswith(closed) else ""

    def _render(self, chat: Chat, tools: Sequence[Mapping[str, Any]] | None, open_turn: bool = True) -> str:
        return self._template.render(messages=chat, tools=tools, add_generation_prompt=open_turn)

    def _folded(self, chat: Chat, tools: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The same conversation in plain texts: tools in the system message, calls and results as text."""
        if tools:
            listed = HOW_TO_CALL + "\n".join(json.dumps(dict(tool), ensure_ascii=False) for tool in tools)
            first = chat[0]["content"] + "\n\n" if chat and chat[0]["role"] == "system" else ""
            yield {"role": "system", "content": first + listed}
            chat = chat[1:] if first else chat
        for message in chat:
            if message["role"] == "tool":
                yield {"role": "user", "content": f"<tool_response>\n{message['content']}\n</tool_response>"}
            elif message.get("tool_calls"):
                calls = "\n".join(_call_text(call["function"]) for call in message["tool_calls"])
                yield {"role": "assistant", "content": "\n".join(filter(None, [message["content"], calls]))}
            else:
                yield message

    def _ordered(self, chat: Chat, *, merge: bool) -> Iterator[dict[str, Any]]:
        """Put system messages where the template can show them, and join neighbours that it would refuse."""
        last: dict[str, Any] | None = None
        for i, message in enumerate(chat):
            if message["role"] == "system" and not (self.can.late_system if i else self.can.system):
                message = {"role": "user", "content": message["content"]}
            if last and merge and message["role"] == last["role"] and not last.get("tool_calls"):
                last = {**last, **message, "content": f"{last['content']}\n\n{message['content']}"}
                continue
            if last:
                yield last
            last = message
        if last:
            yield last

    def _probe(self) -> Abilities:
        user, answer = {"role": "user", "content": "probe-user"}, {"role": "assistant", "content": "probe-answer"}
        system = {"role": "system", "content": "probe-system"}

        def shows(chat: Chat) -> bool:
            text = self._try(chat, None)
            return all(message["content"] in text for message in chat)

        return Abilities(
            wrapper=self._native_wrapper(),
            system=shows([system, user]),
            late_system=shows([system, user, answer, {**system, "content": "probe-late"}, user]),
            in_a_row=shows([user, {**user, "content": "probe-again"}]),
        )

    def _native_wrapper(self) -> Wrapper | None:
        """The wrapper of the template's own calls, if it lists tools, shows calls and results, and we know it."""
        function = {"name": "probe_tool", "arguments": {"probe_key": "probe_value"}}
        tool = {"name": "probe_tool", "description": "probe", "parameters": {"type": "object", "properties": {}}}
        shown = [{"type": "function", "function": tool}]
        chat: Chat = [
            {"role": "system", "content": "probe-system"},
            {"role": "user", "content": "probe-user"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "probe1234", "type": "function", "function": function}],
            },
            {"role": "tool", "content": "probe-result", "name": "probe_tool", "tool_call_id": "probe1234"},
        ]
        if "probe_tool" not in self._try(chat[:2], shown):
            return None
        _, _, text = self._try(chat, shown).partition("probe-user")
        if "probe-result" not in text:
            return None
        return next((one for one in (HERMES, MISTRAL, BARE) if _written(function, one) in text), None)

    def _try(self, chat: Chat, tools: Sequence[Mapping[str, Any]] | None, *, open_turn: bool = True) -> str:
        try:
            return self._render(chat, tools, open_turn)
        except _FAILURES:
            return ""


class _Generation(Extension):
    """Some templates mark what the model wrote with {% generation %}, for training; here it means nothing."""

    tags = {"generation"}  # noqa: RUF012  Jinja's own attribute

    def parse(self, parser: Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _written(function: Mapping[str, Any], wrapper: Wrapper) -> str:
    """How a call begins in this wrapper, and ends where the wrapper has nothing between call and end."""
    call = json.dumps({"name": function["name"], wrapper.args: function["arguments"]})
    return wrapper.marker + wrapper.opening + (call[:-1] if wrapper is MISTRAL else call + wrapper.closing)


def _call_text(function: Mapping[str, Any]) -> str:
    call = json.dumps({"name": function["name"], "arguments": function["arguments"]}, ensure_ascii=False)
    return f"{HERMES.marker}{HERMES.opening}{call}{HERMES.closing}"


def _tojson(value: object, indent: int | None = None, **_: object) -> str:
    """JSON as models were trained on it: Jinja's own filter would escape it for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)

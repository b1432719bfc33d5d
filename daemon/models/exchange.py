"""A thread as the API formats accept it: one system text, and each tool call followed by exactly one result.

A run that was killed between a call and its result, a compacted thread and two backends that count their call ids alike
all leave threads that a provider would answer with 400 for ever.  The same thread always gives the same messages, and a
longer one begins with the same messages, so that a provider's prompt cache goes on being hit.
"""

from __future__ import annotations

from collections.abc import Iterable

from daemon.types import Message, ToolCall

_NO_RESULT = "(no result was recorded for this call)"


def system_text(messages: Iterable[Message]) -> str:
    """Return the system messages that the thread begins with, as one text."""
    texts = []
    for message in messages:
        if message.role != "system":
            break
        texts.append(message.text)
    return "\n\n".join(text for text in texts if text.strip())


def exchanged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the rest of the thread, mended.

    Calls get ids of nine letters and digits, unique in the thread (some templates refuse all others); a call without a
    result gets one that says so, a result without a call and a late system message become user messages, and an
    assistant message without text or calls is left out.
    """
    mended = _Mended()
    leading = True
    for message in messages:
        leading = leading and message.role == "system"
        if not leading:
            mended.add(message)
    mended.close()
    return tuple(mended.messages)


class _Mended:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._count = 0
        self._open: list[tuple[str | None, ToolCall]] = []  # the id that the thread knows, the call under its new id
        self._astray: list[Message] = []

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._result(message)
            return
        self.close()
        if message.role == "assistant":
            calls = tuple(self._call(call) for call in message.calls)
            if calls or message.text.strip():
                self.messages.append(_with(message, calls) if calls else message)
        elif message.text.strip():
            as_it_is = message.role == "user" and not message.calls
            self.messages.append(message if as_it_is else Message("user", message.text, name=message.name))

    def close(self) -> None:
        """Give every call that still waits a result."""
        for _, call in self._open:
            self.messages.append(Message("tool", _NO_RESULT, call_id=call.id, name=call.name, failed=True))
        self.messages += self._astray
        self._open, self._astray = [], []

    def _call(self, call: ToolCall) -> ToolCall:
        self._count += 1
        renamed = ToolCall(f"call{self._count:05d}", call.name, call.args)
        self._open.append((call.id, renamed))
        return renamed

    def _result(self, message: Message) -> None:
        for entry in self._open:
            old, call = entry
            if old == message.call_id:
                self._open.remove(entry)
                self.messages.append(Message("tool", message.text, (), call.id, call.name, failed=message.failed))
                return
        self._astray.append(Message("user", f"Result of {message.name or 'a tool'}:\n{message.text}"))


def _with(said: Message, calls: tuple[ToolCall, ...]) -> Message:
    return Message(
        "assistant", said.text, calls, name=said.name, token_ids=said.token_ids, token_model=said.token_model
    )

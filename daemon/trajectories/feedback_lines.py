"""The export `feedback`: what a person took back, rejected or approved of a run's notes, and why, one act a line.

schema          "trimtab-feedback/1"
run, heartbeat, thread, outcome (of the run; null while it goes on)
at, person, what    when and who; taken_back, rejected or approved
why             the person's words; empty when an approval came without any
commit, paths, patch    the commit that holds the change, its notes, and what it did to them
tools           what was offered in the step that wrote them first
prompt          the messages that this step answered
replies         the steps that wrote them, or all that called a tool where no call names them: {step, text, calls,
                model, note, sample}; messages, calls and samples as in `jsonl`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, TextIO

from daemon.trajectories.jsonl import message_document, origin_document
from daemon.trajectories.packing import stamp, to_json
from daemon.trajectories.pairs import reply_document
from daemon.trajectories.record import RunRecord
from daemon.trajectories.rows import tool_document
from daemon.types import Feedback, Message, Step

SCHEMA = "trimtab-feedback/1"
_WRITES = {"write", "append"}

Document = dict[str, Any]


class FeedbackLines:
    """Writes the feedback on runs as lines of JSON."""

    UNIT: ClassVar[str] = "acts"

    def write(self, records: Iterable[RunRecord], out: TextIO) -> int:
        """Write the feedback in the order of its runs; return how much there was."""
        count = 0
        for record in records:
            for said in record.feedback:
                out.write(to_json(_document(record, said)) + "\n")
                count += 1
        return count


def _document(record: RunRecord, said: Feedback) -> Document:
    acted = list(_acted(record.steps))
    writing = [each for each in acted if any(_writes(call.args, said.paths) for call in each[0].reply.calls)] or acted
    return {
        "schema": SCHEMA,
        **origin_document(record.run),
        "at": stamp(said.at),
        "person": said.person,
        "what": said.what,
        "why": said.why,
        "commit": said.commit,
        "paths": said.paths,
        "patch": said.patch,
        "tools": [tool_document(tool) for tool in writing[0][0].tools] if writing else [],
        "prompt": [message_document(message) for message in writing[0][1]] if writing else [],
        "replies": [reply_document(step) for step, _ in writing],
    }


def _acted(steps: Sequence[Step]) -> Iterator[tuple[Step, tuple[Message, ...]]]:
    """Yield the accepted steps that called a tool, each with the prompt that it answered."""
    prompt: tuple[Message, ...] = ()
    for step in steps:
        prompt = step.sent if step.anew or not prompt else prompt + step.sent
        if step.withheld:
            continue
        if step.reply.calls:
            yield step, prompt
        prompt += (step.reply.message(),)


def _writes(args: Any, paths: Sequence[str]) -> bool:
    """Whether a tool call writes one of these notes; the path `journal` stands for the page of a day."""
    path = args.get("path")
    if args.get("action") not in _WRITES or not isinstance(path, str):
        return False
    return path in paths or (path == "journal" and any(each.startswith("journal/") for each in paths))

"""A HEARTBEAT.md, or a list of scheduled jobs, becomes heartbeat files: those whose schedule can be read run by it.

Everything else of the file becomes one heartbeat that is paused, with the text as it is, for the person to give it a
schedule.  Nothing here is in force before the person has seen it and said yes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from daemon.errors import ConfigError
from daemon.heartbeat.file import is_empty, parse
from daemon.imports.schedules import HEARTBEAT, schedule_in
from vault.escape import one_line

CHECKLIST: Final = "checklist"
"""The heartbeat that holds what has no schedule."""
_MOST: Final = 200
_LARGEST: Final = 48 * 1024  # a heartbeat file may have 64 KiB
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)[-*+][ \t]+(?:\[(?P<done>[ xX])\][ \t]+)?"
    r"(?:\[(?P<tags>[a-z]+(?:\|[a-z]+)*)\][ \t]*)?(?P<text>.*)"
)
_TASK = re.compile(r"[ \t]*(?P<dash>-[ \t]+)?(?P<key>name|interval|schedule|prompt):[ \t]*(?P<value>.*)")
_TASKS = "active tasks"  # nanobot looks at this section only
_DONE = re.compile(r"\b(?:completed|done|finished|archive)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Beat:
    """A heartbeat to be: `schedule` is its front matter line, `note` says what a person should know of it."""

    name: str
    schedule: str
    instruction: str
    paused: bool = False
    note: str = ""

    def file(self, origin: str) -> str:
        """Return the heartbeat file."""
        paused = "paused: true\n" if self.paused else ""
        about = one_line(f"# imported from {origin}", 150)
        return f"---\n{about}\n{self.schedule}\ntools: [vault]\n{paused}---\n{self.instruction.strip()}\n"


def beats_of(text: str, zone: ZoneInfo) -> list[Beat]:
    """Return the heartbeats that a HEARTBEAT.md asks for; none where it says nothing."""
    tasks, rest = _tasks(text)
    if tasks:
        more = "" if _says_nothing(rest, zone) else f"\n\n{rest.strip()}"
        found = [Beat(name, schedule, prompt + more, note=note) for name, schedule, prompt, note in tasks]
        return _sound(found, zone)
    lines = _active(_tasks_only(text.splitlines()))
    sections = list(_sections(lines))
    scheduled = {number for _, numbers in sections for number in numbers}
    left = [line for number, line in enumerate(lines) if number not in scheduled and not _is_done(line)]
    beats, remainder = [beat for beat, _ in sections], "\n".join(left).strip()
    if not _says_nothing(remainder, zone):
        beats.append(Beat(CHECKLIST, HEARTBEAT, remainder, paused=True, note="no schedule could be read: paused"))
    return _sound(beats, zone)


def jobs_of(data: str, zone: ZoneInfo) -> list[Beat]:
    """Return the heartbeats of a jobs.json.  Raises ValueError when it is none."""
    try:
        table = json.loads(data)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    jobs = table.get("jobs") if isinstance(table, Mapping) else table
    if not isinstance(jobs, list):
        raise ValueError("expected a list of jobs")
    found = list[Beat]()
    for job in jobs[:_MOST]:
        prompt = _prompt(job)
        if not prompt:
            continue
        schedule = _job_schedule(job.get("schedule"))
        off = job.get("enabled") is False or schedule is None
        note = "no schedule could be read: paused" if schedule is None else ("was switched off: paused" if off else "")
        found.append(Beat(str(job.get("name") or job.get("id") or "job"), schedule or HEARTBEAT, prompt, off, note))
    return _sound(found, zone)


def _prompt(job: Any) -> str:
    """Return what a job tells the model, wherever its system writes that."""
    if not isinstance(job, Mapping):
        return ""
    payload = job.get("payload")
    places = [*([payload] if isinstance(payload, Mapping) else []), job]
    told = [place.get(key) for place in places for key in ("message", "prompt", "text")]
    return next((text.strip() for text in told if isinstance(text, str) and text.strip()), "")


def _job_schedule(schedule: Any) -> str | None:
    if isinstance(schedule, str):
        plain = schedule_in(schedule) or schedule_in(f"`{schedule}`") or schedule_in(f"every {schedule}")
        return plain[0] if plain else None
    if not isinstance(schedule, Mapping):
        return None
    expression = schedule.get("expr")
    if schedule.get("kind") == "cron" and isinstance(expression, str):
        zone = schedule.get("tz")
        named = f"\ntimezone: {zone}" if isinstance(zone, str) and re.fullmatch(r"[A-Za-z0-9_+/-]{1,60}", zone) else ""
        return f'cron: "{expression}"{named}' if re.fullmatch(r"[0-9A-Za-z*/, -]{9,100}", expression) else None
    for key, unit in (("everyMs", 1_000), ("every_ms", 1_000), ("minutes", 1 / 60)):
        length = schedule.get(key)
        if isinstance(length, int) and length > 0:
            return f"every: {max(1, round(length / unit))}s"
    return None


def _tasks(text: str) -> tuple[list[tuple[str, str, str, str]], str]:
    """Return the entries of a `tasks:` block as (name, schedule, prompt, note), and the text without the block."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.rstrip() == "tasks:"), None)
    if start is None:
        return [], text
    end, items = start + 1, list[dict[str, str]]()
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t-"):
        if found := _TASK.fullmatch(lines[end]):
            if found["dash"] or not items:
                items.append({})
            items[-1][found["key"]] = found["value"].strip().strip("\"'")
        elif items and lines[end].strip() and "prompt" in items[-1]:
            items[-1]["prompt"] = f"{items[-1]['prompt'].lstrip('|>')} {lines[end].strip()}".strip()
        end += 1
    tasks = list[tuple[str, str, str, str]]()
    for item in items[:_MOST]:
        if prompt := item.get("prompt"):
            told = item.get("interval") or item.get("schedule") or ""
            schedule = schedule_in(told) or schedule_in(f"every {told}") or schedule_in(f"`{told}`")
            note = "" if schedule else f"its interval {one_line(told, 40)!r} could not be read: every 30 minutes"
            tasks.append((item.get("name") or "task", schedule[0] if schedule else HEARTBEAT, prompt, note))
    return tasks, "\n".join([*lines[:start], *lines[end:]])


def _tasks_only(lines: list[str]) -> list[str]:
    """Return what stands below a heading "Active Tasks", where there is one: the rest explains the file to people."""
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading and heading[2].casefold() == _TASKS:
            end = next((n for n in range(number + 1, len(lines)) if _is_heading(lines[n], len(heading[1]))), len(lines))
            return lines[number + 1 : end]
    return lines


def _active(lines: list[str]) -> list[str]:
    """Return the lines without sections of what is done already."""
    kept, skipping = list[str](), 0
    for line in lines:
        if heading := _HEADING.fullmatch(line):
            depth = len(heading[1])
            if not skipping or depth <= skipping:
                skipping = depth if _DONE.search(heading[2]) else 0
        if not skipping:
            kept.append(line)
    return kept


def _sections(lines: list[str]) -> Iterator[tuple[Beat, range]]:
    """Give a heartbeat for each heading or list item that names a schedule, and the lines that it takes."""
    number = 0
    while number < len(lines):
        found = _headed(lines, number) or _listed(lines, number)
        if found is not None:
            yield found
        number = number + 1 if found is None else found[1].stop


def _headed(lines: list[str], number: int) -> tuple[Beat, range] | None:
    """Return the heartbeat of a heading with a schedule; everything below the heading is its instruction."""
    heading = _HEADING.fullmatch(lines[number])
    found = schedule_in(heading[2]) if heading else None
    if heading is None or found is None:
        return None
    depth, end = len(heading[1]), number + 1
    while end < len(lines) and not _is_heading(lines[end], depth):
        end += 1
    body = "\n".join(line for line in lines[number + 1 : end] if not _is_done(line)).strip()
    return (Beat(found[1] or heading[2], found[0], body), range(number, end)) if body else None


def _listed(lines: list[str], number: int) -> tuple[Beat, range] | None:
    """Return the heartbeat of a list item with a schedule; what is indented below it belongs to it."""
    item = _ITEM.fullmatch(lines[number])
    found = schedule_in(item["text"]) if item and not _is_done(lines[number]) else None
    if item is None or found is None:
        return None
    end = number + 1
    while end < len(lines) and lines[end].startswith(f"{item['indent']}  ") and lines[end].strip():
        end += 1
    paused = "paused" in (item["tags"] or "").split("|")
    said = "\n".join([found[1], *lines[number + 1 : end]]).strip()
    beat = Beat(found[1] or said, found[0], said, paused, "was paused" if paused else "")
    return (beat, range(number, end)) if said else None


def _is_heading(line: str, depth: int) -> bool:
    heading = _HEADING.fullmatch(line)
    return heading is not None and len(heading[1]) <= depth


def _is_done(line: str) -> bool:
    item = _ITEM.fullmatch(line)
    return item is not None and (item["done"] or " ") in "xX"


def _says_nothing(text: str, zone: ZoneInfo) -> bool:
    data = f"---\nevery: 30m\n---\n{text}\n".encode()
    try:
        return is_empty(parse("HEARTBEAT.md", CHECKLIST, data, zone))
    except ConfigError:
        return False


def _sound(beats: Iterable[Beat], zone: ZoneInfo) -> list[Beat]:
    """Return the heartbeats with names that are names, each once; one that trimtab would refuse is paused."""
    taken, sound = set[str](), list[Beat]()
    for beat in beats:
        name = _name(beat.name, taken)
        taken.add(name)
        said = _CONTROL.sub("", beat.instruction)
        if len(said.encode()) > _LARGEST:
            said = (
                f"{said.encode()[:_LARGEST].decode('utf-8', 'ignore')}\n(cut: the rest is where it was imported from)"
            )
        made = Beat(name, beat.schedule, said, beat.paused, beat.note)
        try:
            parse(f"{name}.md", name, made.file("").encode(), zone)
        except ConfigError as wrong:
            made = Beat(name, HEARTBEAT, said, True, f"{one_line(wrong.expected, 80)}: paused")
        sound.append(made)
    return sound


def _name(text: str, taken: set[str]) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:6]
    slug = "-".join(words)[:40].strip("-") or CHECKLIST
    return next(name for name in (slug, *(f"{slug}-{n}" for n in range(2, _MOST * 3))) if name not in taken)

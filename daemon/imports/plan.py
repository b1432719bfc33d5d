"""What an import would do, file by file, before anything is done: a pure function of the files and of what is there."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final
from zoneinfo import ZoneInfo

from daemon.imports.beats import Beat, beats_of, jobs_of
from daemon.imports.folder import Found
from daemon.imports.places import INSTRUCTIONS, MEMORY, NOTES, Place, Use, inner, is_workspace, place_of
from vault.errors import Refused
from vault.note import parse, render
from vault.rules import check_path, check_text, is_instruction

ORIGIN: Final = "imported_from"
"""The field of the front matter that says where a note came from."""
_MOST_BESIDE: Final = 1_000
_WHERE: Final = "<!-- added by the import -->\n## Where things are now"
_SPECIAL = set("#:\"'[]{}&*!|>%@`,?")

Present = Callable[[str], str | None]
"""What a note of the vault says now, None where there is none."""


@dataclass(frozen=True, slots=True)
class Row:
    """What becomes of one file: `target` is where, empty when it is left; `why` says why, or what to know."""

    source: str
    target: str
    why: str = ""


@dataclass(slots=True)
class Plan:
    """The whole import: rows to show, and the contents of the notes to write.  `first` is a heartbeat to try."""

    rows: list[Row] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    beats: list[Beat] = field(default_factory=list)

    @property
    def first(self) -> str | None:
        """Return the heartbeat to try first: one that is not paused, if there is one."""
        live = [beat.name for beat in self.beats if not beat.paused] or [beat.name for beat in self.beats]
        return live[0] if live else None


@dataclass(slots=True)
class Planner:
    """Makes one plan; `origin` is what the folder is called, `starter` the texts that a new agent begins with."""

    origin: str
    zone: ZoneInfo
    present: Present
    starter: Mapping[str, str] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)

    def make(self, files: Iterable[Found]) -> Plan:
        """Return what would become of these files."""
        found = list(files)
        paths = {each.path for each in found if not each.why}
        prefix = inner(paths)
        bare = {path.removeprefix(prefix) for path in paths}
        workspace, parts = is_workspace(bare), dict[str, Found]()
        for each in sorted(found, key=lambda one: one.path):
            if each.why:
                self.plan.rows.append(Row(each.path, "", each.why))
                continue
            path = each.path.removeprefix(prefix)
            place = place_of(path, workspace=workspace)
            if place.use is Use.INSTRUCTIONS:
                parts[path] = each
            else:
                self._one(each, path, place)
        self._instruct(parts)
        return self.plan

    def _one(self, file: Found, path: str, place: Place) -> None:
        match place.use:
            case Use.LEFT:
                self.plan.rows.append(Row(file.path, "", place.why))
            case Use.JOBS:
                self._jobs(file)
            case Use.HEARTBEATS:
                self._beats(file, beats_of(file.text, self.zone))
                self._put(file, place.target, self._note(file, path), "its text as it was")
            case Use.SKILL:
                self._put(file, place.target, file.text, place.why)
            case _:
                self._put(file, place.target, self._note(file, path), place.why)

    def _jobs(self, file: Found) -> None:
        try:
            self._beats(file, jobs_of(file.text, self.zone))
        except ValueError as wrong:
            self.plan.rows.append(Row(file.path, "", f"not a list of jobs: {wrong}"[:120]))

    def _beats(self, file: Found, beats: list[Beat]) -> None:
        if not beats:
            self.plan.rows.append(Row(file.path, "", "asks for nothing: no heartbeat"))
        for beat in beats:
            name, number = beat.name, 1
            text = beat.file(f"{self.origin}/{file.path}")
            while self._here(f"heartbeats/{name}.md") not in (None, text) and number < _MOST_BESIDE:
                number += 1
                name = f"{beat.name}-{number}"
            made = Beat(name, beat.schedule, beat.instruction, beat.paused, beat.note)
            self.plan.beats.append(made)
            told = beat.schedule.partition("\n")[0]
            self._put(file, f"heartbeats/{name}.md", text, beat.note or told)

    def _instruct(self, parts: Mapping[str, Found]) -> None:
        """Put what says who the agent is into AGENTS.md, which is the file that trimtab shows the model."""
        texts = list[str]()
        for name in INSTRUCTIONS:
            if name in parts:
                texts.append(parts[name].text.strip() if name == "AGENTS.md" else _part(name, parts[name].text))
        if not texts:
            return
        if "AGENTS.md" in parts:
            texts += self._moved(parts["AGENTS.md"].text, parts)
        here, names = self._here("AGENTS.md"), [name for name in INSTRUCTIONS if name in parts]
        instead = here is not None and here == self.starter.get("AGENTS.md")
        why = "instead of the starter's" if instead else ""
        self._put(parts[names[0]], "AGENTS.md", "\n\n".join(texts) + "\n", why, instead=instead)
        row = self.plan.rows[-1]
        for name in names[1:]:
            self.plan.rows.append(Row(parts[name].path, row.target, f"as its part {name}" if row.target else row.why))

    def _moved(self, said: str, parts: Mapping[str, Found]) -> list[str]:
        """Say where what the instructions name is now: the model would look for it in vain."""
        places = {name: "a part of this file" for name in parts if name != "AGENTS.md"}
        for row in self.plan.rows:
            folder, _, name = row.source.rpartition("/")
            folder = PurePosixPath(folder).name
            if name in NOTES and row.target and row.target != row.source:
                places[name] = row.target
            elif folder in MEMORY and row.target.startswith("journal/"):
                places[f"{folder}/"] = "journal/"
        named = [f"- `{old}`: {now}" for old, now in sorted(places.items()) if old in said]
        return ["\n".join([_WHERE, "", *named])] if named else []

    def _put(self, file: Found, target: str, text: str, why: str = "", *, instead: bool = False) -> None:
        target = unicodedata.normalize("NFC", target)
        try:
            check_path(target)
            check_text(target, text)
            place = target if instead else self._beside(target, text)
        except Refused as refused:
            self.plan.rows.append(Row(file.path, "", str(refused)))
            return
        if self._here(place) == text:
            self.plan.rows.append(Row(file.path, place, "is there already"))
            return
        self.plan.contents[place] = text
        clash = f"{target} is there and says something else" if place != target else ""
        self.plan.rows.append(Row(file.path, place, "; ".join(filter(None, (clash, why)))))

    def _here(self, target: str) -> str | None:
        return self.plan.contents.get(target, self.present(target))

    def _beside(self, target: str, text: str) -> str:
        """Return the target, or a free name beside it where something else is there; never one that instructs."""
        stem = f"conflicts/{target.replace('/', '-')}" if is_instruction(target) else target
        names = (target, *(f"{stem[: -len('.md')]}.imported-{n}.md" for n in range(1, _MOST_BESIDE)))
        free = next((name for name in names if self._here(name) in (None, text)), None)
        if free is None:
            raise Refused(f"{target}: there are too many versions beside it")
        return free

    def _note(self, file: Found, path: str) -> str:
        note = parse(file.text.encode())
        return render(note.having(ORIGIN, _scalar(f"{self.origin}/{path}"))).decode()


def _scalar(text: str) -> str:
    """Return a text as one plain value of front matter."""
    return '"' + text.replace('"', "'") + '"' if set(text) & _SPECIAL else text


def _part(name: str, text: str) -> str:
    return f"<!-- from {name} -->\n{text.strip()}"

"""Machine facts in words: clauses, notes and verdicts in several dozen wordings, each with the strings it must copy."""

from __future__ import annotations

from collections.abc import Sequence

from training.corpus.draw import Draw
from training.corpus.facts import ATTENTION_PERCENT, Host

Clause = tuple[str, tuple[str, ...]]
"""Words, and the strings in them that were copied from the facts."""

DEFAULT_TOPICS = ("load", "memory", "disks", "units", "errors")
CALM = (
    "nothing needs attention", "all is well", "all quiet", "in order", "nothing to do", "looks healthy",
    "no trouble", "fine",
)  # fmt: skip
CONCERN = (
    "needs attention", "look at", "see to", "not all is well", "wants a check", "trouble:", "attention:", "worry",
)  # fmt: skip


def clause(draw: Draw, host: Host, topic: str) -> Clause:
    """One topic in a few words, lower case, without a full stop."""
    if topic == "load":
        one, five, fifteen = host.load
        forms: tuple[str, ...] = (
            "load {0}", "load {0}", "load {0} {1} {2}", "load {0} on {3} cores", "the load is {0}", "a load of {0}",
            "load at {0} on {3} cores", "load average {0} {1} {2}", "the load stands at {0}",
        )  # fmt: skip
        return draw.pick(forms).format(one, five, fifteen, host.cores), (one,)
    if topic == "memory":
        share = f"{host.memory} %"
        forms = (
            "memory {0}", "memory at {0}", "memory {0} of {1}", "{0} of memory used", "memory use {0}",
            "{0} of {1} memory in use", "memory is at {0}", "memory stands at {0} of {1}",
        )  # fmt: skip
        return draw.pick(forms).format(share, host.memory_total), (share,)
    if topic == "uptime":
        return draw.pick(("up {0}", "uptime {0}", "up for {0}", "running for {0}")).format(host.uptime), (host.uptime,)
    return {"disks": _disk, "units": _units, "errors": _errors}[topic](draw, host)


def _disk(draw: Draw, host: Host) -> Clause:
    disk = host.fullest
    if disk is None:
        return draw.pick(("no disks listed", "no disk in the list")), ()
    forms = (
        "disk {0} {1}", "disk {0} at {1}", "fullest disk {0} at {1}", "fullest disk {0} {1}",
        "{0} is fullest at {1}", "{0} {1} full", "the fullest disk is {0} at {1}", "disk {0} at {1} with {2} free",
        "{0} holds {1}, {2} free", "fullest is {0} with {1}",
    )  # fmt: skip
    return draw.pick(forms).format(disk.mount, f"{disk.percent} %", disk.free), (disk.mount, f"{disk.percent} %")


def _units(draw: Draw, host: Host) -> Clause:
    if host.failed is None:
        return draw.pick(
            (
                "failed units unknown",
                "failed units unknown (no systemd)",
                "units unknown, no systemd",
            )
        ), ("unknown",)
    if not host.failed:
        return draw.pick(
            (
                "no failed units",
                "failed units: none",
                "no unit failed",
                "no failed unit",
                "units all up",
            )
        ), ()
    names = draw.pick((", ", " and ")).join(host.failed)
    return draw.pick(
        (
            "failed units: {0}",
            "failed: {0}",
            "failed units {0}",
            "{0} failed",
            "down: {0}",
        )
    ).format(names), host.failed


def _errors(draw: Draw, host: Host) -> Clause:
    if host.errors is None:
        return draw.pick(("errors unknown", "errors unknown (journal not readable)")), ("unknown",)
    if host.errors == 0:
        return draw.pick(("no errors", "no errors in the last hour", "errors: none", "no error in the last hour")), ()
    count = f"{host.errors} error" + ("s" if host.errors > 1 else "")
    text = draw.pick(("{0}", "{0} in the last hour", "{0} in an hour")).format(count)
    if host.error_lines and draw.chance(0.35):
        unit, what = host.error_lines[0]
        return draw.pick(
            (
                f"{text}, {unit} among them",
                f"{text} ({unit}: {what})",
                f"{text}, first {unit}",
            )
        ), (str(host.errors), unit)
    return text, (str(host.errors),)


def required(host: Host, topics: Sequence[str]) -> tuple[str, ...]:
    """What any sentence on these topics has to hold, in any wording: the facts, or a word where there is none."""
    disk = host.fullest
    facts = {
        "load": host.load[:1], "memory": (f"{host.memory} %",), "uptime": (host.uptime,),
        "disks": (disk.mount, f"{disk.percent} %") if disk else ("disk",),
        "units": ("unknown",) if host.failed is None else host.failed or ("unit",),
        "errors": ("unknown",) if host.errors is None else (str(host.errors),) if host.errors else ("error",),
    }  # fmt: skip
    return tuple(fact for topic in topics for fact in facts[topic])


def capital(text: str, copied: Sequence[str]) -> str:
    """A capital at the beginning, unless a copied name stands there: names stay as they are."""
    return text if any(text.startswith(name) for name in copied) else text[0].upper() + text[1:]


def worried(text: str) -> bool:
    """Whether a verdict says that something needs attention."""
    lower = text.lower().replace("nothing needs attention", "").replace("no trouble", "")
    return any(words in lower for words in CONCERN)


def join(draw: Draw, clauses: Sequence[Clause]) -> Clause:
    """Several clauses as one line that begins with a capital and ends with a full stop."""
    style = draw.pick((", ", ", ", "; ", ". "))
    texts = [
        capital(text, copied) if style == ". " or not place else text for place, (text, copied) in enumerate(clauses)
    ]
    line = style.join(texts)
    if style == ", " and len(texts) > 1 and draw.chance(0.4):
        line = ", ".join(texts[:-1]) + " and " + texts[-1]
    return line + ".", tuple(copied for _, part in clauses for copied in part)


def note(draw: Draw, host: Host, topics: Sequence[str], clock: str) -> Clause:
    """The one line that goes into the journal."""
    line, copied = join(draw, [clause(draw, host, topic) for topic in topics])
    prefix = draw.pick(
        (
            "",
            "",
            "",
            "",
            "Host: ",
            "Watch: ",
            "Now: ",
            "State: ",
            "Machine: ",
            "Host watch: ",
            f"{clock} ",
        )
    )
    return prefix + line, copied


def concerns(draw: Draw, host: Host, topics: Sequence[str]) -> list[Clause]:
    """What needs attention among these topics."""
    found: list[Clause] = []
    if "memory" in topics and host.memory >= ATTENTION_PERCENT:
        found.append(
            (
                draw.pick(
                    (
                        "memory at {0} %",
                        "memory {0} %",
                        "the memory ({0} %)",
                    )
                ).format(host.memory),
                (f"{host.memory} %",),
            )
        )
    for disk in host.disks if "disks" in topics else ():
        if disk.percent >= ATTENTION_PERCENT:
            forms = ("disk {0} at {1} %", "disk {0} ({1} %)", "{0} at {1} %", "disk {0} with {1} %")
            found.append((draw.pick(forms).format(disk.mount, disk.percent), (disk.mount, f"{disk.percent} %")))
    if "units" in topics and host.failed:
        names = draw.pick((", ", " and ")).join(host.failed)
        found.append(
            (
                draw.pick(
                    (
                        "failed units: {0}",
                        "the failed {0}",
                        "failed {0}",
                        "{0} failed",
                    )
                ).format(names),
                host.failed,
            )
        )
    if "errors" in topics and host.errors:
        plural = "s" if host.errors > 1 else ""
        text = draw.pick(
            (
                "{0} error{1}",
                "{0} error{1} in the last hour",
                "the {0} error{1}",
            )
        ).format(host.errors, plural)
        found.append((text, (str(host.errors),)))
    return found


CONCERN_FORMS = (
    "Needs attention: {0}.", "This needs attention: {0}.", "Please look at {0}.", "Someone should look at {0}.",
    "Not all is well: {0}.", "Attention: {0}.", "One thing to see to: {0}.",
    "The note is filed; please look at {0}.", "I would look at {0}.", "There is trouble: {0}.",
    "The machine runs, but this needs attention: {0}.", "Please see to {0}.", "To look at: {0}.", "My worry is {0}.",
)  # fmt: skip
CALM_FORMS = (
    "Nothing needs attention.", "All is well.", "All is well, {0}.", "All quiet: {0}.", "All quiet, {0} and {1}.",
    "Everything is in order, {0}.", "With {0} and {1}, nothing needs attention.",
    "Nothing needs attention: {0}, {1}.", "The machine looks healthy: {0}.", "Nothing to do, {0}.",
    "The note is filed and nothing needs attention.", "No trouble: {0} and {1}.", "The machine is fine, {0}.",
    "Nothing needs attention, {1}.", "I see no trouble, {0}.", "Everything is in order: {1}, {0}.",
    "Filed; all is well with {0}.", "It looks healthy, {1}.",
)  # fmt: skip


def verdict(draw: Draw, host: Host, topics: Sequence[str]) -> tuple[str, tuple[str, ...], bool]:
    """The last sentence: what needs attention, by name; or that nothing does. The flag says whether all is calm."""
    found = concerns(draw, host, topics)
    if found:
        listed = draw.pick(("; ", ", ")).join(text for text, _ in found)
        return draw.pick(CONCERN_FORMS).format(listed), tuple(copied for _, part in found for copied in part), False
    known = [topic for topic in topics if topic not in ("units", "errors")] or list(topics)
    first, second = draw.random.sample(known, 2) if len(known) > 1 else (known[0], known[0])
    clauses = clause(draw, host, first), clause(draw, host, second)
    form = draw.pick([form for form in CALM_FORMS if first != second or "{1}" not in form or "{0}" not in form])
    copied = tuple(text for slot, part in zip(("{0}", "{1}"), clauses, strict=True) if slot in form for text in part[1])
    return form.format(clauses[0][0], clauses[1][0]), copied, True

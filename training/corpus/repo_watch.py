"""Beats about the person's git repository: who changed what, noted and summed up."""

from __future__ import annotations

from datetime import timedelta

from training.corpus import words
from training.corpus.conversation import Message, calls, result, says
from training.corpus.draw import Draw
from training.corpus.host_phrases import capital
from training.corpus.host_watch import admits, append, failure
from training.corpus.world import World

Commit = tuple[str, str]
"""Author and subject line."""

REQUESTS = (
    "Look at what changed in the repository.", "Check the repo for changes.",
    "See who changed what in the repository.", "What changed in the code?", "Use the repo tool.",
    "Review the new commits.", "Look for new commits.", "Check what happened in the project.", "Any new commits?",
    "Read the latest changes of the repository.", "Follow the repository.", "Check which commits came in.",
)  # fmt: skip
NOTES = (
    "Note it in the journal.", "Write one line in the journal: who changed what.",
    "Append a short note to the journal.", "File who changed what in the journal.", "Put a line in the journal.",
    "Journal who did what.", "Log the commits in the journal.", "Add one journal line with names and changes.",
)  # fmt: skip
ENDS = (
    "End with one sentence.", "Then sum it up.", "Finish with a sentence.", "Say what is new.",
    "Close with one line.", "Tell me in a sentence.",
)  # fmt: skip
NO_NOTES = ("No note.", "Only answer.", "Just tell me.", "Answer in one sentence.", "Do not write anything down.")
BRANCHES = ("main", "main", "main", "master", "develop", "trunk", "next")


def subject(draw: Draw) -> str:
    """A commit subject line."""
    verb, noun, other = draw.pick(words.VERBS), words.word(draw), words.word(draw)
    text = draw.fresh(
        lambda: draw.pick(
            (
                f"{verb} the {noun}", f"{verb} the {draw.pick(words.ADJECTIVES)} {noun}",
                f"add a test for the {other}", f"{verb} {noun} and {other}", f"{noun}: {verb} the {other}",
                f"bump {words.coined(draw)} to {draw.number(0, 9)}.{draw.number(0, 30)}",
                f"update {words.slug(draw)}.md", f"fix #{draw.number(2, 999)} in {words.coined(draw)}",
                f"{verb} {other} when the {noun} is {draw.pick(words.ADJECTIVES)}",
            )
        )
    )  # fmt: skip
    return text[0].upper() + text[1:] if draw.chance(0.3) else text


def changes(draw: Draw, name: str, branch: str, since: str) -> tuple[list[str], list[Commit]]:
    """What `repo` prints of the commits since then, and the commits."""
    people = [words.person(draw) for _ in range(3)]
    count = draw.pick((0, 1, 1, 1, 2, 2, 3, 3, 4, 5))
    commits = [(draw.pick(people), subject(draw)) for _ in range(count)]
    counted = "no commits" if not count else "1 commit" if count == 1 else f"{count} commits"
    head = f"repository {name}, branch {branch}, {counted} since {since}"
    if not count and draw.chance(0.4):
        head = f"no commits since {since}"
    digits = "0123456789abcdef"
    lines = [
        f"{''.join(draw.pick(digits) for _ in range(7))} {who}: {what} ({draw.number(2, 12)} files)".replace(
            "(1 files)", "(1 file)"
        )
        for who, what in commits
    ]
    return [head, *lines], commits


def _told(draw: Draw, commits: list[Commit]) -> tuple[str, tuple[str, ...]]:
    """The newest three commits in one line."""
    form = draw.pick(("{0}: {1}", "{0}: {1}", "{1} ({0})", "{1} by {0}"))
    first = commits[:3]
    return "; ".join(form.format(*commit) for commit in first), tuple(part for commit in first for part in commit)


def _nothing(draw: Draw, since: str) -> str:
    return draw.pick(
        (
            "No commits since {0}.",
            "Nothing changed since {0}.",
            "No new commits since {0}.",
            "The repository is unchanged since {0}.",
        )
    ).format(since)


def _note(draw: Draw, counted: str, branch: str, commits: list[Commit]) -> tuple[str, tuple[str, ...]]:
    told, copied = _told(draw, commits)
    form = draw.pick(
        (
            "{0}: {1}.",
            "{0} on {2}: {1}.",
            "Repo: {1}.",
            "{1}.",
            "Changes: {1}.",
            "New: {1}.",
            "{0} came in: {1}.",
        )
    )
    text = form.format(counted, told, branch)
    return capital(text, copied), copied


def _sum_up(draw: Draw, counted: str, commits: list[Commit]) -> Message:
    who, what = commits[0]
    forms = (
        "{0}, the newest by {1}: {2}.", "The newest change is by {1}: {2}.",
        "{0} came in; {1} is the latest with: {2}.", "The latest commit is {2} by {1}.",
        "{0} since the last look, first in the list {1}: {2}.", "Newest of {0}: {2} ({1}).",
    )  # fmt: skip
    text = draw.pick(forms).format(counted, who, what)
    return says(capital(text, (what,)), who, what)


def _request(draw: Draw) -> tuple[str, bool]:
    """The words of the heartbeat, and whether they ask for a note."""
    noted = draw.chance(0.7)

    def make() -> str:
        end = [draw.pick(NOTES), draw.pick(ENDS)] if noted else [draw.pick(NO_NOTES)]
        return " ".join([draw.pick(REQUESTS), *end] + ([words.plain_sentence(draw) + "."] if draw.chance(0.15) else []))

    return draw.fresh(make), noted


def watch(world: World) -> list[Message]:
    """Look at the repository; file a note unless told not to; say the newest change."""
    draw = world.draw
    request, noted = world.routine("repo", _request)
    start = [world.wake(request), calls("repo", {"what": "changes"})]
    if draw.chance(0.08):
        reason = failure(draw)
        return [*start, result("repo", f"error: {reason}"), admits(draw, "repo", reason)]
    since = f"{world.now - timedelta(minutes=max(world.minutes, draw.number(1, 3000))):%Y-%m-%d %H:%M}"
    branch = draw.pick(BRANCHES)
    lines, commits = changes(draw, words.slug(draw), branch, since)
    start.append(result("repo", *lines))
    counted = f"{len(commits)} commit" + ("s" if len(commits) > 1 else "")
    filed = result("vault", f"appended to {world.today()}")
    if not commits:
        note = [append(_nothing(draw, since), (since,)), filed] if noted else []
        return [*start, *note, says(_nothing(draw, since), since)]
    note = [append(*_note(draw, counted, branch, commits)), filed] if noted else []
    return [*start, *note, _sum_up(draw, counted, commits)]


def _source_file(draw: Draw) -> str:
    return f"{words.word(draw)}/{words.coined(draw)}." + draw.pick(("py", "md", "toml", "js"))


def status(world: World) -> list[Message]:
    """The state of the work tree: clean, or which files changed."""
    draw = world.draw
    request = draw.fresh(
        lambda: (
            draw.pick(
                (
                    "Is the repository clean?",
                    "What is the repo status?",
                    "Are there uncommitted changes?",
                    "Check the status of the repository.",
                )
            )
            + draw.pick(("", " No note.", " Only answer.", " Just tell me.", " Use the repo tool.", " Be brief."))
        )
    )
    files = [_source_file(draw) for _ in range(draw.number(0, 3))]
    state = "clean" if not files else f"{len(files)} changed file" + ("s" if len(files) > 1 else "")
    lines = [
        f"repository {words.slug(draw)}, branch {draw.pick(BRANCHES)}, {state}",
        *(f"modified {file}" for file in files),
    ]
    listed = ", ".join(files)
    text = draw.pick((
        "Changed: {0}.", "Not committed: {0}.", "There are changes in {0}.",
    )).format(listed) if files else draw.pick(
        ("The repository is clean.", "Nothing is uncommitted, it is clean.", "It is clean."))  # fmt: skip
    return [world.wake(request), calls("repo", {"what": "status"}), result("repo", *lines), says(text, *files)]

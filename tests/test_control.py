"""One line of JSON each way between a command and the daemon."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from daemon.control import answering, ask
from daemon.errors import TrimtabError, UsageError


async def echo(request: Mapping[str, Any]) -> dict[str, Any]:
    """An answer that says what it was asked."""
    if request["do"] == "fail":
        raise UsageError("no heartbeat is called x")
    return {"asked": request["do"]}


def test_a_request_is_answered(tmp_path: Path) -> None:
    """A command gets the daemon's answer."""

    async def scenario() -> dict[str, Any] | None:
        async with answering(tmp_path / "s.sock", echo):
            assert 0o600 == stat.S_IMODE((tmp_path / "s.sock").stat().st_mode)
            return await ask(tmp_path / "s.sock", {"do": "status"}, 5)

    assert {"asked": "status"} == asyncio.run(scenario())


def test_an_error_of_the_daemon_is_raised_at_the_command(tmp_path: Path) -> None:
    """The command fails with the daemon's line and exit code."""

    async def scenario() -> None:
        async with answering(tmp_path / "s.sock", echo):
            await ask(tmp_path / "s.sock", {"do": "fail"}, 5)

    with pytest.raises(TrimtabError, match="no heartbeat is called x") as raised:
        asyncio.run(scenario())
    assert 2 == raised.value.exit_code


def test_nobody_listening_is_none(tmp_path: Path) -> None:
    """Without a daemon there is no answer, also when a dead one left its socket behind."""
    (tmp_path / "s.sock").touch()

    assert asyncio.run(ask(tmp_path / "s.sock", {"do": "status"}, 5)) is None
    assert asyncio.run(ask(tmp_path / "gone/s.sock", {"do": "status"}, 5)) is None


def test_a_deep_directory_is_no_obstacle(tmp_path: Path) -> None:
    """A socket address holds 108 bytes; an agent directory may be deeper."""
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)

    async def scenario() -> dict[str, Any] | None:
        async with answering(deep / "s.sock", echo):
            return await ask(deep / "s.sock", {"do": "status"}, 5)

    assert {"asked": "status"} == asyncio.run(scenario())


@pytest.mark.parametrize("line", [b"not json\n", b"[]\n", b"{}\n", b'"x"\n'])
def test_nonsense_is_answered_and_survived(tmp_path: Path, line: bytes) -> None:
    """A malformed request gets a line, and the next one is served."""

    async def scenario() -> tuple[bytes, dict[str, Any] | None]:
        async with answering(tmp_path / "s.sock", echo):
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s.sock"))
            writer.write(line)
            answer = await reader.readline()
            writer.close()
            await writer.wait_closed()
            return answer, await ask(tmp_path / "s.sock", {"do": "status"}, 5)

    answer, after = asyncio.run(scenario())

    assert b"not a request" in answer
    assert {"asked": "status"} == after


def test_a_request_that_is_open_at_the_end_is_told(tmp_path: Path) -> None:
    """Whoever waits for a daemon that stops is answered, and the socket closes at once."""

    async def never(request: Mapping[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {}

    async def scenario() -> None:
        async with answering(tmp_path / "s.sock", never):
            waiting = asyncio.create_task(ask(tmp_path / "s.sock", {"do": "beat"}, 60))
            await asyncio.sleep(0.1)
        await asyncio.wait_for(waiting, 5)

    with pytest.raises(TrimtabError, match="was stopped before this ended"):
        asyncio.run(scenario())


def test_a_daemon_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    """A daemon that hangs makes a command fail with a sentence, not a traceback."""

    async def never(request: Mapping[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {}

    async def scenario() -> None:
        async with answering(tmp_path / "s.sock", never):
            await ask(tmp_path / "s.sock", {"do": "beat"}, 0.1)

    with pytest.raises(TrimtabError, match=r"did not answer within 0\.1 s"):
        asyncio.run(scenario())

"""The lines that a person reads when a provider does not answer."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.models.fault import Server, excerpt, refused, retry_after

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SERVER = Server("frontier", "api.example.com", "big", "$KEY")


@given(st.text())
def test_an_excerpt_is_one_short_printable_line(text: str) -> None:
    """No terminal code, no second line and no whole body gets into an error."""
    line = excerpt(text)
    assert len(line) <= 201
    assert line.isprintable()


def test_an_excerpt_prefers_the_message_inside() -> None:
    """Of an error in JSON only the message is shown."""
    assert excerpt('{"error": {"message": "no such model", "type": "x"}}') == "no such model"
    assert excerpt('{"detail": "a\\u001b[31mb"}') == "a\\x1b[31mb"
    assert excerpt("<html>\n  <b>Bad gateway</b>") == "<html> <b>Bad gateway</b>"


@given(st.integers(0, 10**6))
def test_retry_after_reads_seconds_and_dates(seconds: int) -> None:
    """Both forms of the header give the same wait."""
    at = format_datetime(datetime.fromtimestamp(NOW.timestamp() + seconds, UTC), usegmt=True)
    assert retry_after(str(seconds), NOW) == seconds
    assert retry_after(at, NOW) == seconds


@given(st.text())
def test_retry_after_never_raises(value: str) -> None:
    """Whatever a server writes there is a wait that is not negative, or nothing."""
    seconds = retry_after(value, NOW)
    assert seconds is None or 0 <= seconds < float("inf")


def test_retry_after_in_the_past_is_now() -> None:
    """A date that has passed asks for no wait."""
    assert retry_after("Sun, 06 Nov 1994 08:49:37 GMT", NOW) == 0
    assert retry_after(None, NOW) is None


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 413, 422, 302])
def test_what_will_fail_again_is_not_asked_again(status: int) -> None:
    """A wrong key, model or request is never repeated."""
    assert not refused(SERVER, status, {}, "", NOW).again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_asked_again(status: int) -> None:
    """Overload and failures of the server are, unless it says no or the credit is gone."""
    assert refused(SERVER, status, {"retry-after": "3"}, "", NOW).after == 3
    assert refused(SERVER, status, {}, "", NOW).again
    assert not refused(SERVER, status, {"x-should-retry": "false"}, "", NOW).again
    assert not refused(SERVER, status, {}, '{"error": {"code": "insufficient_quota"}}', NOW).again


def test_the_lines_say_what_to_do() -> None:
    """Name, host, status, and the setting to look at."""
    assert str(refused(SERVER, 401, {}, "{}", NOW)) == (
        "frontier: the server at api.example.com answered 401: the key in $KEY is not accepted"
    )
    bare = Server("frontier", "api.example.com", "big", None)
    assert "wants a key and api_key is not set" in str(refused(bare, 401, {}, "", NOW))
    assert "does not know the model 'big'" in str(refused(SERVER, 404, {}, "", NOW))
    assert "points to http://x/ y" in str(refused(SERVER, 307, {"location": "http://x/\r\ny"}, "", NOW))

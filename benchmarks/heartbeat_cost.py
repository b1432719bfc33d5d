"""CPU time of a heartbeat against an instant model server, beside a bare loop that does the same work.

The same work: two model calls (a tool call that appends a journal line, then a short text), one file written, one git
commit.  The bare loop is twenty lines of Python in one warm process: two HTTP requests with the same bodies, a file
append, `git add` and `git commit`.  Printed: CPU seconds each (whole process tree, without the server), their ratio,
and what 500 heartbeats do to memory, CPU and the prompt.  Also: start to READY, and idle memory.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent_process import AgentProcess, make_agent
from instant_server import running

SETTINGS = """name = "bench"
[models.local]
backend = "openai"
url = "http://127.0.0.1:{port}/v1"
model = "instant"
[context]
recall_notes = 0
"""
HEARTBEAT = """---
every: 1d
tools: [vault]
expect: [vault]
thread: {thread}
---
Append one line to the journal, then say in one sentence that it is done.
"""


def bare_loop(port: int, folder: Path, times: int, body: bytes) -> float:
    """Do the same work without any daemon; return CPU seconds a beat, with those of git."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    author = dict(os.environ)
    author |= {f"GIT_{who}_{what}": "b@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    before = _own_cpu()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(times):
        for _ in range(2):
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
        with (folder / "journal.md").open("a") as page:
            page.write(f"- {number} looked\n")
        subprocess.run(["git", "-C", folder, "add", "-A"], check=True, env=author)
        subprocess.run(["git", "-C", folder, "commit", "-q", "-m", f"beat {number}"], check=True, env=author)
    connection.close()
    return (_own_cpu() - before) / times


def _own_cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--beats", type=int, default=500)
    beats = options.parse_args().beats
    with tempfile.TemporaryDirectory() as folder, running() as (port, sent):
        home = Path(folder) / "agent"
        names = {"fresh": HEARTBEAT.format(thread="none"), "thread": HEARTBEAT.format(thread="bench")}
        make_agent(home, SETTINGS.format(port=port), names)

        agent = AgentProcess(home)
        wall = agent.wait_ready()
        start_cpu = agent.cpu_seconds()
        time.sleep(3)
        idle = agent.resident_mib()
        print(f"start to READY: {start_cpu:.2f} CPU s, {wall:.2f} s wall; idle memory without a model {idle:.0f} MiB")

        agent.beat("fresh")
        first = max(sent(), key=len)
        print(f"first prompt of an empty agent: {len(first)} bytes of JSON, about {len(first) // 4} tokens")
        bare, ours = [], []
        for number in range(5):  # in turns, so that a busy moment of the machine hits both
            bare.append(bare_loop(port, Path(folder) / f"bare{number}", 20, first))
            before = agent.cpu_seconds()
            agent.beats("fresh", 20)
            ours.append((agent.cpu_seconds() - before) / 20)
        ratio = statistics.median(o / b for o, b in zip(ours, bare, strict=True))
        print(f"CPU a heartbeat: bare loop {statistics.median(bare) * 1000:.1f} ms, trimtab "
              f"{statistics.median(ours) * 1000:.1f} ms, ratio {ratio:.2f}")  # fmt: skip

        for name, what in (("fresh", "with a fresh context each"), ("thread", "of one thread")):
            marks = []
            for _ in range(beats // 50):
                before = agent.cpu_seconds()
                agent.beats(name, 50)
                marks.append(((agent.cpu_seconds() - before) / 50, agent.resident_mib(), max(map(len, sent()))))
            costs, memory, sizes = zip(*marks, strict=True)
            print(f"{beats} heartbeats {what}: CPU {costs[0] * 1000:.1f} -> {costs[-1] * 1000:.1f} ms, "
                  f"memory {memory[0]:.0f} -> {memory[-1]:.0f} MiB, requests {sizes[0]:,} -> {sizes[-1]:,} bytes, "
                  f"the largest {max(sizes):,}")  # fmt: skip
        print(json.dumps({"ratio": round(ratio, 2), "start_cpu": round(start_cpu, 2), "idle_mib": round(idle)}))
        return agent.stop()


if __name__ == "__main__":
    sys.exit(main())

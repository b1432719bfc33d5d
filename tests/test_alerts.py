"""The alert rules: each seen to fire and to stay silent, made of metrics that exist, with a page to read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from daemon.observe.catalogue import FAMILIES
from daemon.observe.prometheus import Metrics, Names

ROOT = Path(__file__).parents[1]
PROMETHEUS = ROOT / "systemd" / "prometheus"
RULES = PROMETHEUS / "trimtab.rules.yml"
CASES = sorted((PROMETHEUS / "tests").glob("*.yml"))
ALERTS: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]
]
EACH = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: str(alert["alert"]))


def expectations(alert: str) -> list[list[object]]:
    """What each promtool test expects of an alert at each moment."""
    tests = [test for case in CASES for test in yaml.safe_load(case.read_text(encoding="utf-8"))["tests"]]
    found = [[e["exp_alerts"] for e in test["alert_rule_test"] if e["alertname"] == alert] for test in tests]
    return [moments for moments in found if moments]


@pytest.mark.promtool
@pytest.mark.parametrize("arguments", [["check", "rules", RULES], ["test", "rules", *CASES]], ids=["check", "test"])
def test_promtool_is_content(arguments: list[str | Path]) -> None:
    """promtool accepts the rules, and every one of their tests comes out as written."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.promtool
def test_promtool_finds_no_fault_with_the_page() -> None:
    """The exported page follows Prometheus' conventions for names, units and help texts."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    page = Metrics(Names(["h"], ["m"], ["g"], ["t"], ["r"]), version="0").render()
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_promised_alerts_are_there() -> None:
    """The alerts that the documentation promises exist."""
    promised = {"HeartbeatOverdue", "GuardTripped", "BreakerOpen", "GuardSilent", "TrimtabDown"}

    assert promised <= {alert["alert"] for alert in ALERTS}


@EACH
def test_each_alert_is_seen_to_fire_and_to_stay_silent(alert: dict[str, Any]) -> None:
    """For each alert one test ends with it firing, and another never has it firing."""
    tests = expectations(alert["alert"])

    assert any(any(moments) for moments in tests)
    assert any(not any(moments) for moments in tests)


@EACH
def test_each_alert_says_what_it_is_and_where_to_read_on(alert: dict[str, Any]) -> None:
    """Each alert has a severity, a summary, a description and a runbook section that exists."""
    page, _, anchor = alert["annotations"]["runbook_url"].partition("#")
    headings = re.findall(r"^## (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)

    assert alert["labels"]["severity"] in {"critical", "warning", "info"}
    assert alert["annotations"]["summary"]
    assert alert["annotations"]["description"]
    assert alert["alert"] in headings
    assert alert["alert"].lower() == anchor


@EACH
def test_each_metric_and_label_in_a_rule_is_really_exported(alert: dict[str, Any]) -> None:
    """A rule can only be made of metrics that the daemon exports, with labels that they have."""
    page = Metrics(Names(["h"], ["m"], ["g"], ["t"], ["r"]), version="0").render().decode()
    families = {family.name: family for family in FAMILIES}
    used = re.findall(r"(trimtab_\w+)(?:\{(\w+)\s*(?:=~|!~|!=|=))?", alert["expr"])

    assert used or "up{" in alert["expr"]
    for name, label in used:
        assert f"# TYPE {name} " in page
        assert label in ("", "job", *families[name].labels)

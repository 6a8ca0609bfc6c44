# SPDX-License-Identifier: Apache-2.0
"""perftape-serve: other programs read its answers. The parsers of python3-prometheus-client check its
metrics, chromium shows its page, flamegraph.pl draws its folded stacks."""

import collections
import html
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness
import served
from cgroups import COMM, GETPPID

DEBIAN = "/usr/lib/python3/dist-packages"
CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--enable-logging=stderr", "--virtual-time-budget=15000", "--dump-dom")
FLAMEGRAPH = shutil.which("flamegraph.pl") or "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def parsers():
    """The parsers of Prometheus text and of OpenMetrics."""
    if DEBIAN not in sys.path:
        sys.path.append(DEBIAN)
    try:
        from prometheus_client import parser
        from prometheus_client.openmetrics import parser as openmetrics
    except ImportError:
        raise unittest.SkipTest("no python3-prometheus-client") from None
    return parser.text_string_to_metric_families, openmetrics.text_string_to_metric_families


def samples_of(families):
    """{(name, labels): value}. Neither parser refuses a sample that is there twice."""
    samples = collections.Counter()
    found = {}
    for family in families:
        assert family.documentation, family.name
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            samples[key] += 1
            found[key] = sample.value
    assert set(samples.values()) == {1}, samples.most_common(2)
    return found


class ProgramsTest(served.ServeTest):
    def test_prometheus_client_reads_the_metrics_in_both_formats(self):
        read_text, read_openmetrics = parsers()
        service = self.serve("-e", f"{GETPPID},latency:fs", "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 1000))
        shutil.copy(shutil.which("cat"), self.dir / COMM)
        self.assertEqual(harness.run(self.dir / COMM, "/etc/passwd")[0], 0)  # reads a file
        service.folded()
        text = service.get("/metrics")
        openmetrics = service.get("/metrics", headers=OPENMETRICS)
        self.assertIn("openmetrics-text", openmetrics.headers["Content-Type"])
        texts = samples_of(read_text(text.body.decode()))
        opens = samples_of(read_openmetrics(openmetrics.body.decode()))
        self.assertEqual(texts.keys(), opens.keys())
        key = ("perftape_event_samples_total", (("event", GETPPID), ("namespace", ""), ("pod", "")))
        self.assertEqual((texts[key], opens[key]), (1000, 1000))
        # Each histogram is whole: the parser of OpenMetrics checks order and +Inf.
        calls = {labels: value for (name, labels), value in opens.items()
                 if name == "perftape_call_duration_seconds_count"}
        self.assertGreater(sum(calls.values()), 0)
        for labels, value in calls.items():
            infinite = tuple(sorted((*labels, ("le", "+Inf"))))
            self.assertEqual(opens["perftape_call_duration_seconds_bucket", infinite], value)

    @unittest.skipUnless(shutil.which("chromium"), "no chromium")
    def test_chromium_shows_the_page(self):
        service = self.serve("-e", GETPPID, "--comm", COMM, "--window", "300ms")
        self.call(("", COMM, 1234))
        url = f"http://127.0.0.1:{service.port}/flamegraph?event={GETPPID}"
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={self.dir / 'chromium'}", url], capture_output=True,
                              timeout=harness.TIMEOUT_S, check=True)
        page = html.unescape(done.stdout.decode())
        self.assertRegex(page, r"<html[^>]* data-ready")
        self.assertEqual(re.search(r'id="total"[^>]*>([^<]*)<', page)[1], "1,234 samples")
        self.assertNotIn("CONSOLE", done.stderr.decode(errors="replace"))

    @unittest.skipUnless(os.path.exists(FLAMEGRAPH), "no flamegraph.pl (libdevel-nytprof-perl)")
    def test_flamegraph_pl_draws_each_sample(self):
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        service = self.serve("-e", f"cpu-clock,{GETPPID}", "-F", "199", "--window", "300ms")
        self.call(("", COMM, 1234))
        served.wait_for(lambda: any("burn_" in stack for stack in service.folded(event="cpu")))
        calls = {stack: count for stack, count in service.folded(event=GETPPID).items() if stack.startswith(f"{COMM};")}
        self.assertEqual(sum(calls.values()), 1234)
        for event in (GETPPID, "cpu"):
            with self.subTest(event):
                body = service.get("/flamegraph/collapsed", event=event).body
                total = sum(int(line.rpartition(b" ")[2]) for line in body.splitlines())
                done = subprocess.run(["perl", FLAMEGRAPH], input=body, capture_output=True, check=False,
                                      timeout=harness.TIMEOUT_S)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(f"<title>all ({total:,} samples, 100%)</title>".encode(), done.stdout)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

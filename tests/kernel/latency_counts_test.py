# SPDX-License-Identifier: Apache-2.0
"""What latency probes count and measure, against a program that knows both (known_calls.c): no call is uncounted, at any
rate and if a map is full, and percentiles are those of its own clock."""

import collections
import json
import math
import pathlib
import re
import subprocess
import tempfile

import cgroups
import harness

SOURCE = pathlib.Path(__file__).with_name("known_calls.c")
GETPPID_CALL = "syscall=getppid"
GETPPID = f"latency:{GETPPID_CALL}/min=1h/"
SLEEP = "syscall=clock_nanosleep"
QUANTILES = (0.5, 0.95, 0.99)
# Beside other load, the program reads its clocks late, before and after a call.
CLOCK_FRACTION = 0.02
# formats/base/latency_buckets.h
BUCKET_FRACTION = 0.25


def quantile(ordered, fraction):
    """The nearest-rank percentile."""
    return ordered[max(0, math.ceil(fraction * len(ordered)) - 1)]


class LatencyCounts(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.shared.name) / "known_calls")
        subprocess.run(["cc", "-O1", "-pthread", "-o", cls.program, SOURCE, "-lm"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def measure(self, *options, program):
        """Records the program. Sets self.own (what it printed) and self.notes. Returns what the recorder printed."""
        bundle = self.dir / "notes.tar.zst"
        out, err = self.record("-o", self.dir / "perf.data", "--bundle", bundle, *options, "--", self.program,
                               *program)
        self.own = collections.defaultdict(list)
        for name, value in re.findall(r"^(\w+) (\d+)$", out, re.MULTILINE):
            self.own[name].append(int(value))
        archive = subprocess.run(["tar", "--zstd", "-xOf", bundle, "recording.json"], check=True, capture_output=True)
        self.notes = json.loads(archive.stdout)
        return err

    def counted(self):
        """The calls in histograms, by process."""
        calls = collections.Counter()
        for noted in self.notes["latency"]:
            calls[noted["pid"]] += noted["count"]
            self.assertEqual(sum(count for _, count in noted["buckets"]), noted["count"])
        return calls

    def lost(self):
        return {lost["cause"]: lost["calls"] for lost in self.notes["latency_lost"]}

    def test_all_calls_on_all_cpus_are_counted(self):
        err = self.measure("-e", GETPPID, program=("count", 2, 3))
        print(f"{self.own['rate'][0]} calls a second")
        self.assertEqual(self.counted(), dict(zip(self.own["pid"], self.own["calls"])))
        self.assertEqual(self.lost(), {})
        self.assertNotIn("not counted", err)

    def test_calls_of_processes_without_room_are_counted_as_lost(self):
        err = self.measure("-e", GETPPID, "--latency-histograms", 16, program=("count", 100, 3))
        counted, lost = self.counted(), self.lost()
        print(f"{self.own['rate'][0]} calls a second, {sum(counted.values())} counted, lost {lost}")
        self.assertEqual(lost.keys(), {"no_room"})
        self.assertEqual(sum(counted.values()) + lost["no_room"], sum(self.own["calls"]))
        own = dict(zip(self.own["pid"], self.own["calls"]))
        self.assertEqual([pid for pid, calls in counted.items() if calls > own[pid]], [])
        self.assertIn(f"{lost['no_room']} calls found no room for a histogram and were not counted", err)

    def test_samples_of_all_calls_are_in_the_file_or_counted_as_lost(self):
        err = self.measure("-e", f"latency:{GETPPID_CALL}/min=0ns/", "--no-callgraph", program=("count", 2, 1))
        samples, lost = map(int, re.search(r"(\d+) samples, (\d+) lost", err).groups())
        print(f"{self.own['rate'][0]} calls a second, {samples} samples, {lost} lost")
        self.assertEqual(samples + lost, sum(self.own["calls"]))
        self.assertEqual((self.counted(), self.lost()), (dict(zip(self.own["pid"], self.own["calls"])), {}))

    def test_connections_are_counted_but_for_those_that_a_program_missed(self):
        # The state of a socket may change in an interrupt of the program that saw another change.
        self.measure("-e", "latency:tcp-connect/min=1h,errors=off/", program=("connect", 4, 10000))
        counted, lost = self.counted(), self.lost()
        print(f"{sum(counted.values())} counted, lost {lost}")
        self.assertLessEqual(lost.keys(), {"recursion"})
        self.assertGreaterEqual(sum(counted.values()) + lost.get("recursion", 0), sum(self.own["calls"]))
        own = dict(zip(self.own["pid"], self.own["calls"]))
        self.assertEqual([pid for pid, calls in counted.items() if calls > own[pid]], [])

    def test_calls_are_counted_in_the_cgroup_in_which_they_end(self):
        mount = cgroups.version_2()
        if mount is None:
            self.skipTest("no writable hierarchy of cgroups of version 2")
        groups = [mount / f"perftape-calls-{self.dir.name}-{number}" for number in range(20)]
        try:
            for group in groups:
                group.mkdir()
            self.measure("-e", GETPPID, "--all-cgroups", program=("count", 4, 2, *groups))
            calls = collections.Counter()
            for noted in self.notes["latency"]:
                calls[noted["cgroup"]] += noted["count"]
            self.assertEqual((sum(calls.values()), self.lost()), (sum(self.own["calls"]), {}))
            self.assertEqual({pathlib.Path(path).name for path in calls}, {group.name for group in groups})
        finally:
            for group in groups:
                group.rmdir()

    @harness.timing
    def test_percentiles_of_histograms_are_in_the_bucket_of_the_true_one(self):
        err = self.measure("-q", "-e", f"latency:{SLEEP}/min=1h/", "--interval", "1h", "--json", "summary.json",
                           program=("sleep", 20, 100))
        row = next(row for row in json.loads(err.splitlines()[-1])["latency"] if row["probe"] == SLEEP)
        own = sorted(self.own["sleep"])
        self.assertEqual(row["calls"], len(own))
        for fraction in QUANTILES:
            true, shown = quantile(own, fraction), row[f"p{fraction * 100:.0f}_ns"]
            print(f"p{fraction * 100:.0f}: {shown / 1e6:.3f} ms, own {true / 1e6:.3f} ms, {shown / true - 1:+.2%}")
            self.assertLess(abs(shown / true - 1), BUCKET_FRACTION + CLOCK_FRACTION)
        self.assertLessEqual(row["max_ns"], own[-1])

    @harness.timing
    def test_percentiles_of_samples_are_those_of_the_program(self):
        self.measure("-e", f"latency:{SLEEP}/min=0ns/", program=("sleep", 20, 100))
        periods = sorted(int(row["period"]) for row in harness.inspect_samples(self.dir / "perf.data"))
        own = sorted(self.own["sleep"])
        self.assertEqual(len(periods), len(own))
        for fraction in QUANTILES:
            true, shown = quantile(own, fraction), quantile(periods, fraction)
            print(f"p{fraction * 100:.0f}: {shown / 1e6:.3f} ms, own {true / 1e6:.3f} ms, {shown / true - 1:+.2%}")
            self.assertLess(abs(shown / true - 1), CLOCK_FRACTION)
        # A call is within the time that the program measured.
        self.assertEqual([pair for pair in zip(periods, own) if pair[0] > pair[1]], [])


if __name__ == "__main__":
    harness.require("cc", "tar", "zstd")
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests `perftape-record -z`: all readers must count what the recorder counted, in a file and
through a pipe."""

import collections
import pathlib
import re
import tempfile

import harness

PERF_ENV = "HOME=/dev/null PERF_CONFIG=/dev/null LC_ALL=C"


def samples_of(summary):
    return int(re.search(r"(\d+) samples?,", summary).group(1))


class Compressed(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.data = pathlib.Path(cls.shared.name) / "perf.data"
        status, _, cls.summary = harness.run(harness.RECORD, "-z", "-F", "999", "-o", cls.data,
                                             "--", harness.BURNER, "--seconds", "3")
        assert status == 0, cls.summary

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def test_the_summary_reports_the_compression_ratio(self):
        match = re.search(r"compressed \(original [\d.]+ [KM]iB, ratio ([\d.]+)\)", self.summary)
        self.assertTrue(match, self.summary)
        self.assertGreater(float(match.group(1)), 2)

    def test_perf_counts_the_samples_that_were_recorded(self):
        counts, err = harness.perf_report(self.data)
        self.assertEqual(err, "")
        self.assertEqual(sum(counts.values()), samples_of(self.summary))
        self.assertGreater(counts["[.] burn_matrix"], 0)

    def test_perf_stats_and_inspect_count_the_same_records(self):
        status, out, err = harness.run(harness.INSPECT, "--stats", self.data)
        self.assertEqual((status, err), (0, ""))
        ours = {name: int(count) for name, count in re.findall(r"(\w+) events: +(\d+)  \(", out)}
        theirs = harness.perf_stats(self.data)
        del theirs["TOTAL"]
        self.assertEqual(ours, theirs)

    def test_perf_script_and_inspect_show_the_same_samples(self):
        status, out, err = harness.run("perf", "script", "-F", "tid,time", "--ns", "-G", "-i",
                                       self.data, env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        theirs = collections.Counter(
            (tid, int(s) * 10**9 + int(ns))
            for tid, s, ns in re.findall(r"^ *(-?\d+) +(\d+)\.(\d+): *$", out, re.MULTILINE))
        ours = collections.Counter(
            (row["tid"], int(row["time_ns"])) for row in harness.inspect_samples(self.data))
        self.assertEqual(ours, theirs)
        self.assertEqual(ours.total(), samples_of(self.summary))

    def test_the_headers_contain_the_compression(self):
        status, out, err = harness.run("perf", "report", "--header-only", "-i", self.data,
                                       env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"# compressed : Zstd, level = 1, ratio = \d+")
        status, out, err = harness.run(harness.INSPECT, "--header", self.data)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("COMPRESSED", out)

    def test_validate_reports_only_hotspot(self):
        status, out, err = harness.run(harness.INSPECT, "--validate", self.data)
        findings = re.findall(r"^0x\S+ (?:error|warning) (?!lost-).*$", out, re.MULTILINE)
        self.assertEqual([text for text in findings if "hotspot" not in text], [], err)

    def test_convert_and_perf_make_the_same_profile(self):
        self.record("-z", "-F", "499", "--", harness.BURNER, "--seconds", "1")
        status, _, err = harness.run(harness.CONVERT, "perf.data", "-o", "x.folded", cwd=self.dir)
        self.assertEqual(status, 0, err)
        total, _, _ = harness.folded_counts(self.dir / "x.folded")
        counts, _ = harness.perf_report(self.dir / "perf.data")
        self.assertEqual(total, sum(counts.values()))

    def test_perf_reads_it_from_a_pipe(self):
        status, out, err = harness.shell(
            f"{harness.RECORD} -z3 -F 499 -o - -- {harness.BURNER} --seconds 2 2>summary | "
            f"{PERF_ENV} perf report --stdio --no-children -g none -F sample,sym -i -", self.dir)
        self.assertEqual((status, err), (0, ""), (self.dir / "summary").read_text())
        self.assertIn("[.] burn_matrix", out)
        counted = sum(map(int, re.findall(r"^ +(\d+) +\[", out, re.MULTILINE)))
        self.assertEqual(counted, samples_of((self.dir / "summary").read_text()))

    def test_a_stored_pipe_is_read(self):
        status, _, err = harness.shell(
            f"{harness.RECORD} -z -F 499 -o - -- {harness.BURNER} --seconds 1 > stored.data",
            self.dir)
        self.assertEqual(status, 0, err)
        stored = self.dir / "stored.data"
        self.assertEqual(len(harness.inspect_samples(stored)), samples_of(err))
        counts, messages = harness.perf_report(stored)
        self.assertEqual((sum(counts.values()), messages), (samples_of(err), ""))


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(999)
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests one recording of the burner with all readers: perf report, script, header and buildid-list,
hotspot's parser, pprof, and a reader of folded stacks."""

import pathlib
import re
import tempfile

import harness


class Report(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.data = pathlib.Path(cls.shared.name) / "perf.data"
        status, _, cls.summary = harness.run(harness.RECORD, "-F", "999", "-o", cls.data, "--",
                                             harness.BURNER, "--seconds", "3")
        assert status == 0, cls.summary

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def test_validate_reports_nothing(self):
        status, out, err = harness.run(harness.INSPECT, "--validate", self.data)
        self.assertEqual((status, err), (0, ""))
        # On a busy machine samples may be lost, which is not an error of the file.
        findings = [line for line in out.splitlines() if re.match(r"0x\S+ (error|warning) ", line)]
        self.assertEqual([line for line in findings if " lost-" not in line], [])

    def test_perf_report_prints_no_message_and_has_the_burner_on_top(self):
        # Also sorted by comm: perf shows merged entries with the comm of the first one.
        counts, err = harness.perf_report(self.data, sort="comm,sym")
        self.assertEqual(err, "")
        # On a busy machine switches in the kernel may take more time than the work.
        user = [name for name, _ in counts.most_common() if name.startswith("burn-matrix|[.]")]
        self.assertEqual(user[0], "burn-matrix|[.] burn_matrix")

    def test_call_chains_reach_main_and_the_thread_start(self):
        status, out, err = harness.run(
            "perf", "report", "--stdio", "--no-children", "-g", "caller", "--percent-limit", "3",
            "--percentage", "relative", "--comm", "perftape-burner,burn-matrix", "-i", self.data,
            env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"matrix_worker")
        self.assertRegex(out, r"burn_threads")
        self.assertRegex(out, r"\bmain\b")

    def test_perf_script_is_silent_and_agrees_with_inspect_sample_by_sample(self):
        status, out, err = harness.run(
            "perf", "script", "-F", "comm,pid,tid,cpu,time,event,ip", "--ns", "-G", "-i", self.data,
            env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        line = re.compile(r"^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+):\s+(\S+?):\s+"
                          r"([0-9a-f]+)")
        theirs = []
        for text in out.splitlines():
            match = line.match(text)
            self.assertIsNotNone(match, text)
            comm, pid, tid, cpu, seconds, ns, event, ip = match.groups()
            theirs.append((event, comm, pid, tid, int(cpu), int(seconds) * 10**9 + int(ns)))
        ours = [(row["event"], row["comm"], row["pid"], row["tid"], int(row["cpu"]),
                 int(row["time_ns"])) for row in harness.inspect_samples(self.data)]
        self.assertGreater(len(ours), 100)
        self.assertEqual(ours, theirs)

    def test_verbose_shows_the_messages_of_libbpf(self):
        for options, shown in (["-v"], True), ([], False):
            status, _, err = harness.run(harness.RECORD, *options, "--no-bundle", "-o", "verbose.data",
                                         "--", "true", cwd=self.dir)
            self.assertEqual(status, 0, err)
            self.assertEqual("perftape-record: libbpf: " in err, shown, err)

    def test_kernel_frames_have_names(self):
        counts, _ = harness.perf_report(self.data, extra=["--comm", "perftape-burner"])
        kernel = {name: n for name, n in counts.items() if name.startswith("[k]")}
        self.assertGreater(sum(kernel.values()), 20)
        nameless = sum(n for name, n in kernel.items() if re.match(r"\[k\] (0x|\[unknown)", name))
        self.assertEqual(nameless, 0)

    def test_perf_report_header_shows_the_features(self):
        status, out, _ = harness.run("perf", "report", "--header-only", "-I", "-i", self.data,
                                     env=harness.perf_environment())
        self.assertEqual(status, 0)
        for line in ("hostname", "os release", "perf version", "arch", "nrcpus online",
                     "nrcpus avail", "cpudesc", "cpuid", "total memory", "cmdline", "event :",
                     "sibling", "node0|NUMA", "pmu mappings", "time of first sample",
                     "clockid frequency", "clockid: monotonic"):
            self.assertRegex(out, f"# .*({line})")

    def test_buildid_list_names_the_binaries_that_were_hit(self):
        status, out, err = harness.run("perf", "buildid-list", "-i", self.data,
                                       env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        self.assertIn("[kernel.kallsyms]", out)
        self.assertIn(harness.BURNER, out)
        _, notes, _ = harness.run("readelf", "-n", harness.BURNER)
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        self.assertIn(build_id, out)

    def test_hotspots_parser_counts_the_same_and_sees_no_time_violation(self):
        if not pathlib.Path(harness.PERFPARSER).exists():
            self.skipTest("hotspot is not installed")
        status, out, err = harness.run("timeout", "60", harness.PERFPARSER, "--input", self.data,
                                       "--print-stats")
        text = out + err
        self.assertEqual(status, 0, text)
        samples = int(re.search(r"samples: (\d+)", text).group(1))
        violations = int(re.search(r"time violations: (\d+)", text).group(1))
        self.assertEqual(samples, len(harness.inspect_samples(self.data)))
        self.assertEqual(violations, 0)

    def test_inspect_and_perf_count_the_same(self):
        status, out, _ = harness.run(harness.INSPECT, "--stats", self.data)
        self.assertEqual(status, 0)
        ours = {name: int(count) for name, count in
                re.findall(r"^\s*(\S+) events:\s+(\d+)", out, re.MULTILINE)}
        theirs = harness.perf_stats(self.data)
        self.assertGreater(theirs["SAMPLE"], 100)
        self.assertEqual({name: ours.get(name) for name in theirs}, theirs)

    def test_folded_has_the_totals_and_the_functions_of_perf_report(self):
        folded = self.dir / "x.folded"
        status, _, err = harness.run(harness.CONVERT, self.data, "--values", "samples", "-o", folded)
        self.assertEqual(status, 0, err)
        total, leaves, stacks = harness.folded_counts(folded)
        counts, _ = harness.perf_report(self.data)
        self.assertEqual(total, sum(counts.values()))
        self.assert_shares_agree(leaves, harness.without_mode(counts), above=2, within=0.5)
        self.assertTrue(any(re.match(r"burn-matrix;.*matrix_worker;burn_rounds[^;]*;burn_matrix$", stack)
                            for stack in stacks))

    def test_pprof_top_has_the_totals_and_the_functions_of_perf_report(self):
        if not harness.shutil.which("go"):
            self.skipTest("go is not installed")
        profile = self.dir / "x.pb.gz"
        status, _, err = harness.run(harness.CONVERT, self.data, "-o", profile)
        self.assertEqual(status, 0, err)
        status, out, err = harness.run(
            "go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0",
            "-sample_index=cpu-clock_sample", "-symbolize=none", profile,
            env=dict(harness.perf_environment(), GOTOOLCHAIN="local", PPROF_TMPDIR=str(self.dir)))
        self.assertEqual(status, 0, err)
        top = {}
        for line in out.splitlines():
            match = re.match(r"\s+(\d+)\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+(.*)$", line)
            if match and int(match.group(1)) > 0:
                top[match.group(2)] = int(match.group(1))
        counts, _ = harness.perf_report(self.data)
        self.assertEqual(sum(top.values()), sum(counts.values()))
        self.assert_shares_agree(top, harness.without_mode(counts), above=2, within=0.5)


if __name__ == "__main__":
    harness.require("perf", "readelf")
    harness.require_sample_rate(999)
    harness.main()

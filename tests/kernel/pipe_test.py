# SPDX-License-Identifier: Apache-2.0
"""Tests the pipe format, read by perf and by perftape while it is written."""

import os
import re
import signal
import stat
import subprocess
import time

import harness

PRODUCE = f"{harness.RECORD} -q -F 499 -o - -- {harness.BURNER} --seconds 2"
PERF_ENV = "HOME=/dev/null PERF_CONFIG=/dev/null LC_ALL=C"


class Pipe(harness.RecordingTest):
    def test_perf_report_reads_it_from_stdin_without_a_message(self):
        status, out, err = harness.shell(
            f"{PRODUCE} | {PERF_ENV} perf report --stdio --no-children -g none -i -",
            self.dir)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"of event 'cpu-clock'")
        self.assertRegex(out, r"burn-matrix.*\[\.\] burn_matrix")

    def test_perf_inject_adds_build_ids_and_perf_script_reads_them(self):
        status, out, err = harness.shell(
            f"{PRODUCE} | {PERF_ENV} perf inject -b | {PERF_ENV} perf script -i -",
            self.dir)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("burn_matrix", out)

    def test_convert_reads_it_from_stdin(self):
        status, _, err = harness.shell(
            f"{PRODUCE} | {harness.CONVERT} - -o x.folded", self.dir)
        self.assertEqual(status, 0, err)
        _, leaves, _ = harness.folded_counts(self.dir / "x.folded")
        self.assertEqual(leaves.most_common(5)[0][1], max(leaves.values()))
        self.assertIn("burn_matrix", leaves)

    def test_a_stored_pipe_has_build_ids_features_and_names(self):
        status, _, err = harness.shell(f"{PRODUCE} > stored.data", self.dir)
        self.assertEqual(status, 0, err)
        stored = self.dir / "stored.data"
        _, out, _ = harness.run("perf", "buildid-list", "-i", stored, env=harness.perf_environment())
        self.assertIn(harness.BURNER, out)
        status, out, err = harness.run(harness.INSPECT, "--header", stored)
        self.assertEqual(status, 0, err)
        for feature in ("HOSTNAME", "OSRELEASE", "NRCPUS", "CMDLINE", "CLOCK_DATA"):
            self.assertRegex(out, re.compile(feature, re.IGNORECASE))

    def test_validate_reports_nothing(self):
        status, out, err = harness.shell(f"{PRODUCE} | {harness.INSPECT} --validate -",
                                         self.dir)
        self.assertEqual((status, err), (0, ""))
        findings = re.findall(r"^0x\S+ (?:error|warning) (?!lost-).*$", out, re.MULTILINE)
        self.assertEqual(findings, [])

    def test_output_of_the_command_is_not_in_the_pipe(self):
        status, out, err = harness.shell(
            f"{harness.RECORD} -q -o - -- sh -c 'echo to stdout; seq 100000' 2>messages | "
            f"{harness.INSPECT} --validate -", self.dir)
        self.assertEqual((status, err), (0, ""))
        self.assertNotRegex(out, r"(?m)^0x\S+ error")
        self.assertTrue((self.dir / "messages").read_text().startswith("to stdout\n1\n2\n"))
    # Not the machine's own /dev/stdout, which a mistake would replace.
    def test_another_name_of_stdout_is_stdout(self):
        stdout = self.dir / "stdout"
        stdout.symlink_to("/proc/self/fd/1")
        status, out, err = harness.shell(
            f"{harness.RECORD} -a -o stdout --duration 0.5 | {harness.INSPECT} --stats -", self.dir)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"SAMPLE")
        self.assertTrue(stdout.is_symlink())
        self.assertEqual([entry.name for entry in self.dir.iterdir()], ["stdout"])

    def test_a_named_pipe_gets_the_same_as_stdout(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        status, out, err = harness.shell(
            f"{harness.INSPECT} --stats fifo & {harness.RECORD} -a -o fifo --duration 0.5 && wait $!",
            self.dir)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"SAMPLE")
        self.assertTrue(fifo.is_fifo())

    def test_waiting_for_a_reader_of_a_named_pipe_can_be_interrupted(self):
        os.mkfifo(self.dir / "fifo")
        recorder = self.spawn(harness.RECORD, "-a", "-o", "fifo", cwd=self.dir,
                              stderr=subprocess.PIPE, text=True)
        time.sleep(1)  # a signal before the recorder waits for it ends the recorder, too
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertNotEqual(recorder.returncode, 0)

    def test_a_device_is_written_to_and_not_replaced(self):
        null = self.dir / "null"
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        status, _, err = harness.run(harness.RECORD, "-a", "-o", null, "--duration", "0.3")
        self.assertEqual(status, 0, err)
        self.assertTrue(null.is_char_device())

    def test_a_link_is_followed_and_not_replaced(self):
        (self.dir / "deep").mkdir()
        (self.dir / "deep/target").write_text("the old one")
        (self.dir / "link").symlink_to("deep/target")
        status, _, err = harness.run(harness.RECORD, "-a", "-o", "link", "--duration", "0.3",
                                     cwd=self.dir)
        self.assertEqual(status, 0, err)
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertEqual((self.dir / "deep/target.old").read_text(), "the old one")
        self.assertEqual((self.dir / "deep/target").stat().st_mode & 0o777, 0o600)
        status, _, err = harness.run(harness.BUNDLE, "list", self.dir / "link")
        self.assertEqual(status, 0, err)

    def test_a_recording_ends_when_its_reader_exits(self):
        status, _, err = harness.run("bash", "-c", f"{PRODUCE} | head -c 1000 >/dev/null; "
                                     "echo ${PIPESTATUS[0]}", cwd=self.dir)
        self.assertEqual(status, 0, err)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests failures while recording: signals, a failing command, a full disk, an overflowing ring."""

import re
import resource
import signal
import struct
import subprocess
import time

import harness

BPF_PROG_INFO = 25  # HEADER_BPF_PROG_INFO


def feature_sizes(contents):
    """The sizes of the feature sections of a perf.data, by bit (struct perf_file_header)."""
    offset, size = struct.unpack_from("<QQ", contents, 40)
    bits = int.from_bytes(contents[72:104], "little")
    present = [bit for bit in range(256) if bits >> bit & 1]
    return {bit: struct.unpack_from("<QQ", contents, offset + size + 16 * i)[1]
            for i, bit in enumerate(present)}


class Failure(harness.RecordingTest):
    def start(self, *arguments):
        process = self.spawn(harness.RECORD, *arguments, cwd=self.dir, stderr=subprocess.PIPE,
                             text=True)
        data = self.dir / "perf.data"
        while not data.exists() and process.poll() is None:
            time.sleep(0.01)
        return process, data

    def test_sigint_finishes_the_file(self):
        process, data = self.start("-a")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.TIMEOUT_S)
        status, out, err = harness.run(harness.INSPECT, "--header", data)
        self.assertEqual(status, 0, err)
        self.assertIn("SAMPLE_TIME", out.upper().replace(" ", "_"))

    def test_the_status_of_the_command_is_passed_on(self):
        status, _, err = harness.run(harness.RECORD, "-q", "--", "sh", "-c", "exit 7", cwd=self.dir)
        self.assertEqual(status, 7, err)
        status, _, err = harness.run(harness.RECORD, "-q", "--", "sh", "-c", "kill -TERM $$",
                                     cwd=self.dir)
        self.assertEqual(status, 128 + signal.SIGTERM, err)

    def test_a_command_that_the_duration_ends_is_no_failure(self):
        for target in ((), ("-a",)):
            status, _, err = harness.run(harness.RECORD, "-q", *target, "--no-bundle", "--duration", "200ms",
                                         "--", "sleep", "60", cwd=self.dir)
            self.assertEqual(status, 0, err)

    def test_a_rate_above_what_the_machine_carries_is_lowered(self):
        for rate in (("-F", "max"), ("-c", "1000")):
            _, err = self.record(*rate, "--call-graph", "none", "--no-bundle", "-o", "a.data", "--", "true")
            period = int(re.search(r"recorded at (\d+)", err)[1]) if "than this machine can take" in err else 0
            attributes = harness.run(harness.INSPECT, "--header", self.dir / "a.data")[1]
            if period and rate[0] == "-F":
                self.assertRegex(attributes, rf"\b{period}\b")

    def contents(self):
        return {file.name: file.read_bytes() for file in self.dir.iterdir() if file.is_file()}

    def test_a_recording_that_fails_to_start_keeps_earlier_ones(self):
        self.record("-q", "--no-bundle", "--", "true")
        self.record("-q", "--no-bundle", "--", "true")
        for name, mode, text in (("plain", 0o644, b"text"), ("binary", 0o755, b"MZ\0\1"),
                                 ("orphan", 0o755, b"#!/no/such/shell\n")):
            (self.dir / name).write_bytes(text)
            (self.dir / name).chmod(mode)
        gone = self.spawn("true")
        gone.wait()
        before = self.contents()
        for words, expected in ((["--", "no-such-command-here"], 127), (["--", "/no/such/file"], 127),
                                (["--", "./plain"], 126), (["--", "./binary"], 126),
                                (["--", "./orphan"], 126), (["--", "/"], 126),
                                (["-p", str(gone.pid)], 1)):
            with self.subTest(words=words):
                status, _, err = harness.run(harness.RECORD, *words, cwd=self.dir)
                self.assertEqual(status, expected, err)
                self.assertIn(words[-1], err)
                self.assertEqual(self.contents(), before)

    def test_two_recordings_of_one_name_are_both_complete(self):
        first, data = self.start("-C0")
        status, _, err = harness.run(harness.RECORD, "-C0", "--duration", "0.2", cwd=self.dir)
        self.assertEqual(status, 0, err)
        self.assertNotIn("renamed", err)
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(first.returncode, 0, err)
        self.assertIn("perf.data was renamed while it was recorded", err)
        self.assertRegex(err, r"samples, 0 lost, .* in \S*/perf\.data\.old")
        for file in (data, self.dir / "perf.data.old"):
            status, out, err = harness.run(harness.BUNDLE, "list", file)
            self.assertEqual(status, 0, f"{file}: {err}")
            status, out, err = harness.run(harness.INSPECT, "--validate", file)
            self.assertEqual(status, 0, f"{file}: {out}{err}")

    def test_a_recording_reports_that_its_file_was_deleted(self):
        process, data = self.start("-C0")
        data.unlink()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("perf.data: was deleted", err)

    def test_two_signals_at_once_count_as_one(self):
        for attempt in range(10):
            with self.subTest(attempt=attempt):
                process, data = self.start("-C0")
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGINT)
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=harness.TIMEOUT_S)
                self.assertEqual(process.returncode, 0, err)
                self.assertIn("symbols of", err)
                data.unlink()

    def test_timeout_finishes_a_recording(self):
        status, _, err = harness.run("timeout", "1", harness.RECORD, "-C0", cwd=self.dir)
        self.assertEqual(status, 124, err)
        self.assertIn("symbols of", err)

    def test_an_existing_file_is_kept_as_old(self):
        self.record("-q", "--", "true")
        first = (self.dir / "perf.data").read_bytes()
        self.record("-q", "--", "true")
        self.assertEqual((self.dir / "perf.data.old").read_bytes(), first)

    def test_a_full_disk_is_an_error_and_the_file_still_opens(self):
        for options, size in (([], "1m"), (["-z"], "256k")):
            with self.subTest(options=options):
                small = self.dir / size
                small.mkdir()
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small],
                               check=True)
                try:
                    self.record_until_full(small / "perf.data", options)
                finally:
                    subprocess.run(["umount", small], check=True)

    def record_until_full(self, data, options):
        status, _, err = harness.run(harness.RECORD, "-a", "-F", "9999", *options, "-o", data, "--",
                                     harness.BURNER, "--seconds", "8")
        self.assertEqual(status, 1, err)
        self.assertIn(f"{data}: write: No space left on device", err)
        self.check_what_is_safe(data, err)

    def check_what_is_safe(self, data, err):
        """Compares the numbers in the message with those in the file."""
        message = re.search(r"(\d+) samples? written before, (\d+) lost", err)
        self.assertIsNotNone(message, err)
        safe, lost = int(message[1]), int(message[2])
        self.assertGreater(safe, 100)
        self.assertGreater(lost, 0)
        self.assertIn("no symbols written", err)
        counts, perf_err = harness.perf_report(data)
        self.assertRegex(perf_err, rf"\A{harness.LOSSES}\Z")
        self.assertEqual(sum(counts.values()), safe)
        # The LOST_SAMPLES records nearly always fit where the samples did not.
        counted = sum(map(int, re.findall(r" LOST_SAMPLES .*: lost (\d+)", self.records(data))))
        self.assertIn(counted, (lost, 0), err)

    def records(self, data):
        status, out, err = harness.run(harness.INSPECT, "--records", data)
        self.assertEqual(status, 0, err)
        return out

    def test_a_limit_of_the_file_size_ends_a_recording_as_a_full_disk_does(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

        status, _, err = harness.run(harness.RECORD, "-a", "-F", "9999", "--", harness.BURNER,
                                     "--seconds", "8", cwd=self.dir, preexec_fn=limit,
                                     restore_signals=False)  # SIGXFSZ stays ignored
        self.assertEqual(status, 1, err)
        self.assertIn("perf.data: write: File too large", err)
        self.check_what_is_safe(self.dir / "perf.data", err)

    def test_a_small_disk_has_the_features_that_readers_need(self):
        """The programs of the other recorder are in BPF_PROG_INFO."""
        other = self.spawn(harness.RECORD, "-a", "-q", "-F", "1", "-o", "other.data", cwd=self.dir)
        self.wait_for_file(self.dir / "other.data", other)
        for options in ((), ("--switch-output=1h",)):
            with self.subTest(options=options):
                expected, found, err = self.features_on_a_small_disk(options)
                self.assertEqual(found, expected)
                self.assertIn("left out, the disk has no room for it: feature BPF_PROG_INFO", err)

    def features_on_a_small_disk(self, options):
        """Returns (the other features, those found, stderr) if half of BPF_PROG_INFO has no room."""
        for _ in range(5):  # it needs less room if a recorder of another test has ended meanwhile
            whole, _ = self.record_with_limit(options, resource.RLIM_INFINITY)
            sizes = feature_sizes(whole)
            limit = len(whole) - sizes.pop(BPF_PROG_INFO) // 2
            small, err = self.record_with_limit(options, limit)
            found = feature_sizes(small).keys()
            if BPF_PROG_INFO not in found:
                break
        return sizes.keys(), found, err

    def record_with_limit(self, options, limit):
        """Returns the only file of a short recording, and stderr."""
        status, _, err = harness.run(
            harness.RECORD, *options, "--no-bundle", "-F", "1", "-o",
            "small.%n" if options else "small.0", "--", "true", cwd=self.dir, restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(status, 0, err)
        file, = self.dir.glob("small.*")
        contents = file.read_bytes()
        file.unlink()
        return contents, err

    def test_samples_that_did_not_fit_are_counted_and_written(self):
        _, err = self.record_degraded("-F", "20000", "--mmap-pages", "1", "-a", "--",
                                      harness.BURNER, "--seconds", "2")
        self.assertRegex(err, r"lost")
        status, out, _ = harness.run(harness.INSPECT, "--records", self.dir / "perf.data")
        self.assertIn("LOST_SAMPLES", out)
        stats = harness.perf_stats(self.dir / "perf.data")
        self.assertGreater(stats.get("LOST_SAMPLES", 0), 0)

    def record_degraded(self, *arguments):
        status, out, err = harness.run(harness.RECORD, *arguments, cwd=self.dir)
        self.assertIn(status, (0, 3), err)
        return out, err

    def test_the_recorder_never_records_itself(self):
        process, data = self.start("-a", "-F", "9999")
        time.sleep(1)
        pid = str(process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.TIMEOUT_S)
        pids = {row["pid"] for row in harness.inspect_samples(data)}
        self.assertNotIn(pid, pids)
        self.assertGreater(len(pids), 1)

    def test_descendants_of_a_process_are_recorded_and_others_are_not(self):
        other = self.spawn(harness.BURNER, "--seconds", "30", stdout=subprocess.DEVNULL)
        self.record("-q", "-F", "999", "--", "sh", "-c", f"{harness.BURNER} --seconds 1 & wait")
        rows = harness.inspect_samples(self.dir / "perf.data")
        self.assertIn("burn-matrix", {row["comm"] for row in rows})
        self.assertNotIn(str(other.pid), {row["pid"] for row in rows})


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(20000)
    harness.main()

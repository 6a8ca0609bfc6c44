# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while recording: signals, a failing command, a full disk, a ring that overflows."""

import signal
import subprocess
import time

import harness


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

    def test_a_command_that_does_not_exist_is_told_and_leaves_no_file(self):
        status, _, err = harness.run(harness.RECORD, "--", "no-such-command-here", cwd=self.dir)
        self.assertNotEqual(status, 0)
        self.assertIn("no-such-command-here", err)

    def test_two_signals_at_once_are_one(self):
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

    def test_timeout_ends_a_recording_well(self):
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
        self.assertIn("No space left on device", err)
        counts, err = harness.perf_report(data)
        self.assertEqual(err, "")
        self.assertGreater(sum(counts.values()), 100)

    def test_samples_that_found_no_room_are_counted_and_written(self):
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
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Rotates recordings: each file is complete by itself, no sample is lost or doubled at a seam, old
files are deleted exactly, and a full disk interrupts the recording only until there is room.

PERFTAPE_ROTATION_FILES (default 4) is how many files the seam test waits for."""

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import harness
from committed_records import SAMPLE, committed_records

FILES = int(os.environ.get("PERFTAPE_ROTATION_FILES", "4"))
KILLS = int(os.environ.get("PERFTAPE_ROTATION_KILLS", "3"))
LOST_SAMPLES = 13
# Short processes, each of which executes two programs.
STORM = "while :; do /bin/sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exec cat /etc/passwd'; done"


def samples_of(path):
    """Returns (id, pid, tid, time) of each SAMPLE, without code of perftape."""
    return [(at[0], at[2], at[3], at[4]) for at in
            (struct.unpack_from("<QQIIQ", payload) for kind, payload in committed_records(path)
             if kind == SAMPLE)]


def lost_in(path):
    return sum(struct.unpack_from("<Q", payload)[0] for kind, payload in committed_records(path)
               if kind == LOST_SAMPLES)


def totals(summary):
    """Returns (samples, lost samples) of the summary line."""
    match = re.search(r"(\d+) samples?[,;].*? (\d+) lost,", summary)
    assert match, summary
    return int(match[1]), int(match[2])


class RotationTest(harness.RecordingTest):
    def files(self, name="r.*"):
        return sorted((file for file in self.dir.glob(name) if file.is_file()),
                      key=lambda file: file.stat().st_mtime_ns)

    def load(self, storm=True):
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        if storm:
            self.spawn("bash", "-c", STORM, stdout=subprocess.DEVNULL)

    def start(self, *arguments, output="r.%n"):
        recorder = self.spawn(harness.RECORD, *arguments, "-o", output, cwd=self.dir,
                              stderr=subprocess.PIPE, text=True)
        self.wait_for_files(1, recorder, output.replace("%n", "[0-9]").replace("%h", "*"))
        return recorder

    def wait_for_files(self, count, recorder, name="r.*"):
        """Returns when a recorder has begun this number of files, or has ended."""
        while len(self.files(name)) < count and recorder.poll() is None:
            time.sleep(0.01)

    def finish(self, recorder, number=signal.SIGINT):
        recorder.send_signal(number)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        return err

    def assert_opens(self, path, validate=True):
        """Each file alone is good for perf and for our own checks. The last one may have ended before
        its first sample."""
        losses = harness.loss_warnings(path)
        samples = len(samples_of(path))
        counts, err = harness.perf_report(path, sort="comm,dso,sym")
        no_samples = "" if samples else rf"Error:\nThe {re.escape(str(path))} data has no samples!\n"
        self.assertRegex(err, rf"\A{losses}{no_samples}\Z", path)
        self.assertEqual(sum(counts.values()), samples, path)
        status, _, err = harness.run("perf", "script", "-i", path, env=harness.perf_environment())
        self.assertEqual(status, 0, path)
        self.assertRegex(harness.perf_complaints(err), rf"\A{losses}\Z", path)
        if validate:
            status, out, err = harness.run(harness.INSPECT, "--validate", path)
            self.assertEqual(status, 0, out + err)
        return counts


class Rotation(RotationTest):
    def test_no_sample_is_lost_or_doubled_at_a_seam(self):
        self.load()
        beside = self.start("-a", "-F", "499", output="whole.data")
        recorder = self.start("-a", "-F", "499", "--switch-output=1s", output="r.%n")
        self.wait_for_files(FILES, recorder)
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 0, err)
        self.finish(beside)
        files = self.files()
        self.assertGreaterEqual(len(files), FILES, err)
        found = [samples_of(file) for file in files]
        everything = [sample for file in found for sample in file]
        self.assertEqual(len(everything), len(set(everything)), "a sample is in two files")
        times = [sample[3] for sample in everything]
        self.assertEqual(times, sorted(times), "a sample is in an earlier file than an older one")
        self.assertEqual((len(everything), sum(map(lost_in, files))), totals(err))
        self.assert_names_agree(files, self.dir / "whole.data")

    def assert_names_agree(self, files, whole):
        expected = harness.perf_report(whole, sort="comm,dso,sym")[0]
        unknown = lambda counts: sum(samples for name, samples in counts.items()
                                     if "[unknown]" in name or re.match(r":\d+\|", name))
        limit = unknown(expected) / sum(expected.values()) + 0.01
        together = {}
        for file in files:
            counts = self.assert_opens(file)
            self.assertLessEqual(unknown(counts), limit * sum(counts.values()) + 2, file)
            for name, samples in counts.items():
                together[name] = together.get(name, 0) + samples
        self.assert_shares_agree(together, expected, above=1.0, within=5.0)

    def test_every_file_has_its_own_features_and_symbols(self):
        self.load(storm=False)
        recorder = self.start("-a", "-z", "--switch-output=1s", output="%h-%n.data")
        self.wait_for_files(3, recorder, "*-[0-9].data")
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 0, err)
        complete = self.files("*-*.data")[:-1]
        self.assertGreaterEqual(len(complete), 2)
        for file in complete:
            self.assert_opens(file, validate=False)  # other readers do not know COMPRESSED
            _, out, err = harness.run(harness.INSPECT, "--header", file)
            for feature in ("HOSTNAME", "CMDLINE", "BUILD_ID", "SAMPLE_TIME", "EVENT_DESC"):
                self.assertIn(feature, out.upper().replace(" ", "_"), err)
            status, out, err = harness.run(harness.BUNDLE, "list", file)
            self.assertEqual(status, 0, err)
            self.assertIn("perftape-burner", out)

    def test_sigusr2_begins_the_next_file(self):
        self.load(storm=False)
        recorder = self.start("-a", "--switch-output", "--no-bundle")
        for number in (2, 3):
            time.sleep(0.5)
            recorder.send_signal(signal.SIGUSR2)
            self.wait_for_file(self.dir / f"r.{number}", recorder)
        time.sleep(0.5)
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertEqual([file.name for file in self.files()], ["r.1", "r.2", "r.3"])
        for file in self.files():
            self.assert_opens(file)

    def test_the_newest_files_are_kept(self):
        self.load(storm=False)
        for number in (1, 2):
            (self.dir / f"r.{number}").write_text("of an earlier recording")
        (self.dir / "r.data").write_text("of no recording")
        _, err = self.record("-a", "--switch-output=1s", "--keep-files", "2", "--duration", "4.5",
                             "--no-bundle", "-o", "r.%n")
        numbers = sorted(int(file.name[2:]) for file in self.files("r.[0-9]*"))
        self.assertEqual(len(numbers), 2, err)
        self.assertEqual(numbers[1], numbers[0] + 1)
        self.assertTrue((self.dir / "r.data").exists())
        self.assertIn(f"{numbers[0] - 1} files deleted", err)

    def test_the_newest_bytes_are_kept(self):
        self.load(storm=False)
        limit = 3 << 20
        for size in (limit - 1000, 999, 1):
            (self.dir / f"r.{len(self.files()) + 1}").write_bytes(bytes(size))
            time.sleep(0.02)
        self.record("-a", "--no-bundle", "--switch-output=300K", "-F", "999", "--keep-bytes", "3M",
                    "--duration", "3", "-o", "r.%n")
        kept = sum(file.stat().st_size for file in self.files())
        self.assertLessEqual(kept, limit)
        self.assertFalse((self.dir / "r.1").exists())

    def test_files_that_were_killed_open(self):
        random.seed(20260102)
        self.load()
        for attempt in range(KILLS):
            recorder = self.start("-a", "-F", "999", "-q", "--switch-output=1s", "--keep-files", "9")
            time.sleep(random.uniform(0.3, 2.5))
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
            for file in self.files("r.?"):
                counts, err = harness.perf_report(file)
                expected = len(samples_of(file))
                self.assertEqual(sum(counts.values()), expected, f"attempt {attempt}: {file}")
                none = harness.NO_SAMPLES if expected == 0 else ""
                self.assertRegex(err, rf"\A{harness.loss_warnings(file)}{none}\Z",
                                 f"attempt {attempt}")
            for file in self.dir.iterdir():
                file.unlink()

    def test_a_command_gets_each_finished_file(self):
        self.load(storm=False)
        self.record("-a", "--no-bundle", "--switch-output=1s", "--duration", "2.5", "-o", "r.%n",
                    "--exec-on-switch", "echo >> log")
        log = (self.dir / "log").read_text().split()
        self.assertEqual(sorted(os.path.basename(name) for name in log),
                         sorted(file.name for file in self.files("r.[0-9]*")))
        _, err = self.record("-a", "--no-bundle", "--switch-output=1s", "--duration", "0.5", "-o",
                             "r.%n", "--exec-on-switch", "exit 3;")
        self.assertIn("--exec-on-switch: 1 command failed", err)


class FullDisk(RotationTest):
    """On a file system of its own."""
    SIZE_MB = 4

    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE_MB}m", "tmpfs", self.dir],
                       check=True)

    def tearDown(self):
        subprocess.run(["umount", "-l", self.dir], check=True)
        super().tearDown()

    def free(self):
        return shutil.disk_usage(self.dir).free

    def test_the_recorder_goes_on_once_there_is_room(self):
        self.load(storm=False)
        (self.dir / "ballast").write_bytes(bytes(self.SIZE_MB << 19))
        recorder = self.start("-a", "-F", "1999", "--no-bundle", "--switch-output=1s")
        deadline = time.monotonic() + harness.TIMEOUT_S
        while self.free() > 64 << 10 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2)
        before = {file.name for file in self.files()}
        (self.dir / "ballast").unlink()
        while {file.name for file in self.files()} == before and time.monotonic() < deadline:
            self.assertIsNone(recorder.poll())
            time.sleep(0.05)
        err = self.finish(recorder)
        self.assertIn("the disk was full", err)
        files = self.files()
        counted = (sum(len(samples_of(file)) for file in files), sum(map(lost_in, files)))
        self.assertEqual(counted, totals(err), err)
        self.assertGreater(counted[1], 0)
        for file in files:
            harness.perf_report(file)

    def test_reserved_space_is_left_to_others(self):
        self.load(storm=False)
        recorder = self.start("-a", "-F", "1999", "--no-bundle", "--switch-output=400K",
                              "--reserve-space", "1M")
        least = self.free()
        deadline = time.monotonic() + harness.TIMEOUT_S
        while (self.dir / "r.1").exists() or not (self.dir / "r.6").exists():  # the oldest is deleted
            self.assertLess(time.monotonic(), deadline)
            least = min(least, self.free())
            time.sleep(0.02)
        err = self.finish(recorder)
        self.assertEqual(recorder.returncode, 0, err)
        self.assertGreaterEqual(least, 1 << 20, err)
        self.assertIn("deleted, the oldest first", err)

    def test_reserved_space_ends_a_single_recording(self):
        self.load(storm=False)
        recorder = self.start("-a", "-F", "1999", "--no-bundle", "--reserve-space", "3M",
                              output="r.data")
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(recorder.returncode, 1, err)
        self.assertIn("--reserve-space keeps 3145728", err)
        self.assert_opens(self.dir / "r.data")


if __name__ == "__main__":
    harness.require("perf", "mount", "zstd")
    harness.require_sample_rate(1999)
    harness.main()

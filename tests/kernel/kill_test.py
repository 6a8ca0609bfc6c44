# SPDX-License-Identifier: Apache-2.0
"""Kills recorders with SIGKILL at random times after the file got its name. perf must open the
file, with all samples up to the last flush."""

import os
import random
import signal
import subprocess
import time

import harness
from committed_records import committed_samples

ROUNDS = int(os.environ.get("PERFTAPE_KILL_ROUNDS", "12"))

# Name -> options of the recording.
WAYS = {"as it comes": [], "compressed": ["-z"], "compressed as far as it goes": ["-z22"]}


class Kill(harness.RecordingTest):
    def test_a_killed_recording_opens_with_all_that_was_flushed(self):
        random.seed(20260101)
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        for name, options in WAYS.items():
            with self.subTest(name):
                rounds = ROUNDS // len(WAYS)
                total = sum(self.kill_one(options, attempt, is_last=attempt == rounds - 1)
                            for attempt in range(rounds))
                print(f"{name}: opened {rounds}, {total} samples")
                self.assertGreater(total, 0)

    def kill_one(self, options, attempt, is_last):
        """Records, kills and reads; returns the number of samples. Every fifth recorder is killed
        as soon as the file has its name, the last one once the file has samples: beside other load,
        the others may be killed before."""
        path = self.dir / "killed.data"
        recorder = self.spawn(harness.RECORD, "-a", "-F", "4999", "-q", *options, "-o", path)
        while not path.exists():
            self.assertIsNone(recorder.poll(), "the recorder ended by itself")
        time.sleep(random.uniform(0, 1.2) if attempt % 5 else 0)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while is_last and committed_samples(path) == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        flushed = committed_samples(path)
        self.assertGreater(harness.perf_stats(path)["MMAP2"], 0, f"attempt {attempt}")
        counts, err = harness.perf_report(path)
        self.assertEqual(sum(counts.values()), flushed, f"attempt {attempt}")
        # A file that was killed before its first flush opens without samples, and perf reports
        # that. It also reports what the file says was lost, on a busy machine.
        empty = harness.NO_SAMPLES if flushed == 0 else ""
        self.assertRegex(err, rf"\A{harness.LOSSES}{empty}\Z", f"attempt {attempt}")
        path.unlink()
        return flushed


if __name__ == "__main__":
    harness.require("perf", "zstd")
    harness.require_sample_rate(4999)
    harness.main()

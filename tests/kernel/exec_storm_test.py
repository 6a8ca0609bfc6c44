# SPDX-License-Identifier: Apache-2.0
"""Tests recordings that start while each CPU starts many programs: no process event may be lost."""

import os
import signal
import subprocess
import time

import harness

RECORDINGS = 8


class ExecStorm(harness.RecordingTest):
    def test_no_process_event_is_lost_at_the_start(self):
        for _ in range(os.cpu_count()):
            self.spawn("sh", "-c", "while :; do /bin/true; done", stdout=subprocess.DEVNULL,
                       preexec_fn=lambda: os.nice(-5))
        for number in range(RECORDINGS):
            data = self.dir / f"{number}.data"
            _, err = self.record("-a", "-o", data, "--no-bundle", "--duration", "0.1")
            stats = harness.perf_stats(data)
            self.assertNotIn("LOST", stats, f"recording {number}: {stats}\n{err}")
            self.assertGreater(stats["COMM"], 10)

    def test_copies_of_stacks_leave_room_for_samples(self):
        """The tables of new programs are not loaded when they are sampled, so their stacks are
        copied. While the recorder is stopped, copies alone would fill the ring."""
        for _ in range(os.cpu_count()):
            self.spawn("sh", "-c", "while :; do /bin/true; done", stdout=subprocess.DEVNULL)
        recorder = self.spawn(harness.RECORD, "-a", "-F", "499", "--no-bundle",
                              "-o", "x.data", "--call-graph", "eh", cwd=self.dir, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        recorder.send_signal(signal.SIGSTOP)
        time.sleep(1)
        recorder.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertNotIn("the ring was full", err)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests recordings that start while each CPU starts many programs: no process event may be lost."""

import os
import subprocess

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


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

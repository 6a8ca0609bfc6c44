# SPDX-License-Identifier: Apache-2.0
"""Records the same workload with `perf record -g` and `perftape-record -g` at the same time: the
numbers of samples and the share of each function must agree while both record."""

import decimal
import os
import pathlib
import signal
import subprocess
import time

import harness


def cpu_seconds(pid):
    """Returns the CPU time that a process has used, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class SideBySide(harness.RecordingTest):
    def common_window(self, *names):
        """Returns perf's options for the time from the last recording's first sample to the first
        recording's last one. The recorders do not start at the same time."""
        spans = []
        for name in names:
            status, out, err = harness.run("perf", "script", "--ns", "-F", "time", "-G",
                                           "-i", self.dir / name, env=harness.perf_environment())
            self.assertEqual(status, 0, err)
            times = [decimal.Decimal(word.rstrip(":")) for word in out.split()]
            spans.append((times[0], times[-1]))
        start, end = max(first for first, _ in spans), min(last for _, last in spans)
        return ("--time", f"{start},{end}")

    @harness.timing
    def test_counts_and_shares_agree_with_perf_record(self):
        burner = self.spawn(harness.BURNER, "--seconds", "60", stdout=subprocess.DEVNULL)
        # perf does not record threads that start after it.
        while len(os.listdir(f"/proc/{burner.pid}/task")) < 4:
            time.sleep(0.01)
        common = ["-F", "999", "-g", "-p", burner.pid]
        perf = self.spawn("perf", "record", "-e", "cpu-clock", "-k", "mono", *common,
                          "-o", self.dir / "perf.data",
                          stdout=subprocess.DEVNULL, env=harness.perf_environment())
        ours = self.spawn(harness.RECORD, *common, "-q", "-o", self.dir / "ours.data")
        # On a busy machine the program gets this CPU time later.
        while cpu_seconds(burner.pid) < 8 and burner.poll() is None:
            time.sleep(0.01)
        for recorder in perf, ours:
            recorder.send_signal(signal.SIGINT)
        self.assertEqual(ours.wait(harness.TIMEOUT_S), 0)
        perf.wait(harness.TIMEOUT_S)

        window = self.common_window("perf.data", "ours.data")
        theirs = harness.perf_report(self.dir / "perf.data", extra=window)[0]
        mine, err = harness.perf_report(self.dir / "ours.data", extra=window)
        self.assertEqual(err, "")
        self.assertGreater(sum(theirs.values()), 4000)
        ratio = sum(mine.values()) / sum(theirs.values())
        print(f"samples: {sum(mine.values())} / {sum(theirs.values())} = {ratio:.4f}")
        self.assertLess(abs(ratio - 1), 0.02)
        self.assert_shares_agree(mine, theirs, above=2, within=3)


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(999)
    harness.main()

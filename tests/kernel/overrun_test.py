# SPDX-License-Identifier: Apache-2.0
"""A ring that is too small for two events: each loss is counted for its own event, and samples and losses
add up to the calls that the program made."""

import os
import re
import sys

import harness

GETPPID, PREAD = "syscalls:sys_enter_getppid", "syscalls:sys_enter_pread64"
PYTHON = os.path.realpath(sys.executable)
CALLS, EVERY = 20000, 1000
SLOW_CALLS = CALLS // EVERY
PROGRAM = f"""
import os
for call in range({CALLS}):
    os.getppid()
    if call % {EVERY} == 0:
        os.pread(0, 4711, 0)
"""


def losses(data):
    """{event: (samples, lost)} of perf report."""
    status, out, err = harness.run("perf", "report", "--stats", "-i", data, env=harness.perf_environment())
    assert status == 0, err
    found, event = {}, None
    for line in out.splitlines():
        named = re.match(r"(\S+) stats:", line)
        counted = re.match(r"\s*(SAMPLE|LOST_SAMPLES) events:\s+(\d+)", line)
        if named:
            event = named.group(1)
        elif counted and event:
            found.setdefault(event, {})[counted.group(1)] = int(counted.group(2))
    return {event: (counts.get("SAMPLE", 0), counts.get("LOST_SAMPLES", 0)) for event, counts in found.items()}


class Overrun(harness.RecordingTest):
    def test_each_event_has_its_own_losses(self):
        program = self.dir / "program.py"
        program.write_text(PROGRAM)
        status, _, err = harness.run(
            harness.RECORD, "-m", "1", "-o", "perf.data", "-e", f"{GETPPID},{PREAD}/if=count==4711/", "--",
            PYTHON, program, cwd=self.dir)
        self.assertEqual(status, 0, err)
        counts = losses(self.dir / "perf.data")
        print(counts)
        self.assertEqual(sum(counts[GETPPID]), CALLS)
        self.assertEqual(sum(counts[PREAD]), SLOW_CALLS)
        self.assertGreater(counts[GETPPID][1], 0)
        self.assertIn(f"{GETPPID}: lost on ", err)

    def test_a_ring_of_the_default_size_loses_nothing(self):
        program = self.dir / "program.py"
        program.write_text(PROGRAM)
        _, err = self.record("-v", "-o", "perf.data", "-e", f"{GETPPID},{PREAD}/if=count==4711/", "--", PYTHON,
                             program)
        self.assertRegex(err, r"\b\d+ ring buffers? of \d+ MiB")
        counts = losses(self.dir / "perf.data")
        self.assertEqual((counts[GETPPID], counts[PREAD]), ((CALLS, 0), (SLOW_CALLS, 0)))


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

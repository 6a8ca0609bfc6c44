# SPDX-License-Identifier: Apache-2.0
"""Tests 200 processes that live for some milliseconds each. All have a name and mappings, and none
of their samples is [unknown] unless perf's own are."""

import subprocess

import harness

CHILDREN = 200


class ShortLived(harness.RecordingTest):
    def test_all_children_have_comm_and_mappings(self):
        ours = self.dir / "ours.data"
        theirs = self.dir / "theirs.data"
        perf = self.spawn("perf", "record", "-a", "-e", "cpu-clock", "-F", "999", "-g", "-o", theirs,
                          "--", harness.RECORD, "-a", "-F", "999", "-q", "-o", ours,
                          "--", harness.BURNER, "--processes", CHILDREN,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=harness.perf_environment())
        _, err = perf.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(perf.returncode, 0, err)

        status, out, err = harness.run(harness.INSPECT, "--records", ours)
        self.assertEqual(status, 0, err)
        execs = sum(" COMM misc 0x2000 " in line and '"perftape-burner"' in line
                    for line in out.splitlines())
        self.assertGreaterEqual(execs, CHILDREN)

        rows = [row for row in harness.inspect_samples(ours) if row["comm"] == "perftape-burner"]
        sampled = {row["pid"] for row in rows}
        self.assertGreater(len(sampled), CHILDREN * 0.9)
        self.assertFalse([row for row in rows if row["comm"].startswith(":")])
        self.assertEqual(self.unknown(ours), min(self.unknown(ours), self.unknown(theirs)))

    def unknown(self, data):
        """Returns the number of samples of the burner that perf cannot find in any object."""
        counts, _ = harness.perf_report(data, sort="dso", extra=["--comm", "perftape-burner"])
        return counts.get("[unknown]", 0)


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(999)
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests what a recording says about itself (recording.json), and the options that change it while it
runs: --aggregate, --max-cpu, --sync."""

import json
import re
import subprocess

import harness

PERIOD_NS = 1_000_000


class Notes(harness.RecordingTest):
    def burn(self):
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)

    def assert_opens(self, data):
        _, err = harness.perf_report(data)
        self.assert_complains_of_losses_only(err, data)

    def periods(self, data):
        """Returns (samples, sum of their periods)."""
        status, out, err = harness.run(harness.INSPECT, "--stats", "--json", data)
        self.assertEqual(status, 0, err)
        events = json.loads(out)["stats"]["events"]
        return sum(event["samples"] for event in events), sum(event["period"] for event in events)

    def test_a_recording_without_bundle_is_no_bundle_for_others(self):
        self.burn()
        self.record("-a", "--no-bundle", "-o", "a.data", "--duration", "0.5")
        self.assertEqual(harness.losses_of(self.dir / "a.data")["source"], "recording.json")
        status, _, err = harness.run(harness.BUNDLE, "list", self.dir / "a.data")
        self.assertNotEqual(status, 0)
        self.assertIn("no bundle", err)
        status, out, err = harness.run(harness.INSPECT, "--header", "--json", self.dir / "a.data")
        self.assertEqual(status, 0, err)
        self.assertIn("notes", json.loads(out)["header"])
        self.assertNotIn("bundle", json.loads(out)["header"])
        self.assert_opens(self.dir / "a.data")

    def test_notes_stay_with_their_recording_when_bundles_are_exchanged(self):
        self.burn()
        for name in "ab":
            self.record("-a", "-o", f"{name}.data", "--duration", "0.5")
        data, others = self.dir / "a.data", self.dir / "b.data"
        before = harness.losses_of(data)

        def bundle(*arguments):
            status, _, err = harness.run(harness.BUNDLE, *arguments)
            return status, err

        self.assertEqual(bundle("strip", "-q", data), (0, ""))
        self.assertEqual(harness.losses_of(data), before)
        status, err = bundle("strip", data)
        self.assertNotEqual(status, 0)
        self.assertIn("only recording.json", err)
        self.assertEqual(bundle("embed", "-q", others, data), (0, ""))
        self.assertEqual(harness.losses_of(data), before)
        # The other recording may lack what ran only during this one.
        self.assertIn(bundle("verify", data)[0], (0, 3))
        self.assertEqual(bundle("strip", "-q", "--all", data), (0, ""))
        self.assertNotEqual(harness.losses_of(data)["source"], "recording.json")
        self.assert_opens(data)

    def test_a_bundle_with_notes_is_sound(self):
        self.burn()
        self.record("-a", "-o", "a.data", "--duration", "0.5")
        self.assertEqual(harness.losses_of(self.dir / "a.data")["source"], "recording.json")
        status, out, err = harness.run(harness.BUNDLE, "verify", self.dir / "a.data")
        self.assertEqual(status, 0, out + err)
        self.assert_opens(self.dir / "a.data")

    def test_each_file_of_a_rotation_has_its_own_numbers(self):
        self.burn()
        status, _, err = harness.run(harness.RECORD, "-a", "-F", "4999", "-m", "8K", "--no-bundle",
                                     "--switch-output=1s", "--duration", "3", "-o",
                                     self.dir / "r.%n")
        self.assertIn(status, (0, 3), err)  # 3: many are lost
        files = sorted(self.dir.glob("r.[0-9]*"))
        self.assertGreater(len(files), 1)
        for file in files:
            losses = harness.losses_of(file)
            self.assertEqual(losses["source"], "recording.json")
            self.assertEqual(losses["lost_samples"], losses["lost_samples_in_records"], file)
            self.assertEqual(losses["samples"], harness.perf_stats(file).get("SAMPLE", 0), file)

    def test_aggregated_samples_have_all_periods(self):
        _, err = self.record("-c", PERIOD_NS, "--aggregate", "1", "-o", "a.data", "--json", "a.json",
                             "--", harness.BURNER, "--seconds", "2")
        summary = json.loads((self.dir / "a.json").read_text())
        samples, period = self.periods(self.dir / "a.data")
        self.assertGreater(summary["aggregated"], 0, err)
        self.assertEqual(samples + summary["aggregated"], summary["samples"])
        self.assertEqual(period, summary["samples"] * PERIOD_NS)
        self.assertEqual(harness.losses_of(self.dir / "a.data")["aggregated"], summary["aggregated"])
        self.assertIn(f"aggregated: {summary['aggregated']} samples", err)
        self.assert_opens(self.dir / "a.data")
        status, out, err = harness.run(harness.INSPECT, "--validate", self.dir / "a.data")
        self.assertEqual(status, 0, out + err)

    def overhead(self, data):
        """Returns {symbol: percent of the periods}, as perf report shows them."""
        status, out, err = harness.run(
            "perf", "report", "--stdio", "--no-children", "-g", "none", "-t", "|", "-F",
            "overhead,sym", "-i", data, env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        rows = [line.split("|") for line in out.splitlines() if "%|" in line]
        return {row[1].strip(): float(row[0].strip().rstrip("%")) for row in rows}

    @harness.timing
    def test_aggregation_leaves_the_percentages_as_they_are(self):
        """Two recorders at once, one of which aggregates."""
        program = self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)
        options = ("-p", program.pid, "-F", "1999", "--no-bundle", "--duration", "3", "-q")
        plain = self.spawn(harness.RECORD, *options, "-o", self.dir / "plain.data")
        self.record(*options, "--aggregate", "1", "-o", "a.data")
        self.assertEqual(plain.wait(harness.TIMEOUT_S), 0)
        expected, found = self.overhead(self.dir / "plain.data"), self.overhead(self.dir / "a.data")
        for name in [name for name, share in (expected | found).items() if share > 5]:
            self.assertAlmostEqual(found.get(name, 0), expected.get(name, 0), delta=5, msg=name)
        self.assertLess(self.periods(self.dir / "a.data")[0],
                        self.periods(self.dir / "plain.data")[0])

    def test_each_file_of_a_rotation_is_aggregated_for_itself(self):
        self.burn()
        self.record("-a", "-c", PERIOD_NS, "--aggregate", "1", "--switch-output=1s", "--duration",
                    "3", "--no-bundle", "-o", "r.%n", "--json", "a.json")
        summary = json.loads((self.dir / "a.json").read_text())
        files = sorted(self.dir.glob("r.[0-9]*"))
        self.assertGreater(len(files), 1)
        total = 0
        for file in files:
            samples, period = self.periods(file)
            aggregated = harness.losses_of(file)["aggregated"]
            self.assertGreater(aggregated, 0, file)
            self.assertEqual(period, (samples + aggregated) * PERIOD_NS, file)
            self.assert_opens(file)
            total += samples + aggregated
        self.assertEqual(total, summary["samples"])

    def test_a_lowered_rate_keeps_the_periods(self):
        self.burn()
        _, err = self.record("-a", "-c", PERIOD_NS, "--max-cpu", "0.01", "-o", "a.data", "--json",
                             "a.json", "--no-bundle", "--duration", "4")
        self.assertIn("--max-cpu", err)
        losses = harness.losses_of(self.dir / "a.data")
        self.assertEqual(losses["rates"][0]["divisor"], 1)
        self.assertGreater(losses["rates"][1]["divisor"], 1)
        self.assertEqual(losses["rates"], json.loads((self.dir / "a.json").read_text())["rates"])
        periods = {int(row["period"]) // PERIOD_NS
                   for row in harness.inspect_samples(self.dir / "a.data")}
        self.assertIn(1, periods)
        self.assertGreater(max(periods), 1)
        # Each CPU always runs something: at most the overflows since its last sample are missing.
        samples, period = self.periods(self.dir / "a.data")
        print(f"{samples} samples, {period / 1e9:.2f} s of CPU time, rates {losses['rates']}")
        self.assert_opens(self.dir / "a.data")

    def test_synchronized_recordings_open(self):
        status, out, err = harness.run("strace", "-f", "-e", "trace=fdatasync", "-o",
                                       self.dir / "calls", harness.RECORD, "--sync", "-a",
                                       "--no-bundle", "-o", self.dir / "a.data", "--duration", "0.8")
        self.assertEqual(status, 0, out + err)
        calls = re.findall(r"fdatasync\(\d+\) += 0", (self.dir / "calls").read_text())
        self.assertGreater(len(calls), 1)
        self.assert_opens(self.dir / "a.data")

    def test_a_disk_that_cannot_synchronize_ends_the_recording(self):
        status, out, err = harness.run("strace", "-f", "-e", "trace=fdatasync", "-e",
                                       "inject=fdatasync:error=EIO:when=3", "-o", "/dev/null",
                                       harness.RECORD, "--sync", "-a", "--no-bundle", "-o",
                                       self.dir / "a.data", "--duration", "20")
        self.assertEqual(status, 1, out + err)
        self.assertIn("Input/output error", err)
        self.assert_opens(self.dir / "a.data")


if __name__ == "__main__":
    harness.require("perf", "strace")
    harness.main()

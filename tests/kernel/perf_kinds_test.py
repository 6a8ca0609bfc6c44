# SPDX-License-Identifier: Apache-2.0
"""Tests all kinds of files that perf record and perf inject write on this machine. perftape-inspect
must print the samples of perf script and the record counts of perf report --stats, and the same
from stdin."""

import pathlib
import re
import tempfile

import harness

SCRIPT = pathlib.Path(__file__).with_name("perf_samples.py")
CLOCK = "-e cpu-clock -F 499"
BURN = f"-- {harness.BURNER} --seconds 0.5"

# Commands that make OUT of each kind; IN is a recording of perf record -a -g.
KINDS = {
    "plain": f"perf record {CLOCK} -a -g -o OUT {BURN}",
    "compressed": f"perf record {CLOCK} -a -g -z -o OUT {BURN}",
    "directory": f"perf record {CLOCK} -a --threads=cpu -o OUT {BURN}",
    "compressed directory": f"perf record {CLOCK} -a -g -z --threads=cpu -o OUT {BURN}",
    "directory with kcore": f"perf record {CLOCK} -a --kcore -o OUT {BURN}",
    "stored pipe": f"perf record {CLOCK} -a -g -o - {BURN} > OUT",
    "stored compressed pipe": f"perf record {CLOCK} -a -z -o - {BURN} > OUT",
    "one process": f"{harness.BURNER} --seconds 2 & perf record {CLOCK} -p $! -o OUT -- sleep 0.5; "
                   "kill $!; wait",
    "each thread, without time": f"perf record {CLOCK} --per-thread -o OUT {BURN}",
    "injected build ids": "perf inject -b -i IN -o OUT",
    "pipe through inject": f"perf record {CLOCK} -a -o - {BURN} | perf inject -b > OUT",
    "build ids in MMAP2": f"perf record {CLOCK} -a --buildid-mmap -o OUT {BURN}",
    "snapshot at the end": f"perf record {CLOCK} -a --overwrite --tail-synthesize -o OUT {BURN}",
    "own clock": f"perf record {CLOCK} -a -k CLOCK_MONOTONIC -o OUT {BURN}",
    "group with counters": "perf record -e '{cpu-clock,page-faults}:S' -F 499 -a -o OUT " + BURN,
    "tracepoints": f"perf record -e sched:sched_switch,sched:sched_wakeup -a -o OUT {BURN}",
    "stored pipe of tracepoints": f"perf record -e sched:sched_switch -a -o - {BURN} > OUT",
    "stacks and registers": f"perf record {CLOCK} --call-graph dwarf,2048 -o OUT {BURN}",
    "formats that differ": "perf record -e cpu-clock/call-graph=fp/ -e task-clock/call-graph=no/ "
                           f"-F 299 -a -d -W -o OUT {BURN}",
    "all that can be messages": f"perf record {CLOCK} -a -s -T -P --all-cgroups --namespaces "
                            f"--switch-events --code-page-size --data-page-size -o OUT {BURN}",
    "counters alone": f"perf stat record -I 200 -o OUT {BURN}",
}
# perf 6.1 reads these from a pipe, but its report refuses them from a file ("failed to process
# type"): the file has no HEADER_COMPRESSED feature, or no TRACING_DATA at the expected offset.
NO_STATS = {"stored compressed pipe", "stored pipe of tracepoints"}


class PerfKinds(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.plain = pathlib.Path(cls.shared.name) / "plain.data"
        status, _, err = cls.make(KINDS["plain"], cls.plain)
        assert status == 0, err

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    @classmethod
    def make(cls, commands, out):
        script = re.sub(r"\bOUT\b", str(out), re.sub(r"\bIN\b", str(cls.plain), commands))
        return harness.run("bash", "-c", script, cwd=cls.shared.name,
                           env=harness.perf_environment())

    def test_the_samples_and_records_are_those_that_perf_reads(self):
        for kind, commands in KINDS.items():
            with self.subTest(kind):
                data = self.dir / (re.sub(r"\W+", "-", kind) + ".data")
                status, _, err = self.make(commands, data)
                if "kcore is not readable" in err:
                    self.skipTest("this machine has no /proc/kcore")
                self.assertEqual(status, 0, err)
                self.assert_perf_and_inspect_agree(kind, data)

    def assert_perf_and_inspect_agree(self, kind, data):
        table = self.ours("--samples", data)
        self.assertEqual(table, self.samples_in_perf(data))
        if kind != "counters alone":
            self.assertGreater(len(table.splitlines()), 5)
        if kind not in NO_STATS:
            self.assertEqual(self.our_stats(data), harness.perf_stats(data))
        if data.is_file():
            self.assert_same_from_stdin(data)

    def ours(self, option, data):
        status, out, err = harness.run(harness.INSPECT, option, data)
        self.assertEqual((status, err), (0, ""))
        return out

    def samples_in_perf(self, data):
        table = self.dir / "samples.tsv"
        empty = self.dir / "no-symbols"
        empty.mkdir(exist_ok=True)
        status, _, err = harness.run(
            "perf", "script", "-i", data, "--symfs", empty, "--no-inline", "--no-itrace", "-s",
            SCRIPT, env=dict(harness.perf_environment(), SAMPLES=str(table)))
        self.assertEqual(status, 0, err)
        return table.read_text()

    def our_stats(self, data):
        out = self.ours("--stats", data)
        return {name: int(count) for name, count in re.findall(
            r"^ *(\w+) events: +(\d+)(?:  \(.*)?$", out.split(" stats:", 2)[1], re.MULTILINE)}

    def assert_same_from_stdin(self, data):
        """Compares the output for a seekable file on stdin and for a pipe."""
        for option in ("--samples", "--stats", "--records"):
            want = self.ours(option, data)
            for how in (f"{harness.INSPECT} {option} - < {data}",
                        f"cat {data} | {harness.INSPECT} {option} -"):
                status, out, err = harness.shell(how, self.dir)
                self.assertEqual((status, err), (0, ""), how)
                self.assertEqual(out, want, how)


if __name__ == "__main__":
    harness.require("perf")
    harness.require_sample_rate(499)
    options = harness.run("perf", "version", "--build-options")[1]
    if not re.search(r"libpython: \[ on", options):
        harness.skip("this perf runs no scripts: it was built without libpython")
    harness.main()

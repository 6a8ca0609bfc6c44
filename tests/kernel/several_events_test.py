# SPDX-License-Identifier: Apache-2.0
"""One recording of clocks, counters, a system call and two sets, read by all readers: each must count
the samples of each event, and print the fields of the tracepoints as it does for perf's recording."""

import collections
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time

import harness
import provoke

GETPPID, SENT, RECEIVED, LOST = ("syscalls:sys_enter_getppid", "tcp:tcp_send_reset",
                                 "tcp:tcp_receive_reset", "skb:kfree_skb")
TRACEPOINTS = (GETPPID, SENT, RECEIVED, LOST)
EVENTS = ("cpu-clock", "page-faults", *TRACEPOINTS)
OPTIONS = ["-F", "499", "-e", f"cpu-clock,page-faults/period=1/,{GETPPID},tcpreset", "-e", "packetloss"]
RECOVER = str(harness.BIN / "perftape-recover")
# What differs from run to run.
VARIES = r"0x[0-9a-f]{9,}|(?<=port=)(?!2400[1-5]\b)\d+|(?<=127\.0\.0\.1:)(?!2400[1-5]\b)\d+|(?<=cookie=)\w+"


def traced(data):
    """{tracepoint: what perf prints of its samples, sorted}. A first round may have one lost sample
    of a clock and no other yet."""
    lines = collections.defaultdict(list)
    for line in provoke.script(data, "-G", "-F", "event,trace", may_have_lost=True).splitlines():
        match = re.match(r"\s*(\w+:\w+): ?(.*)", line)
        if match:
            lines[match.group(1)].append(re.sub(VARIES, "X", match.group(2)))
    return {event: sorted(found) for event, found in lines.items()}


def hotspots_counts(stream):
    """{event: samples} of hotspot's stream (perfparser/app/perfunwind.h, EventType): messages with
    their size in front, in Qt's QDataStream."""
    string_type, attributes_type, sample_types = 5, 11, (13, 14)
    strings, names, counts = {}, {}, collections.Counter()
    at = len(b"QPERFSTREAM\0") + 4
    while at < len(stream):
        size, = struct.unpack_from("<I", stream, at)
        message = stream[at + 4:at + 4 + size]
        at += 4 + size
        if message[0] == string_type:
            number, length = struct.unpack_from(">II", message, 1)
            strings[number] = message[9:9 + length].decode()
        elif message[0] == attributes_type:
            number, _, _, name = struct.unpack_from(">IIQI", message, 1)
            names[number] = name
        elif message[0] in sample_types:
            frames, = struct.unpack_from(">I", message, 21)
            _, attribute = struct.unpack_from(">II", message, 25 + 4 * frames + 1)
            counts[attribute] += 1
    return {strings[names[attribute]]: count for attribute, count in counts.items()}


# The file grew after its size was read and before its header was.
GREW_WHILE_READ = "bytes beyond the end of the file"


class SeveralEvents(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.program = provoke.build(cls.shared.name)
        cls.data = pathlib.Path(cls.shared.name) / "perf.data"
        status, out, err = harness.run(harness.RECORD, *OPTIONS, "-o", cls.data, "--", cls.program, "all",
                                       cwd=cls.shared.name)
        assert status == 0, err
        cls.counters = provoke.counters(out)
        cls.counts = provoke.event_counts(cls.data)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def assert_perf_reports(self, data, counts):
        """Checks perf report and perftape-inspect --validate, which must have no complaints."""
        status, out, err = harness.run("perf", "report", "--stdio", "-g", "none", "-F", "sample,sym", "-t",
                                       "|", "-i", data, env=harness.perf_environment())
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        self.assertEqual(self.report_counts(out), counts)
        self.assert_valid(data)

    # hotspot reads no compressed records.
    def assert_valid(self, data, is_compressed=False):
        status, out, err = harness.run(harness.INSPECT, "--validate", data)
        findings = re.findall(r"^\S+ (?:error|warning) (\S+):", out, re.MULTILINE)
        if is_compressed:
            findings = [rule for rule in findings if rule != "compressed-foreign"]
        # On a busy machine samples of the clock may be lost, which is not an error of the file.
        self.assertEqual([rule for rule in findings if not rule.startswith("lost-")], [], out + err)

    def report_counts(self, report):
        counts, event = collections.Counter(), None
        for line in report.splitlines():
            match = re.match(r"# Samples: .* of event '(.*)'", line)
            if match:
                event = match.group(1)
            elif line.strip() and not line.startswith("#"):
                counts[event] += int(line.split("|")[0])
        return counts

    def test_each_event_has_the_count_of_the_kernel(self):
        self.assertEqual(set(self.counts), set(EVENTS))
        self.assertEqual(self.counts[GETPPID], 300)
        self.assertEqual(self.counts[SENT], self.counters["OutRsts"])
        self.assertEqual(self.counts[RECEIVED], self.counters["Received"])
        # A refused connection loses its SYN, too.
        refused = 20
        self.assertEqual(self.counts[LOST],
                         self.counters["RcvbufErrors"] + self.counters["NoPorts"] + refused)
        self.assertGreaterEqual(self.counts["page-faults"], self.counters["Minor"] + self.counters["Major"])
        self.assert_perf_reports(self.data, self.counts)

    def test_hotspot_counts_the_samples_of_each_event(self):
        if not pathlib.Path(harness.PERFPARSER).exists():
            self.skipTest("hotspot is not installed")
        out = self.dir / "stream"
        status, _, err = harness.run("timeout", "60", harness.PERFPARSER, "--input", self.data, "--output",
                                     out, timeout=90)
        self.assertEqual(status, 0, err)
        self.assertEqual(hotspots_counts(out.read_bytes()), self.counts)

    def test_fields_are_those_of_perfs_recording(self):
        theirs = self.dir / "theirs.data"
        status, _, err = harness.run("perf", "record", "-q", "-e", ",".join(TRACEPOINTS), "-o", theirs, "--",
                                     self.program, "all", cwd=self.dir, env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        mine, theirs = traced(self.data), traced(theirs)
        for event in TRACEPOINTS:
            self.assertEqual(mine[event], theirs[event])

    def test_a_pipe_with_and_without_compression(self):
        for options in [], ["-z"]:
            with self.subTest(options):
                pipe = self.dir / f"pipe{len(options)}.data"
                with open(pipe, "wb") as out:
                    subprocess.run([harness.RECORD, "-q", *OPTIONS, *options, "-o", "-", "--", self.program,
                                    "all"], stdout=out, stderr=subprocess.DEVNULL, check=True, cwd=self.dir,
                                   timeout=harness.TIMEOUT_S)
                for command in ("perf report --stdio -g none -F sample,sym -t '|' -i -",
                                "perf script -i - -F event,trace,ip,sym"):
                    with open(pipe, "rb") as stdin:
                        done = subprocess.run(["sh", "-c", command], stdin=stdin, capture_output=True,
                                              text=True, env=harness.perf_environment(), check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(re.sub(r"'\w+' not valid for .*\n", "", done.stderr), "")
                    if "report" in command:
                        counts = self.report_counts(done.stdout)
                    else:
                        self.assertEqual(len(re.findall("reason: ", done.stdout)), counts[LOST])
                self.assertEqual({event: counts[event] for event in TRACEPOINTS},
                                 {event: self.counts[event] for event in TRACEPOINTS})
                status, out, err = harness.run(harness.INSPECT, "--stats", pipe)
                self.assertEqual((status, err), (0, ""))

    def test_a_compressed_file(self):
        data = self.dir / "z.data"
        self.record("-q", "-z", *OPTIONS, "-o", data, "--", self.program, "all")
        self.assertEqual(traced(data), traced(self.data))

    def test_the_bundle_can_be_removed_and_embedded(self):
        copy, bundle = self.dir / "copy.data", self.dir / "symbols.tar.zst"
        copy.write_bytes(self.data.read_bytes())
        for command in (["list", copy], ["extract", copy, "-C", self.dir / "symbols"],
                        ["strip", copy]):
            status, _, err = harness.run(harness.BUNDLE, *command, cwd=self.dir)
            self.assertEqual(status, 0, err)
        self.assertLess(copy.stat().st_size, self.data.stat().st_size)
        self.assert_perf_reports(copy, self.counts)
        self.assertEqual(traced(copy), traced(self.data))
        self.record("-q", *OPTIONS, "--bundle", bundle, "-o", self.dir / "second.data", "--", self.program,
                    "all")
        status, _, err = harness.run(harness.BUNDLE, "embed", bundle, copy)
        self.assertEqual(status, 0, err)
        self.assert_perf_reports(copy, self.counts)

    def test_what_is_recovered_of_a_cut_file_has_its_fields(self):
        whole = self.data.read_bytes()
        offset, size = struct.unpack_from("<QQ", whole, 40)
        everything = traced(self.data)
        kept = []
        for part in range(1, 12):
            cut, recovered = self.dir / "cut.data", self.dir / "recovered.data"
            cut.write_bytes(whole[:offset + size * part // 11 - part])
            status, out, err = harness.run(RECOVER, cut, "-o", recovered, "-f")
            self.assertIn(status, (0, 3), out + err)
            found = traced(recovered)
            for event, lines in found.items():
                self.assertEqual(collections.Counter(lines) - collections.Counter(everything[event]), {})
            kept.append(sum(map(len, found.values())))
            self.assert_valid(recovered)
        print("samples of tracepoints in the recovered files:", *kept)
        self.assertEqual(kept, sorted(kept))
        self.assertGreater(kept[-2], 0)

    def test_the_file_can_be_read_at_every_instant_and_after_a_kill(self):
        for attempt in range(6):
            data = self.dir / f"killed{attempt}.data"
            recorder = self.spawn(harness.RECORD, "-q", *OPTIONS, "-o", data, "--", self.program, "all",
                                  cwd=self.dir, stdout=subprocess.DEVNULL)
            while not data.exists():
                self.assertIsNone(recorder.poll())
                time.sleep(0.01)
            for _ in range(attempt):
                self.assert_fields_are_readable(data, is_growing=True)
                time.sleep(0.1)
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
            self.assert_fields_are_readable(data)
            recovered = self.dir / "recovered.data"
            status, out, err = harness.run(RECOVER, data, "-o", recovered, "-f")
            self.assertIn(status, (0, 3), out + err)
            found = traced(recovered)
            for event, lines in traced(data).items():
                self.assertEqual(collections.Counter(lines) - collections.Counter(found[event]), {})

    def assert_fields_are_readable(self, data, is_growing=False):
        for event, lines in traced(data).items():
            self.assertIn(event, TRACEPOINTS)
            self.assertEqual([line for line in lines if "=" not in line and event != GETPPID], [])
        status, out, err = harness.run(harness.INSPECT, "--samples", "--fields", data)
        while is_growing and GREW_WHILE_READ in err:
            status, out, err = harness.run(harness.INSPECT, "--samples", "--fields", data)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([line for line in out.splitlines() if line.startswith(LOST)
                          and "\treason=" not in line and " reason=" not in line], [])

    def test_folded_of_each_event(self):
        status, _, err = harness.run(harness.CONVERT, self.data, "-o", self.dir / "x-%e.folded")
        self.assertEqual(status, 0, err)
        for event in EVENTS:
            total, _, stacks = harness.folded_counts(self.dir / f"x-{re.sub(':', '_', event)}.folded")
            self.assertEqual(total, self.counts[event], event)
            one = self.dir / "one.folded"
            status, _, err = harness.run(harness.CONVERT, "-f", "--event", event, self.data, "-o", one)
            self.assertEqual(status, 0, err)
            self.assertEqual(harness.folded_counts(one)[2], stacks)
        self.assertTrue(any(re.search(";send_to_closed_port;", stack) for stack in stacks), stacks)

    def test_pprof_has_a_sample_type_for_each_event(self):
        if not harness.shutil.which("go"):
            self.skipTest("go is not installed")
        profile = self.dir / "x.pb.gz"
        status, _, err = harness.run(harness.CONVERT, self.data, "-o", profile)
        self.assertEqual(status, 0, err)
        status, out, err = harness.run("go", "tool", "pprof", "-symbolize=none", "-raw", profile)
        self.assertEqual(status, 0, err)
        types, *lines = out[out.index("Samples:\n"):out.index("\nLocations")].splitlines()[1:]
        units = {"cpu-clock": "nanoseconds"}
        self.assertEqual(types.replace("[dflt]", "").split(),
                         [column for event in EVENTS for column in
                          (f"{event}_sample/count", f"{event}_event/{units.get(event, 'count')}")])
        sums = [0] * 2 * len(EVENTS)
        for line in lines:
            values = re.match(r"^\s*((?:-?\d+\s+)*-?\d+):", line)
            if values:
                sums = [a + int(b) for a, b in zip(sums, values.group(1).split())]
        self.assertEqual(dict(zip(EVENTS, sums[::2])), self.counts)
        self.assertEqual(sums[3::2], sums[2::2])  # each hit counts once, except for the clock

    def test_perf_data_written_again_is_the_same(self):
        for options in [], ["-z"], ["--event", f"{LOST},{SENT}"]:
            with self.subTest(options):
                again = self.dir / "again.data"
                status, _, err = harness.run(harness.CONVERT, "-f", *options, self.data, "-o", again)
                self.assertEqual(status, 0, err)
                want = {event: lines for event, lines in traced(self.data).items()
                        if "--event" not in options or event in (LOST, SENT)}
                self.assertEqual(traced(again), want)
                self.assert_valid(again, "-z" in options)


if __name__ == "__main__":
    harness.require("perf", "cc")
    harness.main()

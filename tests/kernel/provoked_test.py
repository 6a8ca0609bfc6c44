# SPDX-License-Identifier: Apache-2.0
"""Sets of events against the kernel's own counters. A program causes each event from a function of
its own, and prints the counters of its network namespace, of its control group and of itself. The
recording must have as many samples, with the stacks that caused them."""

import collections
import contextlib
import json
import os
import pathlib
import re
import tempfile

import harness
import provoke

ATTEMPTS = 8
KFREE_SKB = "skb:kfree_skb"
FORMAT = "events/skb/kfree_skb/format"


def reason_numbers():
    """{name: number} of the drop reasons of this kernel, or nothing before Linux 5.17."""
    for tracefs in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        with contextlib.suppress(OSError):
            text = (pathlib.Path(tracefs) / FORMAT).read_text(encoding="utf-8")
            return {name: int(number) for number, name in re.findall(r'\{ (\d+), "(\w+)" \}', text)}
    return {}


@contextlib.contextmanager
def memory_limit(size):
    """A control group with this limit. Yields (its cgroup.procs, a function that returns the number of
    processes that were killed in it); nothing where there is no memory controller."""
    groups = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"),
              ("/sys/fs/cgroup", "memory.max", "memory.events")]
    for root, limit, events in groups:
        group = pathlib.Path(root) / f"perftape-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            group.mkdir()
            try:
                (group / limit).write_text(str(size), encoding="ascii")
                with contextlib.suppress(OSError):
                    (group / "memory.swap.max").write_text("0", encoding="ascii")
            except OSError:
                group.rmdir()
                continue

            def killed(path=group / events):
                return int(re.search(r"^oom_kill (\d+)$", path.read_text(encoding="ascii"),
                                     re.MULTILINE).group(1))
            try:
                yield group / "cgroup.procs", killed
            finally:
                group.rmdir()
            return
    yield None


class Provoked(harness.RecordingTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.program = provoke.build(cls.shared.name)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def setUp(self):
        super().setUp()
        self.data = self.dir / "perf.data"

    def provoke(self, options, *scenario):
        """Records the program; returns (its counters, the samples). The kernel skips the hits of a
        timer that interrupts another program's bpf(2) call. Where it did, records once more."""
        for _ in range(ATTEMPTS):
            out, _ = self.record("-q", *options, "-o", self.data, "--json", self.dir / "summary.json",
                                 "--", self.program, *scenario)
            skipped = json.loads((self.dir / "summary.json").read_text())["skipped_hits"]
            if skipped == 0:
                break
            print(f"{skipped} hits skipped, {len(provoke.hits(self.data))} samples")
        else:
            self.skipTest("other programs of this machine use bpf(2) all the time")
        status, text, err = harness.run(harness.INSPECT, "--validate", self.data)
        self.assertEqual((status, err), (0, ""), text)
        counters, found = provoke.counters(out), provoke.hits(self.data)
        print(counters, dict(provoke.event_counts(self.data)))
        return counters, found

    def hits_of_other_tasks(self):
        """The hits of each event that are no samples, because a task ran that is not recorded."""
        events = json.loads((self.dir / "summary.json").read_text())["events"]
        return collections.Counter({event["name"]: sum(cpu["overflows"] for cpu in event["other_tasks"])
                                    for event in events})

    def assert_caused_by(self, found, count, *functions):
        """Checks the number of samples, and that the stack of each has these functions."""
        self.assertEqual(len(found), count)
        self.assertGreater(count, 0)
        for hit in found:
            self.assertTrue(set(functions) <= set(hit.stack), hit)

    def with_reason(self, found, reason):
        return [hit for hit in found if hit.trace.endswith(f"reason: {reason}")]

    def test_packets_that_a_full_buffer_and_a_closed_port_lose(self):
        counters, found = self.provoke(["-e", "packetloss"], "packets")
        full, closed = self.with_reason(found, "SOCKET_RCVBUFF"), self.with_reason(found, "NO_SOCKET")
        self.assert_caused_by(full, counters["RcvbufErrors"], "fill_receive_buffer", "main")
        self.assert_caused_by(closed, counters["NoPorts"], "send_to_closed_port", "main")
        self.assertEqual(len(found), len(full) + len(closed))
        self.assertEqual({hit.event for hit in found}, {KFREE_SKB})
        self.assertTrue(any(name.startswith("udp_") for name in full[0].stack), full[0])

        counts, err = harness.perf_report(self.data, extra=["--children", "--no-call-graph"])
        self.assertEqual(err, "")
        self.assertEqual(counts["[.] fill_receive_buffer"], 0)  # it has no samples of its own
        status, out, err = harness.run(
            "perf", "report", "--stdio", "--children", "-g", "none", "-F", "overhead_children,sym", "-i",
            self.data, env=harness.perf_environment())
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        share = 100 * len(full) / len(found)
        self.assertIn(f"{share:.2f}%  [.] fill_receive_buffer", out)

    def test_the_reason_is_in_the_fields_and_labels_of_all_tools(self):
        self.provoke(["-e", "packetloss"], "packets")
        numbers = reason_numbers()
        status, out, err = harness.run(harness.INSPECT, "--samples", "--fields", self.data)
        self.assertEqual((status, err), (0, ""))
        full = len(re.findall(rf"\breason={numbers['SOCKET_RCVBUFF']}$", out, re.MULTILINE))
        closed = len(re.findall(rf"\breason={numbers['NO_SOCKET']}$", out, re.MULTILINE))
        self.assertEqual(full + closed, len(out.splitlines()) - 1)
        self.assertEqual(closed, 100)

        status, _, err = harness.run(harness.CONVERT, "-q", self.data, "--labels", "field:reason", "-o",
                                     self.dir / "x.pb.gz")
        self.assertEqual((status, err), (0, ""))
        if not harness.shutil.which("go"):
            return
        status, out, err = harness.run("go", "tool", "pprof", "-symbolize=none", "-tags",
                                       self.dir / "x.pb.gz", env=dict(os.environ, PPROF_TMPDIR=str(self.dir)))
        self.assertEqual(status, 0, err)
        for name, count in (("SOCKET_RCVBUFF", full), ("NO_SOCKET", closed)):
            self.assertRegex(out, rf"\b{count}\.0 \([^)]*\): {numbers[name]}\n")

    def test_a_condition_takes_the_name_of_a_reason(self):
        counters, found = self.provoke(["-e", "packetloss/if=reason==NO_SOCKET/"], "packets")
        self.assert_caused_by(found, counters["NoPorts"], "send_to_closed_port")
        counters, found = self.provoke(["-e", f"{KFREE_SKB}/if=reason>=SOCKET_FILTER/"], "packets")
        self.assert_caused_by(found, counters["RcvbufErrors"], "fill_receive_buffer")
        status, _, err = harness.run(harness.RECORD, "-e", "packetloss/if=reason==NO_SOKET/", "true",
                                     cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("did you mean NO_SOCKET?", err)

    def test_segments_with_a_wrong_checksum(self):
        counters, found = self.provoke(["-e", "packetloss"], "damage")
        self.assert_caused_by(self.with_reason(found, "TCP_CSUM"), counters["InErrs"],
                              "send_damaged_segments")

    def test_resets_that_were_sent_and_received(self):
        counters, found = self.provoke(["-e", "tcpreset"], "resets")
        sent = [hit for hit in found if hit.event == "tcp:tcp_send_reset"]
        received = [hit for hit in found if hit.event == "tcp:tcp_receive_reset"]
        self.assertEqual(len(sent) + len(received), len(found))
        self.assert_caused_by(sent, counters["OutRsts"], "main")
        self.assert_caused_by(received, counters["Received"], "main")
        for each in (sent, received):
            refused = [hit for hit in each if "connect_to_closed_port" in hit.stack]
            aborted = [hit for hit in each if "abort_connections" in hit.stack]
            self.assertEqual((len(refused), len(aborted)), (20, 10))

    # Timers send these segments, whatever process runs. In the time of perftape-record they are only
    # counted.
    def test_segments_and_answers_that_were_sent_again(self):
        counters, found = self.provoke(["-a", "-e", "tcpretrans"], "retransmit")
        data = [hit for hit in found if hit.event == "tcp:tcp_retransmit_skb" and "dport=24003" in hit.trace]
        answers = [hit for hit in found
                   if hit.event == "tcp:tcp_retransmit_synack" and "sport=24004" in hit.trace]
        counted = self.hits_of_other_tasks()
        print("in the time of the recorder:", dict(counted))
        self.assert_caused_by(data, len(data), "tcp_retransmit_timer", "handle_softirqs")
        self.assert_caused_by(answers, len(answers), "reqsk_timer_handler", "handle_softirqs")
        # The counters are those of the program's network namespace, the hits those of all.
        missing = counters["RetransSegs"] - len(data) - len(answers)
        self.assertGreaterEqual(missing, 0)
        self.assertLessEqual(missing, counted.total())

    def test_processes_that_were_killed_for_memory(self):
        with memory_limit(30 << 20) as group:
            if group is None:
                self.skipTest("there is no control group with a limit of memory")
            procs, killed = group
            counters, found = self.provoke(["-e", "oom"], "memory", str(procs))
            self.assertEqual(counters["Killed"], killed())
        self.assert_caused_by(found, counters["Killed"], "exhaust_memory", "main")
        for hit in found:
            self.assertEqual((hit.event, hit.comm), ("oom:mark_victim", "provoke"))
            self.assertRegex(hit.trace, r"pid=\d+")
            self.assertTrue(any("fault" in name for name in hit.stack), hit)

    def test_page_faults_from_memory_and_from_the_disk(self):
        counters, found = self.provoke(["-e", "minor-faults/period=1/,major-faults/period=1/"], "faults")
        minor = [hit for hit in found if hit.event == "minor-faults" and "touch_pages" in hit.stack]
        self.assert_caused_by(minor, counters["Minor"], "touch_pages", "main")
        major = [hit for hit in found if hit.event == "major-faults" and "read_pages" in hit.stack]
        self.assertEqual(len(major), counters["Major"])
        if not major:
            self.skipTest(f"{self.dir} is not on a disk")
        self.assertIn("main", major[0].stack)


if __name__ == "__main__":
    harness.require("perf", "cc")
    harness.main()

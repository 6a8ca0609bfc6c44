# SPDX-License-Identifier: Apache-2.0
"""Latency probes in the guests: kernel/latency.c makes calls there whose number it knows. The recordings are checked
here, as those of kernel/latency_test.py."""

import subprocess

from recordings import Case

import latency_test
from latency_test import EBADF, ECONNREFUSED, ENOENT

PROGRAM = "/latency"


def case(name, events, stack, *scenario):
    return Case(["-q", "-e", events, "--bundle", f"{name}.bundle"], stack, 1, (PROGRAM, *scenario))


CASES = {name: case(name, *words) for name, words in {
    "latency_default": ("latency/min=0ns/", "connect_to", "connect"),
    "latency_sync": ("latency:fs/min=0ns/", "sync_file", "sync", "/tmp/file"),
    "latency_cpu": ("latency:cpu/min=1ms/", "compete", "queue"),
    "latency_connect": ("latency:net/min=0ns/", "connect_to", "connect"),
    "latency_dns": ("latency:net/min=0ns/", "ask", "names"),
    "latency_read": ("latency:read/min=0ns/", "read_pipe", "reads"),
    "latency_futex": ("latency:futex/min=20ms/", "wait_for_lock", "lock"),
    "latency_fs": ("latency:fs/min=0ns/", "fail_calls", "errors"),
    "latency_syscall": ("latency:syscall/min=0ns/", "fail_calls", "errors"),
    "latency_block": ("latency:block/min=0ns/", "read_directly", "direct", "/dev/nvme0n1"),
}.items()}


def compile_program(compiler, flags, directory):
    """Returns the program, and its path in the guest without the slash."""
    program = directory / "latency"
    subprocess.run([compiler, "-O1", "-static", "-pthread", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                    "-fasynchronous-unwind-tables", *flags, latency_test.SOURCE, "-o", program], check=True)
    return program, PROGRAM.lstrip("/")


class LatencyTests:
    """What the program's calls were, for subclasses of recordings.GuestTest that have these cases."""

    def counts(self, name):
        """Sets self.own, what the program printed. Returns {probe: what was counted of its calls}."""
        self.own = latency_test.printed((self.out / f"{name}.out").read_text())
        notes = latency_test.notes_of(self.out / f"{name}.bundle")
        self.assertEqual(notes["latency_lost"], [])
        return {noted["probe"]: noted for noted in notes["latency"] if noted["pid"] == self.own["pid"][0]}

    def calls(self, name, event):
        """The samples of its calls."""
        calls = latency_test.calls_of(self.out / f"{name}.data", "--kallsyms", self.out / "kallsyms")
        return [call for call in calls
                if (call.event, call.pid) == (event, self.own["pid"][0]) and call.stack != ["fast_calls"]]

    def test_counts_of_files(self):
        self.assertEqual(self.counts("latency_sync")["fsync"]["count"], 3)
        calls = self.calls("latency_sync", "fsync")
        self.assertEqual([call.fields["file"] for call in calls], ["/tmp/file"] * 3)
        counts = self.counts("latency_fs")
        self.assertEqual((counts["read"]["errors"], counts["open"]["errors"]), ([[EBADF, 5]], [[ENOENT, 4]]))
        calls = self.calls("latency_fs", "open")
        self.assertEqual([call.fields["file"] for call in calls], ["/nonexistent/file"] * 3 + ["/etc/passwd"])

    def test_counts_of_reads(self):
        count = self.counts("latency_read")["read"]["count"]
        calls = self.calls("latency_read", "read")
        # The process writes and reads nothing else: the program is static.
        self.assertEqual((count, len(calls)), (len(self.own["read"]), len(self.own["read"])))
        for call, own in zip(calls, self.own["read"]):
            self.assertLessEqual(call.period, own)

    def test_counts_of_waits_for_a_lock(self):
        self.counts("latency_futex")
        calls = [call for call in self.calls("latency_futex", "futex")
                 if int(call.fields["lock"], 16) == self.own["lock"][0]]
        self.assertEqual(len(calls), 1)
        self.assertLessEqual(calls[0].period, self.own["futex"][0])

    def test_counts_of_waits_for_a_cpu(self):
        count = self.counts("latency_cpu")["runq"]["count"]
        calls = self.calls("latency_cpu", "runq")
        self.assertLessEqual(len(calls), count)
        # Three threads run for 300 ms on this CPU. The first one may have waited for another before.
        on_cpu = [call for call in calls if call.fields["cpu"] == "0"]
        self.assertGreater(sum(call.period for call in on_cpu), self.own["delay"][0])

    def test_counts_of_connections(self):
        counts = self.counts("latency_default")
        self.assertEqual((counts["tcp-connect"]["count"], counts["tcp-connect"]["errors"]), (6, [[ECONNREFUSED, 2]]))
        self.assertNotIn("tcp-accept", counts)
        counts = self.counts("latency_connect")
        self.assertEqual((counts["tcp-connect"]["count"], counts["tcp-connect"]["errors"]), (6, [[ECONNREFUSED, 2]]))
        self.assertEqual(counts["tcp-accept"]["count"], 4)
        self.assertEqual(len(self.calls("latency_connect", "tcp_accept")), 4)

    def test_counts_of_queries(self):
        self.assertEqual(self.counts("latency_dns")["dns"]["errors"], [[2, 1], [3, 1], [110, 2]])
        calls = self.calls("latency_dns", "dns")
        self.assertEqual([call.fields["error"] for call in calls], ["0", "3", "2", "110", "110"])
        self.assertEqual({call.fields["name"] for call in calls}, {"www.example.com"})

    def test_counts_of_system_calls(self):
        counted = self.counts("latency_syscall")["syscall"]
        self.assertEqual(counted["errors"], [[ENOENT, 4], [EBADF, 5]])
        self.assertEqual(len(self.calls("latency_syscall", "syscall")), counted["count"])

    def test_counts_of_requests(self):
        self.assertEqual(self.counts("latency_block")["block-io"]["count"], self.own["blocks"][0])
        calls = self.calls("latency_block", "block_io")
        self.assertEqual([call.fields["bytes"] for call in calls], ["4096"] * self.own["blocks"][0])

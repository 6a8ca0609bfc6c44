# SPDX-License-Identifier: Apache-2.0
"""Several events in one recording: each with exact counts against the kernel's own, with its name in perf
report, and tracepoints with the fields that perf prints for its own recording."""

import collections
import os
import re
import signal
import subprocess
import sys
import time

import harness

# Counts what it does itself, by the kernel's counters, between two times of the clock of samples.
PROGRAM = """
import mmap, os, resource, sys, time

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def switches():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_nvcsw + usage.ru_nivcsw

def measure(count, work):
    work(), count(), time.monotonic_ns()  # no first calls below
    memory = mmap.mmap(-1, PAGES * 4096)
    before, start = count(), time.monotonic_ns()
    work(memory)
    end, after = time.monotonic_ns(), count()
    print(start, end, after - before)

PAGES = 1000

def touch(memory=None):
    for page in range(PAGES if memory else 0):
        memory[page * 4096] = 1

def sleep(memory=None):
    for _ in range(200):
        time.sleep(0.0002)

measure(faults, touch)
measure(switches, sleep)
for _ in range(1000):
    os.getppid()
for size in range(10):
    os.pread(0, size, 0)
"""
PYTHON = os.path.realpath(sys.executable)
PREAD = "syscalls:sys_enter_pread64"
GETPPID = "syscalls:sys_enter_getppid"


def script(data, fields):
    status, out, err = harness.run("perf", "script", "-i", data, "-F", fields,
                                   env=harness.perf_environment())
    assert status == 0, err
    return out.splitlines()


def counts_of(data):
    """{event: samples}, without modifiers' empty ends."""
    return collections.Counter(line.strip().rstrip(":") for line in script(data, "event") if line.strip())


def traced_lines(data, event):
    """What perf prints of a tracepoint, with the addresses and ids left out."""
    lines = [line.strip() for line in script(data, "event,trace") if line.strip().startswith(event + ":")]
    return sorted(re.sub(r"0x[0-9a-f]{9,}|pid=\d+", "X", line) for line in lines)


class Events(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "program.py"
        self.program.write_text(PROGRAM)
        self.input = self.dir / "input"
        self.input.write_text("0123456789")

    def record_program(self, *arguments):
        with open(self.input, encoding="ascii") as stdin:
            done = subprocess.run([harness.RECORD, *arguments, "-o", "perf.data", "--", PYTHON,
                                   str(self.program)], cwd=self.dir, stdin=stdin, text=True,
                                  capture_output=True, timeout=harness.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_counts_agree_with_those_of_the_kernel(self):
        out, err = self.record_program(
            "-e", f"cpu-clock,minor-faults/period=1/,context-switches/period=1/,{GETPPID}")
        data = self.dir / "perf.data"
        times = collections.defaultdict(list)
        for line in script(data, "time,event"):
            match = re.match(r"\s*(\d+)\.(\d+):\s+(\S+):", line)
            if match:
                times[match.group(3)].append(int(match.group(1)) * 10**9 + int(match.group(2)) * 1000)
        for event, line in zip(("minor-faults", "context-switches"), out.splitlines()):
            start, end, expected = map(int, line.split())
            # perf script shows microseconds.
            seen = sum(start - 1000 <= at <= end for at in times[event])
            print(f"{event}: {seen} of {expected}")
            # A sleep may end before the thread has left its CPU.
            self.assertGreater(expected, 100)
            self.assertLessEqual(abs(seen - expected), 2)
        self.assertEqual(counts_of(data)[GETPPID], 1000)
        self.assertRegex(err, r"samples: \d+ cpu-clock, \d+ minor-faults, \d+ context-switches, 1000 ")

    def test_perf_report_shows_each_event_and_has_no_complaints(self):
        self.record_program("-e", f"cpu-clock,faults/period=1/,{GETPPID}", "-F", "999")
        status, out, err = harness.run("perf", "report", "--stdio", "-i", self.dir / "perf.data",
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        self.assertEqual(harness.perf_complaints(err), "")
        for event in ("cpu-clock", "page-faults", GETPPID):
            self.assertRegex(out, f"Samples: .* of event '{event}'")
        self.assertRegex(out, r"\[\.\] .*getppid")
        status, out, err = harness.run(harness.INSPECT, "--validate", self.dir / "perf.data")
        self.assertEqual(status, 0, out + err)

    def test_fields_of_tracepoints_are_those_of_perfs_recording(self):
        events = f"{PREAD},sched:sched_process_exec,sched:sched_process_exit"
        self.record_program("-e", events)
        with open(self.input, encoding="ascii") as stdin:
            subprocess.run(["perf", "record", "-q", "-e", events, "-o", "theirs.data", PYTHON,
                            str(self.program)], cwd=self.dir, stdin=stdin, check=True,
                           stdout=subprocess.DEVNULL, env=harness.perf_environment())
        for event in events.split(","):
            mine = traced_lines(self.dir / "perf.data", event)
            self.assertEqual(mine, traced_lines(self.dir / "theirs.data", event))
            self.assertGreaterEqual(len(mine), 1, event)

    def test_conditions_and_one_in_n_apply_in_the_kernel(self):
        self.record_program("-e", f"{PREAD}/if=fd==0,if=count>6,if=count!=8/,{GETPPID}/every=10/")
        lines = traced_lines(self.dir / "perf.data", PREAD)
        self.assertEqual([re.search("count: 0x0*([0-9a-f]+)", line).group(1) for line in lines], ["7", "9"])
        periods = [line.split() for line in script(self.dir / "perf.data", "period,event")]
        total = sum(int(period) for period, event in periods if event.startswith(GETPPID))
        # Each CPU counts for itself.
        self.assertLessEqual(abs(total - 1000), 10 * os.cpu_count())
        self.assertLess(counts_of(self.dir / "perf.data")[GETPPID], 101)

    def test_modes_exclude_the_other_one(self):
        self.record_program("-e", "cpu-clock:u,task-clock:k", "-F", "1999")
        modes = collections.defaultdict(set)
        event = None
        for line in script(self.dir / "perf.data", "event,ip"):
            if line.endswith(":") or ": " in line:
                event = line.strip().rstrip(":")
            elif line.strip() and event:
                modes[event].add(int(line.split()[0], 16) >> 63)
                event = None
        self.assertEqual(modes["cpu-clock:u"], {0})
        self.assertEqual(modes["task-clock:k"], {1})

    def test_a_pipe_has_the_fields_too(self):
        status, out, err = harness.shell(
            f"{harness.RECORD} -q -e 'cpu-clock,sched:sched_process_e*' -o - -- true | "
            "perf script -i - -F event,trace 2>&1", self.dir)
        self.assertEqual(status, 0, out + err)
        self.assertRegex(out, r"sched:sched_process_exec: filename=\S*true pid=\d+ old_pid=\d+")

    def test_a_killed_recorder_leaves_a_file_that_opens(self):
        recorder = self.spawn(harness.RECORD, "-e", "cpu-clock,sched:sched_switch", "-a", "-o",
                              self.dir / "perf.data")
        data = self.dir / "perf.data"
        self.wait_for_samples(data)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait(harness.TIMEOUT_S)
        lines = [line for line in script(data, "event,trace") if "sched_switch" in line]
        self.assertGreater(len(lines), 0)
        self.assertIn("==> next_comm=", lines[0])

    def test_the_recorder_does_not_take_hits_from_perf(self):
        recorder = self.spawn(harness.RECORD, "-q", "-e", GETPPID, "-p", os.getpid(), "-o",
                              self.dir / "perf.data")
        self.wait_for_file(self.dir / "perf.data", recorder)
        subprocess.run(["perf", "record", "-q", "-e", GETPPID, "-o", "theirs.data", PYTHON, "-c",
                        "import os\nfor _ in range(500): os.getppid()"], cwd=self.dir, check=True,
                       env=harness.perf_environment())
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)
        self.assertEqual(counts_of(self.dir / "theirs.data")[GETPPID], 500)
        self.assertEqual(counts_of(self.dir / "perf.data")[GETPPID], 500)

    def test_only_the_cpus_asked_for_are_recorded(self):
        for cpu, expected in (("0", 1000), ("1", 0)):
            if os.cpu_count() < 2:
                self.skipTest("one CPU")
            self.record("-q", "-C", cpu, "-e", GETPPID, "-o", "perf.data", "--", "taskset", "-c", "0",
                        PYTHON, "-c", "import os\nfor _ in range(1000): os.getppid()")
            self.assertEqual(counts_of(self.dir / "perf.data")[GETPPID], expected)

    def test_a_set_records_the_resets_of_refused_connections(self):
        connect = ("import socket\n"
                   "closed = socket.socket(); closed.bind(('127.0.0.1', 0))\n"
                   "for _ in range(20):\n"
                   "    try: socket.create_connection(closed.getsockname())\n"
                   "    except ConnectionRefusedError: pass\n")
        self.record("-q", "-e", "tcpreset,packetloss", "-o", "perf.data", "--", PYTHON, "-c", connect)
        counts = counts_of(self.dir / "perf.data")
        self.assertEqual(counts["tcp:tcp_send_reset"], 20)
        self.assertRegex("\n".join(script(self.dir / "perf.data", "event,trace")), "reason: NO_SOCKET")

    def test_missing_events_write_nothing_unless_allowed(self):
        for event, message in (("page-fault", "did you mean page-faults?"),
                               ("sched:sched_swich", "did you mean sched_switch?"),
                               ("sched:sched_switch/if=prev_pit==1/", "did you mean prev_pid?")):
            status, _, err = harness.run(harness.RECORD, "-e", event, "true", cwd=self.dir)
            self.assertEqual(status, 1)
            self.assertIn(message, err)
            self.assertFalse((self.dir / "perf.data").exists())
        _, err = self.record("--allow-missing-events", "-e", "cpu-clock,sched:sched_swich", "true")
        self.assertIn("not recorded", err)

    def test_the_list_has_what_can_be_recorded(self):
        status, out, _ = harness.run(harness.RECORD, "list", "sched:sched_sw*")
        self.assertEqual(status, 0)
        self.assertIn("sched:sched_switch", out)
        status, out, _ = harness.run(harness.RECORD, "-e", "list")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"context-switches OR cs +software event\n")
        self.assertEqual(harness.run(harness.RECORD, "list", "no such event")[0], 1)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

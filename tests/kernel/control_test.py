# SPDX-License-Identifier: Apache-2.0
"""Events that a recorded program, or a time, switches on and off: --control and --delay.

PERFTAPE_CONTROL_RUNS (default 3) is how often a program is recorded that is busy outside of the
region that it marks."""

import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import harness

RUNS = int(os.environ.get("PERFTAPE_CONTROL_RUNS", "3"))
ACK = b"ack\n\0"
# Marks the region in which it is busy as "inside".
PROGRAM = r"""
import os, sys, time
ctl, ack = (os.open(sys.argv[1], os.O_WRONLY), os.open(sys.argv[2], os.O_RDONLY))

def send(command):
    os.write(ctl, command)
    answer = b""
    while not answer.endswith(b"\0"):
        answer += os.read(ack, 5 - len(answer))
    assert answer == b"ack\n\0", answer

def rename(name):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)

def be_busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

send(b"ping\n")
rename("outside")
be_busy(0.1)
rename("inside")
send(b"enable\n")
be_busy(0.2)
send(b"disable\n")
rename("outside")
be_busy(0.1)
"""


class ControlTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="perftape-control-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("ctl", "ack"):
            os.mkfifo(self.dir / name)
        self.program = self.dir / "program.py"
        self.program.write_text(PROGRAM)

    def record(self, *arguments, status=0):
        """Records to the end; returns the summary."""
        got, out, err = harness.run(harness.RECORD, "-o", "p.data", "--json", "p.json", *arguments,
                                    cwd=self.dir)
        self.assertEqual(got, status, err)
        self.out, self.err = out, err
        return json.loads((self.dir / "p.json").read_text())

    def samples(self, event=None):
        """[(comm, time in s)] as perf script reads them."""
        status, out, err = harness.run("perf", "script", "-f", "-i", self.dir / "p.data", "-F",
                                       "comm,time,event")
        self.assertEqual(status, 0, err)
        found = re.findall(r"^\s*(.+?)\s+(\d+\.\d+):\s+(\S+):", out, re.MULTILINE)
        return [(comm, float(at)) for comm, at, name in found if not event or name == event]

    def check_losses(self, summary):
        """Much less is missing than a pause would be: 0.1 s at 999 Hz. A busy machine loses some."""
        self.assertLess(summary["lost_samples"], 30, summary)

    def notes(self):
        status, out, err = harness.run(harness.INSPECT, "--losses", "--json",
                                       self.dir / "p.data")
        self.assertEqual(status, 0, err)
        return json.loads(out)["losses"]

    def start(self, *arguments):
        recorder = subprocess.Popen(
            [harness.RECORD, "-o", "p.data", "--json", "p.json", *arguments], cwd=self.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(recorder.kill)
        return recorder

    def end(self, recorder, status=0):
        self.out, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.err = err.decode(errors="replace")
        self.assertEqual(recorder.returncode, status, self.err)
        return json.loads((self.dir / "p.json").read_text())

    def ask(self, commands, ack, command):
        """Sends a command and returns the answer, which must come before the watchdog does."""
        os.write(commands, command)
        ready, _, _ = select.select([ack], [], [], harness.TIMEOUT_S)
        self.assertTrue(ready, f"no answer to {command}")
        return os.read(ack, 100)

    def open_fifos(self):
        ends = os.open(self.dir / "ctl", os.O_RDWR), os.open(self.dir / "ack", os.O_RDWR)
        for end in ends:
            self.addCleanup(os.close, end)
        return ends


class Regions(ControlTest):
    def check_region(self, *arguments):
        summary = self.record("--control", "fifo:ctl,ack", "-D", "-1", *arguments, "--",
                              sys.executable, self.program, "ctl", "ack")
        comms = [comm for comm, _ in self.samples("cpu-clock")]
        self.assertNotIn("outside", comms)
        self.assertGreater(comms.count("inside"), 10)
        self.assertEqual(set(comms), {"inside"})
        self.check_losses(summary)
        self.assertEqual(summary["off"][0]["times"], 2)
        return summary

    def test_a_busy_loop_outside_of_the_region_has_no_samples(self):
        for _ in range(RUNS):
            self.check_region("-F", "999", "-e", "cpu-clock")
        self.assertEqual(harness.run("perf", "report", "--stdio", "-i", self.dir / "p.data")[0], 0)

    def test_nor_with_other_kinds_of_events(self):
        self.check_region("-F", "999", "-e",
                          "cpu-clock,page-faults,sched:sched_switch,offcpu,latency:syscall,lock")
        self.assertEqual({comm for comm, _ in self.samples()}, {"inside"})

    def test_samples_are_only_where_the_notes_say_on(self):
        self.check_region("-F", "999", "-e", "cpu-clock,sched:sched_switch,offcpu")
        notes = self.notes()
        off = [pause for of in notes["off"] for pause in of["pauses"]]
        for _, at in self.samples():
            for begin, end in off:
                self.assertFalse(begin < at * 1e9 - 1000 and at * 1e9 + 1000 < end, (at, begin, end))

    def test_waits_are_cut_at_the_region(self):
        summary = self.record("-e", "offcpu", "-D", "400-800", "--", "sleep", "1.2")
        self.assertGreater(summary["samples"], 0)
        status, out, _ = harness.run("perf", "script", "-i", self.dir / "p.data", "-F",
                                     "comm,period")
        self.assertEqual(status, 0)
        waits = [int(period) for period in re.findall(r"sleep\s+(\d+)", out)]
        self.assertGreater(sum(waits), 0.3e9)
        self.assertLess(sum(waits), 0.9e9)


class Delay(ControlTest):
    def test_begins_late(self):
        summary = self.record("-F", "999", "-e", "cpu-clock", "-D", "300", "--", harness.BURNER,
                              "--seconds", "0.7")
        self.assertGreater(summary["samples"], 50)
        self.assertGreaterEqual(summary["off"][0]["ns"], 300e6)
        notes = self.notes()
        begin, end = notes["off"][0]["pauses"][0]
        self.assertEqual(begin, notes["start_ns"])
        self.assertGreater(min(at for _, at in self.samples()) * 1e9 + 1000, end)
        self.check_losses(summary)
        self.assertIn("events were off for 0.3", self.err)

    def test_samples_in_ranges(self):
        summary = self.record("-F", "999", "-e", "cpu-clock", "-D", "100-200,400-500", "--",
                              harness.BURNER, "--seconds", "0.8")
        self.assertEqual(summary["off"][0]["times"], 3)
        self.assertEqual(summary["events"][0].get("silent", []), [])
        self.check_losses(summary)

    def test_without_privileges(self):
        if not harness.RATE_LIMIT.exists() or shutil.which("setpriv") is None:
            self.skipTest("setpriv is not installed")
        self.dir.chmod(0o777)
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if paranoid > 2:
            self.skipTest("users may not record")
        status, _, err = harness.run(
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", harness.RECORD, "-F",
            "999", "-o", "p.data", "--json", "p.json", "-D", "300", "--", harness.BURNER,
            "--seconds", "0.7", cwd=self.dir)
        self.assertEqual(status, 0, err)
        notes = self.notes()
        self.assertGreater(min(at for _, at in self.samples()) * 1e9 + 1000,
                           notes["off"][0]["pauses"][0][1])


class Commands(ControlTest):
    def test_are_answered(self):
        commands, ack = self.open_fifos()
        recorder = self.start("--control", "fifo:ctl,ack", "-e", "cpu-clock,page-faults", "-a")
        for command in (b"ping\n", b"disable\n", b"enable page-faults\n", b"evlist\n", b"ping",
                        b"snapshot\n", b"enable nosuch\n", b"stop\n"):
            self.assertEqual(self.ask(commands, ack, command), ACK, command)
        summary = self.end(recorder)
        self.assertEqual(self.out.decode().splitlines()[:2], ["cpu-clock", "page-faults"])
        self.assertIn("commands failed: 2", self.err)
        self.assertEqual({of["event"] for of in summary["off"]}, {"cpu-clock", "page-faults"})

    def test_come_from_inherited_descriptors(self):
        commands, ack = os.pipe(), os.pipe()
        recorder = subprocess.Popen(
            [harness.RECORD, "-o", "p.data", "-a", "--control", f"fd:{commands[0]},{ack[1]}"],
            cwd=self.dir, pass_fds=(commands[0], ack[1]), stderr=subprocess.PIPE)
        self.addCleanup(recorder.kill)
        self.assertEqual(self.ask(commands[1], ack[0], b"ping\n"), ACK)
        self.assertEqual(self.ask(commands[1], ack[0], b"stop\n"), ACK)
        self.assertIsNotNone(recorder.communicate(timeout=harness.TIMEOUT_S))
        self.assertEqual(recorder.returncode, 0)
        for end in (*commands, *ack):
            os.close(end)

    def test_write_the_last_seconds(self):
        commands, ack = self.open_fifos()
        recorder = subprocess.Popen(
            [harness.RECORD, "-o", "r.%n", "-a", "--flight", "30", "--control", "fifo:ctl,ack"],
            cwd=self.dir, stderr=subprocess.PIPE)
        self.addCleanup(recorder.kill)
        self.assertEqual(self.ask(commands, ack, b"snapshot\n"), ACK)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while not (self.dir / "r.1").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.ask(commands, ack, b"stop\n"), ACK)
        recorder.communicate(timeout=harness.TIMEOUT_S)
        status, out, err = harness.run(harness.INSPECT, "--losses", self.dir / "r.1")
        self.assertEqual(status, 0, err)
        self.assertIn("written because of: snapshot", out)


class Hostile(ControlTest):
    def flood(self, what):
        """Floods the FIFO while something is recorded that ends by itself."""
        commands, ack = self.open_fifos()
        os.set_blocking(commands, False)
        recorder = self.start("--control", "fifo:ctl,ack", "-e", "cpu-clock", "--", harness.BURNER,
                              "--seconds", "0.7")
        deadline = time.monotonic() + harness.TIMEOUT_S
        while recorder.poll() is None and time.monotonic() < deadline:
            try:
                os.write(commands, what)
            except BlockingIOError:
                time.sleep(0.001)
        return self.end(recorder)

    def test_floods(self):
        for what in (b"ping\n" * 500, b"x" * 4000, b"\n" * 4000, os.urandom(4000),
                     b"enable\ndisable\n" * 100):
            summary = self.flood(what)
            self.check_losses(summary)
            self.assertIn("samples", summary)
            self.assertEqual(harness.run("perf", "report", "--stdio", "-i",
                                         self.dir / "p.data")[0], 0)
            for name in ("ctl", "ack"):  # empty again
                os.unlink(self.dir / name)
                os.mkfifo(self.dir / name)

    def test_nobody_opens_the_fifos(self):
        summary = self.record("--control", "fifo:ctl,ack", "--", "true")
        self.assertEqual(summary["exit_status"], 0)

    def test_what_is_no_fifo(self):
        for name in ("/dev/null", "p.txt", "absent", "."):
            (self.dir / "p.txt").write_text("enable\n")
            status, _, err = harness.run(harness.RECORD, "-o", "p.data", "--control",
                                         f"fifo:{name}", "--", "true", cwd=self.dir)
            self.assertEqual(status, 1, err)
            self.assertIn(name, err)
            self.assertFalse((self.dir / "p.data").exists())


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

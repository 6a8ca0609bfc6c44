# SPDX-License-Identifier: Apache-2.0
"""Tests recordings of a user without privileges: user code of own processes, by plain perf events.
perf, as the same user, reads each file without a complaint, and finds the same program."""

import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import harness

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
LINE = re.compile(r"^perftape-record: warning: only user code of your own processes is recorded: CAP_BPF and "
                  r"CAP_PERFMON are missing: .*'perftape-doctor'.*$", re.MULTILINE)
# A thread and a process that start while the program is recorded.
STARTS_OTHERS = """
import subprocess, sys, threading, time
def burn():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
sys.stdin.readline()
thread = threading.Thread(target=burn)
thread.start()
child = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
thread.join()
child.wait()
"""


@contextlib.contextmanager
def paranoid(value):
    """Sets kernel.perf_event_paranoid."""
    before = PARANOID.read_text()
    PARANOID.write_text(str(value))
    try:
        yield
    finally:
        PARANOID.write_text(before)


def user_seconds(run):
    """Returns what `run` returns, and the user time of the processes that it ran."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run()
    return result, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


class Unprivileged(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        if int(PARANOID.read_text()) > 2:
            self._stack.enter_context(paranoid(2))
        # The directory of the tools may not be open to others.
        self.tools = {}
        for path in (harness.RECORD, harness.DOCTOR, harness.BURNER):
            self.tools[path] = self.dir / pathlib.Path(path).name
            shutil.copy(path, self.tools[path])
        self.burner = self.tools[harness.BURNER]
        self.dir.chmod(0o755)
        self.own = self.dir / "own"
        self.own.mkdir()
        os.chown(self.own, 65534, 65534)

    def as_user(self, *command):
        return harness.run(*NOBODY, *command, cwd=self.own,
                           env=dict(harness.perf_environment(), HOME=str(self.own)))

    def record_as_user(self, *arguments):
        """Returns the messages of a recorder that succeeds."""
        status, _, err = self.as_user(self.tools[harness.RECORD], *arguments)
        if "kernel.perf_event_max_sample_rate" in err:
            self.skipTest(err.strip())
        self.assertEqual(status, 0, err)
        return err

    def refusal(self, *arguments):
        """Returns the messages of a recorder that refuses."""
        status, out, err = self.as_user(self.tools[harness.RECORD], *arguments)
        self.assertEqual((status, out), (1, ""), err)
        return err

    def report(self, name, sort="sym", extra=()):
        """Returns {name: samples} of perf report, which must not complain."""
        status, out, err = self.as_user("perf", "report", "--stdio", "--no-children", "-g", "none", "-t", "|",
                                        "-F", "sample," + sort, "-i", name, *extra)
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        rows = [line.split("|") for line in out.splitlines() if line.strip() and not line.startswith("#")]
        return {"|".join(part.strip() for part in row[1:]): int(row[0]) for row in rows}

    def assert_valid(self, name):
        status, out, err = harness.run(harness.INSPECT, "--validate", self.own / name)
        self.assertEqual((status, err), (0, ""), out)

    def assert_burner(self, name, **options):
        """Checks that perf finds the functions of the program, and no kernel code."""
        symbols = self.report(name, **options)
        for function in ("burn_matrix", "burn_hash", "burn_sort"):
            self.assertGreater(symbols.get(f"[.] {function}", 0), 10, symbols)
        self.assertEqual([symbol for symbol in symbols if symbol.startswith("[k]")], [])
        self.assertIn("burn-matrix", self.report(name, "comm"))

    def burn(self, *arguments):
        return self.record_as_user("-F", "499", *arguments, "--", self.burner, "--seconds", "1")

    def test_command(self):
        err = self.burn("-o", "perf.data")
        self.assertEqual(len(LINE.findall(err)), 1, err)
        self.assertIn("frame pointers", err)
        self.assertNotIn("CAP_SYSLOG", err)
        self.assertEqual(err.count("warning"), 1, err)
        self.assert_burner("perf.data")
        self.assert_valid("perf.data")
        _, out, _ = self.as_user("perf", "evlist", "-i", "perf.data")
        self.assertEqual(out.split(), ["cpu-clock:u", "dummy:u"])
        _, out, _ = self.as_user("perf", "buildid-list", "-i", "perf.data")
        self.assertIn(f"{harness.build_id(self.burner)} {self.burner}", out)
        stacks = self.as_user("perf", "script", "-F", "ip,sym", "-i", "perf.data")[1].split("\n\n")
        self.assertTrue(any("burn_matrix" in stack and "matrix_worker" in stack and "start_thread" in stack
                            for stack in stacks))

    @harness.timing
    def test_as_many_samples_as_perf(self):
        """In relation to the user time that each recording had."""
        hz = 499
        burner = (self.burner, "--seconds", "2")
        _, ours_s = user_seconds(lambda: self.record_as_user("-q", "--no-bundle", "-F", hz, "-o", "our.data",
                                                             "--", *burner))
        _, perfs_s = user_seconds(lambda: self.as_user("perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-F",
                                                       hz, "-o", "perfs.data", *burner))
        ours, perfs = self.report("our.data"), self.report("perfs.data")
        ratio = (sum(ours.values()) / ours_s) / (sum(perfs.values()) / perfs_s)
        self.assertAlmostEqual(ratio, 1, delta=0.2)
        self.assert_shares_agree(ours, perfs, above=10, within=10)
        for record in ("MMAP2", "COMM", "FORK", "EXIT"):
            counts = []
            for name in ("our.data", "perfs.data"):
                out = self.as_user("perf", "report", "--stats", "-i", name)[1]
                counts.append(int(re.search(rf"\b{record} events: +(\d+)", out)[1]))
            # Our initial state describes the process of the command.
            self.assertAlmostEqual(counts[0], counts[1], delta=1, msg=record)

    def test_page_faults_and_clocks_together(self):
        self.burn("-e", "task-clock,page-faults/period=1/", "-o", "perf.data")
        _, out, _ = self.as_user("perf", "evlist", "-i", "perf.data")
        self.assertEqual(out.split(), ["task-clock:u", "page-faults:u", "dummy:u"])
        self.assert_valid("perf.data")
        self.assertGreater(collections.Counter(
            row["event"] for row in harness.inspect_samples(self.own / "perf.data"))["page-faults:u"], 20)

    def test_copies_of_stacks(self):
        self.burn("--call-graph", "dwarf", "-o", "perf.data")
        self.assert_burner("perf.data")
        self.assert_valid("perf.data")
        _, out, _ = self.as_user("perf", "script", "-F", "ip,sym", "-i", "perf.data")
        self.assertRegex(out, r"burn_matrix(.*\n)+?.*matrix_worker(.*\n)+?.*start_thread")

    def test_no_call_chains(self):
        self.burn("--call-graph", "none", "-o", "perf.data")
        self.assert_burner("perf.data")
        self.assertEqual({row["nframes"] for row in harness.inspect_samples(self.own / "perf.data")}, {"0"})

    def test_compressed(self):
        self.burn("-z", "-o", "perf.data")
        self.assert_burner("perf.data")

    def test_pipe(self):
        status, out, err = self.as_user(
            "bash", "-o", "pipefail", "-c",
            f"{self.tools[harness.RECORD]} -q -F 499 -o - -- {self.burner} --seconds 1 | "
            "perf report --stdio --no-children -g none -i -")
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        self.assertRegex(out, r"perftape-burner +\[\.\] burn_matrix")

    def test_several_files(self):
        self.record_as_user("-q", "-F", "499", "--switch-output=1s", "-o", "r.%n", "--", self.burner,
                            "--seconds", "2.5")
        names = sorted(file.name for file in self.own.glob("r.*"))
        self.assertGreaterEqual(len(names), 2)
        for name in names[:2]:
            self.assert_burner(name)
            self.assert_valid(name)

    def test_flight_recorder_and_aggregation(self):
        self.record_as_user("-q", "-F", "499", "--flight", "30", "-o", "f.%n", "--", self.burner,
                            "--seconds", "1")
        self.assert_burner("f.1")
        self.burn("-q", "-e", "cpu-clock,page-faults/period=1/", "--flight", "30", "--trigger", "page-faults",
                  "-o", "t.%n")
        self.assertTrue((self.own / "t.2").exists(), "one of the trigger, one of the end")
        self.burn("-q", "--aggregate", "100ms", "-o", "aggregated.data")
        self.assert_valid("aggregated.data")
        self.assertIn("[.] burn_matrix", self.report("aggregated.data"))

    def test_summary_says_so(self):
        self.burn("-q", "--json", "summary", "-o", "perf.data")
        self.assertTrue(json.loads((self.own / "summary").read_text())["only_user_code"])

    def start_process(self):
        """Starts the burner as the user; returns its pid when its threads run."""
        process = self.spawn(*NOBODY, self.burner, "--seconds", "60", stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while len(os.listdir(f"/proc/{process.pid}/task")) < 4:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process.pid

    def test_process_with_threads(self):
        pid = self.start_process()
        self.record_as_user("-q", "-F", "499", "-p", pid, "--duration", "1.5", "-o", "perf.data")
        self.assert_burner("perf.data")
        self.assert_valid("perf.data")

    def test_single_thread(self):
        pid = self.start_process()
        tid = next(tid for tid in os.listdir(f"/proc/{pid}/task")
                   if pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text() == "burn-matrix\n")
        self.record_as_user("-q", "-F", "499", "-t", tid, "--duration", "1", "-o", "perf.data")
        self.assertEqual(set(self.report("perf.data", "comm")), {"burn-matrix"})

    def test_threads_and_processes_that_a_process_starts(self):
        process = self.spawn(*NOBODY, sys.executable, "-c", STARTS_OTHERS, stdin=subprocess.PIPE)
        time.sleep(0.2)
        recorder = self.spawn(*NOBODY, self.tools[harness.RECORD], "-q", "-F", "499", "-p", process.pid, "-o",
                              "perf.data", cwd=self.own)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while not (self.own / "perf.data").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.communicate(b"\n", timeout=harness.TIMEOUT_S)
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)  # it ends with the process
        rows = harness.inspect_samples(self.own / "perf.data")
        self.assertTrue(any(row["comm"] == "sh" for row in rows))
        self.assertTrue(any(row["pid"] != row["tid"] for row in rows))

    @harness.timing
    def test_an_ended_process_keeps_the_recorder_idle(self):
        """The rings outlive the first process."""
        short = self.spawn(*NOBODY, "sleep", "0.5")
        pid = self.start_process()
        recorder = self.spawn(*NOBODY, self.tools[harness.RECORD], "-q", "-p", f"{short.pid},{pid}",
                              "--duration", "3", "-o", "perf.data", cwd=self.own)
        _, status, usage = os.wait4(recorder.pid, 0)
        recorder.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(recorder.returncode, 0)
        self.assertLess(usage.ru_utime + usage.ru_stime, 1.5, "a ring without a task is always readable")
        self.assertIn("burn-matrix", self.report("perf.data", "comm"))

    def test_losses_are_counted(self):
        err = self.record_as_user("-m", "4", "-F", "4999", "--call-graph", "dwarf", "-o", "perf.data", "--",
                                  self.burner, "--seconds", "1")
        lost = harness.losses_of(self.own / "perf.data")["lost_samples"]
        self.assertGreater(lost, 0)
        self.assertIn(f"{lost} lost", err)
        self.assertIn("some of the lost records may be process events", err)

    def test_two_recordings_share_the_memory_for_rings(self):
        first = self.spawn(*NOBODY, self.tools[harness.RECORD], "-q", "-o", "first.data", "--duration", "20",
                           "--", "sleep", "20", cwd=self.own)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while not (self.own / "first.data").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        # Enough for the smallest rings.
        limit = (8 + 4) * 1024 * os.cpu_count()
        status, _, err = harness.run("prlimit", f"--memlock={limit}:{limit}", *NOBODY, self.tools[harness.RECORD],
                                     "-F", "499", "-o", "second.data", "--", self.burner, "--seconds", "1",
                                     cwd=self.own)
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"ring buffer of each CPU has \d+ KiB instead of 512.*kernel.perf_event_mlock_kb")
        first.send_signal(signal.SIGINT)
        first.wait(harness.TIMEOUT_S)
        self.assert_burner("second.data")

    def test_sandbox(self):
        pid = self.start_process()
        recorder = self.spawn(*NOBODY, self.tools[harness.RECORD], "-q", "-p", pid, "-o", "perf.data",
                              cwd=self.own)
        deadline = time.monotonic() + harness.TIMEOUT_S
        status = pathlib.Path(f"/proc/{recorder.pid}/status")
        while "Seccomp:\t2" not in status.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.assertIn("NoNewPrivs:\t1", status.read_text())
        time.sleep(0.5)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)
        self.assertIn("burn-matrix", self.report("perf.data", "comm"))

    def test_what_takes_privileges_is_refused_by_its_name(self):
        true = ("--", "true")
        for arguments, start in (
                ((), "-a: "), (("-a", *true), "-a: "), (("-u", "nobody", *true), "-u: "),
                (("-G", "/", *true), "--cgroup: "), (("--comm", "x", *true), "--comm: "),
                (("--all-cgroups", *true), "--all-cgroups: "), (("--namespaces", *true), "--namespaces: "),
                (("--call-graph", "eh", *true), "--call-graph eh: "), (("--max-cpu", "3", *true), "--max-cpu: "),
                (("-e", "offcpu", "--wakers", *true), "event 'offcpu': "),
                (("-e", "sched:sched_switch", *true), "event 'sched:sched_switch': "),
                (("-e", "lock", *true), "event 'lock': "), (("-e", "cs", *true), "event 'cs': "),
                (("-e", "uprobe:libc:malloc", *true), "event 'uprobe:libc:malloc': "),
                (("-e", "cpu-clock:k", *true), "event 'cpu-clock:k': ")):
            with self.subTest(arguments=arguments):
                err = self.refusal(*arguments)
                self.assertTrue(err.startswith("perftape-record: " + start), err)
                self.assertIn("CAP_BPF and CAP_PERFMON are missing: run it as root, or grant them", err)
                self.assertIn("perftape-doctor", err)
        self.assertEqual(os.listdir(self.own), [])

    def test_process_of_another_user_is_refused(self):
        err = self.refusal("-p", os.getpid(), "-o", "perf.data")
        self.assertIn("only their own processes", err)
        self.assertIn("CAP_BPF and CAP_PERFMON are missing", err)
        self.assertEqual(os.listdir(self.own), [])

    def test_events_that_are_not_allowed_may_be_left_out(self):
        err = self.burn("--allow-missing-events", "-e", "offcpu,cpu-clock", "-o", "perf.data")
        self.assertRegex(err, r"event 'offcpu': .*: not recorded")
        self.assert_burner("perf.data")

    def test_settings_above_two(self):
        """Only kernels of distributions know them, and refuse all perf events."""
        with paranoid(4):
            perf = self.as_user("perf", "record", "-q", "-e", "cpu-clock:u", "-o", "perfs.data", "true")[0]
            status, _, err = self.as_user(self.tools[harness.RECORD], "-o", "perf.data", "--", "true")
            _, out, _ = self.as_user(self.tools[harness.DOCTOR])
        if perf == 0:
            self.assertEqual(status, 0, err)
            self.assertIn("a recording of user code does", out)
            return
        self.assertEqual(status, 1)
        self.assertIn("with kernel.perf_event_paranoid at 4, this kernel refuses all perf events", err)
        self.assertIn("sudo sysctl kernel.perf_event_paranoid=2", err)
        self.assertNotIn("a recording of user code does", out)

    def test_doctor(self):
        status, out, err = self.as_user(self.tools[harness.DOCTOR])
        self.assertEqual((status, err), (1, ""))
        self.assertIn("does not work, but a recording of user code does: perftape-record COMMAND", out)
        self.assertRegex(out, r"recording without privileges: user code +yes")
        _, out, _ = self.as_user(self.tools[harness.DOCTOR], "--json")
        self.assertTrue(json.loads(out)["user_recording_works"])


if __name__ == "__main__":
    harness.require("perf", "setpriv", "prlimit")
    harness.main()

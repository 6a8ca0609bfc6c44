# SPDX-License-Identifier: Apache-2.0
"""Off-CPU time: -e offcpu against what a program measures itself with its own clocks, and against the
kernel's own account of each thread (schedstat). waiter.cc is the program."""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import harness

WAITER = harness.BIN.parent / "tests" / "waiter"
SLEEP, DISK, RUNNABLE = WAITS = ("offcpu-time", "offcpu-disk-time", "offcpu-runnable-time")
SUMS = "short_waits"
MS = 10**6
# Sleepable iterators over tasks, and bpf_copy_from_user_task().
READS_WAITING_STACKS = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 1)
WAITING_THREADS = """
import threading
threading.stack_size(1 << 18)
lock = threading.Lock()
lock.acquire()
for _ in range(1000):
    threading.Thread(target=lock.acquire, daemon=True).start()
print(flush=True)
lock.acquire()
"""
Sample = collections.namedtuple("Sample", "comm tid time_ns period event symbols")


def samples_of(data):
    """The samples as perf script shows them; symbols are leaf first."""
    status, out, err = harness.run("perf", "script", "--ns", "-i", data, "-F",
                                   "comm,tid,time,period,event,ip,sym", env=harness.perf_environment())
    assert status == 0, err
    samples = []
    for line in out.splitlines():
        head = re.match(r"\s*(.*?)\s+(-?\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+?):\s*(.*)$", line)
        if head:
            comm, tid, seconds, ns, period, event, frame = head.groups()
            samples.append(Sample(comm, int(tid), int(seconds + ns), int(period), event, []))
            line = frame
        frame = re.match(r"\s*[0-9a-f]+ (.+)$", line)
        if frame and samples:
            samples[-1].symbols.append(frame.group(1).removeprefix("(anonymous namespace)::"))
    return samples


def threads_of(output):
    """What the program printed: {tid: {name: value}}."""
    threads, current = {}, {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        if name == "tid":
            current = threads.setdefault(int(value), {})
        else:
            current[name] = int(value)
    return threads


def total(samples, tid=None, events=WAITS):
    return sum(sample.period for sample in samples
               if sample.event in events and tid in (None, sample.tid))


def waits_of(thread, samples, tid):
    """The samples of a thread, from the time when it was to start until it measured its end. A sum is
    sent later."""
    own = [sample for sample in samples if sample.tid == tid]
    return [sample for sample in own if SUMS in sample.symbols or (
        sample.time_ns <= thread["end"]
        and (sample.event != SLEEP or sample.time_ns >= thread["start"]))]


def time_off_cpu(thread):
    """By schedstat: the elapsed time without the run time."""
    return thread["end"] - thread["start"] - thread["run"] + thread["before"]


class OffCpu(harness.RecordingTest):
    def record_waiter(self, *mode, options=(), events="offcpu"):
        """Records the program from its start to its end."""
        data = self.dir / "perf.data"
        data.unlink(missing_ok=True)
        waiter = self.spawn(WAITER, *mode, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        recorder = self.spawn(harness.RECORD, "-e", events, *options, "-p", waiter.pid, "-o", data,
                              stderr=subprocess.PIPE, text=True)
        while not data.exists() and recorder.poll() is None:
            time.sleep(0.02)
        time.sleep(0.2)  # the program waits for more than any threshold here
        out, _ = waiter.communicate("\n", timeout=harness.TIMEOUT_S)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual((waiter.returncode, recorder.returncode in (0, 3)), (0, True), err)
        return threads_of(out), samples_of(data), err

    def assert_is_time_off_cpu(self, thread, samples, tid, short_waits=0):
        """The sum of all periods is elapsed time minus run time, within 1 %. The kernel reads its clock
        for schedstat when it starts to choose the next thread, and switches 10 to 70 us later in a
        virtual machine (it programs the timer). This matters for very short waits."""
        own = waits_of(thread, samples, tid)
        off = time_off_cpu(thread)
        slack = off / 100 + 2 * MS + short_waits * MS / 10
        self.assertLessEqual(abs(total(own) - off), slack, f"{total(own)} {off}")

    @harness.timing
    def test_shares_and_sums_are_those_that_the_program_measured(self):
        # Each round of the program takes about 100 ms, so the period is no divisor of it.
        threads, samples, _ = self.record_waiter("mix", "60", options=("-c", "5300000"),
                                                 events="cpu-clock,offcpu")
        (tid, thread), = threads.items()
        names = ("burn_cpu", "wait_for_mutex", "wait_for_socket", "take_a_nap")
        seen = collections.Counter()
        for sample in samples:
            for name in names:
                if sample.tid == tid and name in sample.symbols:
                    is_burn = name == "burn_cpu"
                    seen[name] += sample.period * (sample.event == ("cpu-clock" if is_burn else SLEEP))
        # By its own clock. elapsed - run of schedstat also has what the hypervisor steals.
        slept = sum(thread[name] for name in names[1:])
        named = total([sample for sample in samples if set(sample.symbols) & set(names[1:])], tid)
        sums = total([sample for sample in samples if SUMS in sample.symbols], tid)
        self.assertLessEqual(named, slept * 1.01)
        self.assertGreaterEqual(named + sums, slept * 0.99)
        measured = harness.shares({name: thread[name] for name in names})
        for name, share in harness.shares(seen).items():
            print(f"{name}: {share:.2f} of {measured[name]:.2f}")
            # On a busy machine the timer of cpu-clock is late, and the hypervisor takes time.
            self.assertLessEqual(abs(share - measured[name]), 6, name)

    def test_perf_report_names_the_waits_with_kernel_and_user_stacks(self):
        self.record_waiter("mix", "5", events="cpu-clock,offcpu")
        status, out, err = harness.run("perf", "report", "--stdio", "--no-children", "-g", "caller",
                                       "--sort", "comm,sym", "-i", self.dir / "perf.data",
                                       env=harness.perf_environment())
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        waits = out[out.index(f"of event '{SLEEP}'"):]
        for name in ("wait_for_mutex", "wait_for_socket", "take_a_nap", "futex_wait",
                     "unix_stream_read_generic", "hrtimer_nanosleep", "main",
                     # Of the scheduler's section, which the kernel leaves out of other tasks' stacks.
                     "do_nanosleep", "schedule_timeout"):
            self.assertIn(name, waits)
        for name in ("__schedule", "bpf_prog", "bpf_trace", "__traceiter"):
            self.assertNotIn(name, waits)
        for wait in WAITS[1:]:
            self.assertIn(f"of event '{wait}'" if wait in out else "", out)

    @harness.timing
    def test_short_waits_are_one_sum_and_the_total_stays(self):
        # Each nap is longer than half a millisecond; a busy machine makes a few longer than 50 ms.
        for threshold in ("50ms", "0"):
            threads, samples, _ = self.record_waiter("naps", "400", str(MS // 2),
                                                     options=("--off-cpu-threshold", threshold))
            (tid, thread), = threads.items()
            self.assert_is_time_off_cpu(thread, samples, tid, short_waits=400)
            sums = [sample for sample in samples if SUMS in sample.symbols]
            naps = [sample for sample in samples if "take_a_nap" in sample.symbols
                    and sample.event == SLEEP]
            if threshold == "0":
                # A preempted thread may not sleep at all: its timer expires before.
                self.assertEqual(len(sums), 0)
                self.assertLessEqual(len(naps), 400)
                self.assertGreaterEqual(len(naps), 390)
            else:
                self.assertLess(len(naps), 20)
                # A sum for each state about every second, and at the end of the thread.
                self.assertLess(len(sums), 20)
                self.assertGreaterEqual(total(sums, tid, (SLEEP,)), 380 * MS // 2)
                self.assertEqual(sums[0].comm, "waiter")

    @harness.timing
    def test_disk_sleep_is_what_the_program_measured(self):
        children, sleep_ns = 4, 80 * MS
        threads, samples, _ = self.record_waiter("children", str(children), str(sleep_ns))
        (tid, thread), = threads.items()
        self.assert_is_time_off_cpu(thread, samples, tid)
        waits = [sample for sample in samples if sample.tid == tid and "wait_for_child" in sample.symbols
                 and sample.event == DISK]
        self.assertEqual(len(waits), children)
        # Also a wait for a CPU, and the time in which the child is made.
        disk, measured = total(waits), thread["wait_for_child"]
        print(f"{disk / MS:.1f} ms of {measured / MS:.1f} ms")
        self.assertLessEqual(disk, measured)
        runnable = total(waits_of(thread, samples, tid), events=(RUNNABLE,))
        self.assertGreaterEqual(disk + runnable, measured * 0.99 - children * MS)
        for sample in waits:
            self.assertTrue(any("clone" in symbol for symbol in sample.symbols), sample.symbols)
            self.assertTrue(sample.symbols[0].startswith(("wait_for_completion", "schedule_timeout")),
                            sample.symbols)

    @harness.timing
    def test_many_threads_have_their_own_time(self):
        threads, samples, _ = self.record_waiter("threads", "40")
        self.assertEqual(len(threads), 40)
        waits = 20  # of each thread
        seen = measured = 0
        for tid, thread in threads.items():
            # The switch of one thread delays that of the others, so the clocks differ more.
            self.assert_is_time_off_cpu(thread, samples, tid, short_waits=5 * waits)
            seen += total(waits_of(thread, samples, tid))
            measured += time_off_cpu(thread)
        print(f"{seen / MS:.1f} ms of {measured / MS:.1f} ms")
        self.assertLessEqual(abs(seen - measured), measured / 100 + len(threads) * waits * MS / 10)

    @harness.timing
    def test_a_thread_ends_after_the_sums_of_its_waits(self):
        """perf 7.3 forgets the name of a thread at its EXIT record."""
        threads, samples, _ = self.record_waiter("threads", "40")
        status, out, err = harness.run(harness.INSPECT, "--records", self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        ends = {int(tid): int(time_ns) for tid, time_ns in re.findall(
            r" EXIT .* tid (\d+) ptid .* \| pid \d+ tid \d+ time (\d+)", out)}
        sums = [sample for sample in samples if SUMS in sample.symbols and sample.tid in ends]
        self.assertGreaterEqual(len({sample.tid for sample in sums}), len(threads) // 2)
        # On a busy machine a thread may take longer to end than the recorder waits.
        late = [sample for sample in sums if sample.time_ns > ends[sample.tid]]
        self.assertLessEqual(len(late), len(sums) // 20, late)

    @harness.timing
    def test_waits_for_a_cpu_are_those_of_schedstat(self):
        threads, samples, _ = self.record_waiter("spin", "4", str(200 * MS))
        for tid, thread in threads.items():
            own = waits_of(thread, samples, tid)
            waited = thread["wait"] + thread["before"]
            self.assertLessEqual(abs(total(own, tid, (RUNNABLE,)) - waited),
                                 waited / 100 + 2 * MS + len(own) * MS / 10)
            self.assertGreater(thread["wait"], 300 * MS)
        burnt = [sample for sample in samples
                 if sample.event == RUNNABLE and "burn_cpu" in sample.symbols]
        self.assertGreater(total(burnt, events=(RUNNABLE,)), 400 * MS)

    def deadlocked(self):
        process = self.spawn(WAITER, "deadlock", stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.stdout.close()
        status = pathlib.Path(f"/proc/{process.pid}/task")
        while any("S (sleeping)" not in (thread / "status").read_text() for thread in status.iterdir()):
            time.sleep(0.01)
        return process

    def test_a_deadlock_is_found_with_its_stacks(self):
        process = self.deadlocked()
        before = time.monotonic_ns()
        self.record("-e", "offcpu", "-p", process.pid, "--duration", "1", "-o", "perf.data")
        longest = time.monotonic_ns() - before
        samples = samples_of(self.dir / "perf.data")
        self.assertEqual([sample.event for sample in samples], [SLEEP, SLEEP])
        for sample in samples:
            self.assertGreaterEqual(sample.period, 10**9)
            self.assertLessEqual(sample.period, longest)
        waiting, = (sample for sample in samples if sample.tid != process.pid)
        self.assertIn("futex_wait", waiting.symbols)
        if READS_WAITING_STACKS:
            self.assertIn("wait_for_mutex", waiting.symbols)

    def test_all_threads_that_wait_at_the_start_have_their_stacks(self):
        """There are more than there is room for copies of their stacks."""
        if not READS_WAITING_STACKS:
            self.skipTest("this kernel cannot read the stacks of waiting threads")
        process = self.spawn(sys.executable, "-c", WAITING_THREADS, stdout=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.record("-e", "offcpu", "-p", process.pid, "--duration", "1", "-o", "perf.data")
        waiting = [sample for sample in samples_of(self.dir / "perf.data")
                   if sample.event == SLEEP and sample.tid != process.pid]
        self.assertEqual(len({sample.tid for sample in waiting}), 1000)
        whole = sum(any(symbol.startswith("clone") for symbol in sample.symbols) for sample in waiting)
        self.assertGreater(whole, 0.98 * len(waiting))

    def test_sigint_ends_the_waits_that_go_on(self):
        process = self.deadlocked()
        data = self.dir / "perf.data"
        recorder = self.spawn(harness.RECORD, "-q", "-e", "offcpu", "-t", process.pid, "-o", data)
        while not data.exists():
            time.sleep(0.05)
        begin = time.monotonic_ns()
        time.sleep(0.5)
        waited = time.monotonic_ns() - begin
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)
        sample, = samples_of(data)
        self.assertEqual(sample.tid, process.pid)
        self.assertGreaterEqual(sample.period, waited)

    def test_wakers_are_named_also_outside_of_the_target(self):
        script = ("import os, subprocess, sys, time\n"
                  "read, write = os.pipe()\n"
                  "pause = 'while sleep 0.1; do echo; done'\n"  # until nobody reads
                  "print(os.getpid(), flush=True)\n"
                  "waker = subprocess.Popen(['sh', '-c', pause], stdout=write)\n"
                  "os.close(write)\n"
                  "while os.read(read, 1): pass\n")
        process = self.spawn(sys.executable, "-c", script, stdout=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.record("-e", "offcpu", "--wakers", "-t", process.pid, "--duration", "2", "-o", "perf.data")
        samples = samples_of(self.dir / "perf.data")
        wakeups = [sample for sample in samples if sample.event == "wakeup" and sample.comm == "sh"]
        self.assertGreaterEqual(len(wakeups), 5)
        slept = [sample.period for sample in samples if sample.event == SLEEP]
        for wakeup in wakeups:
            self.assertEqual(wakeup.symbols[0], "try_to_wake_up")
            self.assertTrue(any("pipe_write" in symbol for symbol in wakeup.symbols), wakeup.symbols)
            self.assertTrue(any(abs(wakeup.period - period) < MS for period in slept))
        status, out, err = harness.run(harness.INSPECT, "--samples", "--fields", self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        woken = [line for line in out.splitlines() if line.startswith("wakeup\tsh\t")]
        self.assertEqual(len(woken), len(wakeups))
        for line in woken:
            self.assertIn(f"woken_tid={process.pid}", line)
        status, out, err = harness.run(harness.BIN / "perftape-report", "--json", "--event", "wakeup",
                                       self.dir / "perf.data")
        self.assertEqual(status, 0, err)
        event, = json.loads(out)["events"]
        by_sh = [pair for pair in event["wakeups"] if pair["waker"]["comm"] == "sh"]
        self.assertEqual({pair["woken"]["tid"] for pair in by_sh}, {process.pid})
        self.assertEqual(sum(pair["amount"]["samples"] for pair in by_sh), len(wakeups))

    def test_a_full_ring_counts_for_its_event(self):
        _, _, err = self.record_waiter("naps", "3000", "20000",
                                       options=("--off-cpu-threshold", "0", "-m", "1"))
        self.assertRegex(err, rf"{SLEEP}: lost on CPUs? \S+: \d+, the ring was full")

    def test_only_the_cpus_asked_for_are_recorded(self):
        if os.cpu_count() < 2:
            self.skipTest("one CPU")
        # A thread that is preempted before its nap may find its timer expired, and does not sleep.
        for cpu, fewest, most in (("0", 10, 21), ("1", 0, 0)):
            self.record("-q", "-C", cpu, "-e", "offcpu", "-o", "perf.data", "--", "taskset", "-c", "0",
                        WAITER, "naps", "20", str(5 * MS))
            naps = [sample for sample in samples_of(self.dir / "perf.data")
                    if "take_a_nap" in sample.symbols]
            sleeps = sum(sample.event == SLEEP for sample in naps)
            self.assertTrue(fewest <= sleeps <= most, sleeps)

    def test_the_other_tools_read_it(self):
        self.record_waiter("mix", "5", events="cpu-clock,offcpu")
        data = self.dir / "perf.data"
        status, out, err = harness.run(harness.INSPECT, "--validate", data)
        self.assertEqual(status, 0, out + err)
        folded = self.dir / "x.folded"
        status, _, err = harness.run(harness.CONVERT, data, "--event", SLEEP, "-o", folded)
        self.assertEqual(status, 0, err)
        self.assertRegex(folded.read_text(), r"main;.*wait_for_mutex;.*futex_wait")
        pprof = self.dir / "x.pb.gz"
        status, _, err = harness.run(harness.CONVERT, data, "-o", pprof)
        self.assertEqual(status, 0, err)
        status, out, err = harness.run(harness.INSPECT, pprof)
        if pathlib.Path(harness.PERFPARSER).exists():
            status, out, err = harness.run("timeout", "60", harness.PERFPARSER, "--input", data,
                                           "--print-stats")
            self.assertEqual(status, 0, out + err)
            samples = int(re.search(r"samples: (\d+)", out + err).group(1))
            self.assertEqual(samples, len(harness.inspect_samples(data)))

    def test_the_list_has_the_events(self):
        status, out, _ = harness.run(harness.RECORD, "list", "offcpu")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"offcpu +waits of threads .* nanoseconds\n")
        status, _, err = harness.run(harness.RECORD, "-e", "offcpu/freq=9/", "true", cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("--off-cpu-threshold", err)


if __name__ == "__main__":
    harness.require("perf", str(WAITER))
    if harness.run(harness.RECORD, "list", "offcpu")[1].count("not here"):
        harness.skip(harness.run(harness.RECORD, "list", "offcpu")[1])
    harness.main()

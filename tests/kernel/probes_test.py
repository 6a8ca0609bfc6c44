# SPDX-License-Identifier: Apache-2.0
"""Probes of programs and waits for locks of the kernel: each with the count that the program knows, and the
stack of the code that caused it, in plain perf."""

import collections
import re
import shutil
import subprocess
import time
import os
import signal
import unittest

import harness

# Calls malloc 1000 times in each of two threads, from a function of its own. `recurse` is entered 50 times. The
# note is that of DTRACE_PROBE with a semaphore: "fired" counts how often the program saw a listener. With an argument it
# sleeps first, so that the recorder has its unwind tables: on a busy machine that may take longer than all its calls.
ALLOCATOR = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((section(".probes"), used)) volatile unsigned short test_tick_semaphore;
static unsigned fired;

__attribute__((noinline)) static void tick(void) {
  __asm__ volatile(
      "990: nop\n"
      ".pushsection .note.stapsdt,\"\",\"note\"\n"
      ".balign 4\n"
      ".4byte 992f-991f, 994f-993f, 3\n"
      "991: .asciz \"stapsdt\"\n"
      "992: .balign 4\n"
      "993: .8byte 990b, _.stapsdt.base, test_tick_semaphore\n"
      ".asciz \"test\"\n.asciz \"tick\"\n.asciz \"\"\n"
      "994: .balign 4\n"
      ".popsection\n"
      ".ifndef _.stapsdt.base\n"
      ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
      ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
      "_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n"
      ".popsection\n"
      ".endif\n");
  if (test_tick_semaphore) fired++;
}

__attribute__((noinline)) void *allocate_one(int i) {
  void *memory = malloc(16 + i % 8);
  __asm__ volatile("" ::"r"(memory));
  return memory;
}
__attribute__((noinline)) void *allocate_many(void *unused) {
  for (int i = 0; i < 1000; i++) free(allocate_one(i));
  return unused;
}
__attribute__((noinline)) int recurse(int depth) {
  int below = depth > 1 ? recurse(depth - 1) : 0;
  __asm__ volatile("" : "+r"(below));
  return below + 1;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) sleep(1);
  pthread_t thread;
  pthread_create(&thread, 0, allocate_many, 0);
  allocate_many(0);
  pthread_join(thread, 0);
  for (int i = 0; i < 300; i++) tick();
  int depth = recurse(50);
  printf("%u %d\n", fired, depth);
  return 0;
}
"""

THROWER = """
#include <cstdio>
__attribute__((noinline)) void throw_one(int i) { throw i; }
int main() {
  for (int i = 0; i < 1000; i++) try { throw_one(i); } catch (int) {}
}
"""

# Threads of one process map memory, which takes mmap_lock, and rename files in one directory.
CONTENDER = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void map_memory(void) {
  for (int i = 0; i < 1500; i++) {
    char *memory = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory[0] = memory[8192] = 1;
    munmap(memory, 65536);
  }
}
__attribute__((noinline)) static void rename_files(long number) {
  char one[32], other[32];
  sprintf(one, "one%ld", number);
  sprintf(other, "other%ld", number);
  close(open(one, O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < 500; i++) {
    rename(one, other);
    rename(other, one);
  }
}
static void *run(void *number) {
  map_memory();
  rename_files((long)number);
  return 0;
}
int main(void) {
  pthread_t threads[8];
  for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  return 0;
}
"""


def script(data, fields):
    status, out, err = harness.run("perf", "script", "-i", data, "-F", fields,
                                   env=harness.perf_environment())
    assert status == 0, err
    return out.splitlines()


def counts_of(data):
    """{event: samples}"""
    return collections.Counter(line.strip().rstrip(":") for line in script(data, "event") if line.strip())


def stacks_of(data):
    """A list of the symbols of each sample, the leaf first."""
    text = "\n".join(script(data, "ip,sym"))
    return [[line.split()[1] for line in sample.splitlines() if len(line.split()) > 1]
            for sample in text.split("\n\n") if sample.strip()]


class ProbesTest(harness.RecordingTest):
    def compile(self, name, source, language="c"):
        path = self.dir / name
        status, _, err = harness.run(
            "gcc" if language == "c" else "g++", "-O1", "-g", "-fno-omit-frame-pointer",
            "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-x", language, "-o", path, self.write(name, source))
        self.assertEqual(status, 0, err)
        return path

    def write(self, name, source):
        path = self.dir / f"{name}.source"
        path.write_text(source)
        return path

    def data(self):
        return self.dir / "perf.data"


class Probes(ProbesTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("allocator", ALLOCATOR)

    def test_each_malloc_is_a_sample_with_the_code_that_called_it(self):
        self.record("-q", "-e", "uprobe:libc:malloc", "--", self.program, "later")
        callers = [stack for stack in stacks_of(self.data()) if "allocate_one" in stack]
        self.assertEqual(len(callers), 2000)
        for stack in callers:
            self.assertEqual(stack[1:3], ["allocate_one", "allocate_many"], stack)
        self.assertEqual(sum("main" in stack for stack in callers), 1000)
        status, out, err = harness.run("perf", "report", "--stdio", "--no-children", "-G", "-i", self.data(),
                                       env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        self.assertEqual(harness.perf_complaints(err), "")
        self.assertRegex(out, r"of event 'uprobe:/\S+/libc\.so\.6:malloc'")
        self.assertRegex(out, r"allocate_many\s+(\|\s+)*allocate_one")
        status, out, err = harness.run(harness.INSPECT, "--validate", self.data())
        self.assertEqual(status, 0, out + err)

    def test_hotspot_shows_the_probe(self):
        if not os.path.exists(harness.PERFPARSER):
            self.skipTest("hotspot-perfparser is not installed")
        self.record("-q", "-e", f"uprobe:{self.program}:allocate_one", "--", self.program)
        parsed = self.dir / "parsed"
        status, _, err = harness.run(harness.PERFPARSER, "--input", self.data(), "--output", parsed)
        self.assertEqual(status, 0, err)
        self.assertIn(f"uprobe:{self.program}:allocate_one".encode(), parsed.read_bytes())

    def test_a_function_has_as_many_calls_as_returns_and_as_perf_counts(self):
        name = f"{self.program}:allocate_one"
        self.record("-q", "-e", f"uprobe:{name},uretprobe:{name}", "--", self.program)
        self.assertEqual(counts_of(self.data()), {f"uprobe:{name}": 2000, f"uretprobe:{name}": 2000})
        theirs = "perftape_test"
        status, _, err = harness.run("perf", "probe", "-q", "-x", self.program,
                                     f"{theirs}:one=allocate_one", env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        try:
            subprocess.run(["perf", "record", "-q", "-e", f"{theirs}:one", "-o", "theirs.data", self.program],
                           cwd=self.dir, check=True, stdout=subprocess.DEVNULL,
                           env=harness.perf_environment())
            self.assertEqual(len(script(self.dir / "theirs.data", "event")), 2000)
        finally:
            harness.run("perf", "probe", "-q", "-d", f"{theirs}:*", env=harness.perf_environment())

    def test_no_frame_of_a_recursion_is_lost(self):
        self.record("-q", "-e", f"uprobe:{self.program}:recurse", "--", self.program)
        depths = sorted(stack.count("recurse") for stack in stacks_of(self.data()))
        self.assertEqual(depths, list(range(1, 51)))

    def test_one_in_n_is_recorded_with_its_period(self):
        name = f"uprobe:{self.program}:allocate_one"
        self.record("-q", "-e", f"{name}/every=10/", "--", self.program)
        periods = [int(line.split()[0]) for line in script(self.data(), "period,event")]
        self.assertEqual(set(periods), {10})
        # Each CPU counts for itself.
        self.assertLessEqual(abs(sum(periods) - 2000), 10 * os.cpu_count())

    def test_an_offset_is_an_instruction_of_the_function(self):
        name = f"uprobe:{self.program}:allocate_many+0x1"
        self.record("-q", "-e", name, "--", self.program)
        self.assertEqual(counts_of(self.data())[name], 2)

    def test_a_usdt_probe_with_a_semaphore_tells_the_program(self):
        name = f"usdt:{self.program}:test:tick"
        out, _ = self.record("-q", "-e", name, "--", self.program)
        self.assertEqual(out.split()[0], "300")
        self.assertEqual(counts_of(self.data())[name], 300)
        self.assertEqual({stack[0] for stack in stacks_of(self.data())}, {"tick"})

    def test_a_library_counts_its_exceptions(self):
        thrower = self.compile("thrower", THROWER, "c++")
        _, err = self.record("-e", "usdt:libstdc++:libstdcxx:*", "--", thrower)
        counts = {event.rsplit(":", 1)[1]: count for event, count in counts_of(self.data()).items()}
        self.assertEqual(counts, {"throw": 1000, "catch": 1000})
        self.assertRegex(err, r"1000 usdt:\S+:libstdcxx:throw")

    def test_a_name_of_cpp_is_found_in_its_readable_form(self):
        thrower = self.compile("thrower", THROWER, "c++")
        self.record("-q", "-e", f"uprobe:{thrower}:throw_one(int),uprobe:{thrower}:main", "--", thrower)
        counts = counts_of(self.data())
        self.assertEqual(counts[f"uprobe:{thrower}:throw_one(int)"], 1000)
        self.assertEqual(counts[f"uprobe:{thrower}:main"], 1)

    def test_a_glob_records_all_that_match(self):
        self.record("-q", "-e", f"uprobe:{self.program}:allocate_*", "--", self.program)
        self.assertEqual(counts_of(self.data()), {f"uprobe:{self.program}:allocate_many": 2,
                                                  f"uprobe:{self.program}:allocate_one": 2000})

    def test_only_the_targets_are_recorded(self):
        recorder = self.spawn(harness.RECORD, "-q", "-e", "uprobe:libc:malloc", "-p", os.getpid(), "-o",
                              self.data())
        other = self.spawn("sh", "-c", "while :; do sleep 0.01; done", start_new_session=True)
        while not self.data().exists():
            time.sleep(0.05)
        self.assertEqual(harness.run(self.program)[0], 0)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)
        other.kill()
        comms = collections.Counter(line.strip() for line in script(self.data(), "comm"))
        self.assertGreaterEqual(comms["allocator"], 2000)

    def test_wrong_probes_write_nothing(self):
        for event, message in (
                (f"uprobe:{self.program}:alocate_one", f"in {self.program}; did you mean allocate_one?"),
                (f"uprobe:{self.program}:recurse+0x1000", "no instruction is at +0x1000"),
                (f"usdt:{self.program}:test:tack", "did you mean test:tick?"),
                ("usdt:/bin/true:a:b", "/bin/true has no USDT probes"),
                ("uprobe:/no/such:f", "/no/such: no such file"),
                ("uprobe:libstdc+:f", "did you mean libstdc++.so"),
                (f"uprobe:{self.program}.source:f", "not an ELF file"),
                ("uprobe:libc:memcpy", "indirect function (IFUNC)"),
                ("uprobe:libc:*", "use a narrower pattern"),
                ("uprobe:libc:malloc/if=a==1/", "a probe has no fields"),
                ("uprobe:libc:malloc/freq=99/", "a probe has no frequency")):
            status, _, err = harness.run(harness.RECORD, "-e", event, "true", cwd=self.dir)
            self.assertEqual(status, 1, err)
            self.assertIn(message, err)
            self.assertFalse(self.data().exists())
        _, err = self.record("--allow-missing-events", "-e", f"cpu-clock,uprobe:{self.program}:none", "true")
        self.assertIn("not recorded", err)

    def test_the_capabilities_that_are_missing_are_named(self):
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv is not installed")
        capabilities = "-all,+bpf,+perfmon"
        status, _, err = harness.run("setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities,
                                     harness.RECORD, "-e", "uprobe:libc:malloc", "true", cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("CAP_SYS_ADMIN", err)

    def test_the_list_has_the_probes_of_a_file(self):
        status, out, _ = harness.run(harness.RECORD, "list", f"usdt:{self.program}:*")
        self.assertEqual(status, 0)
        self.assertEqual(out.split()[0], f"usdt:{self.program}:test:tick")
        status, out, _ = harness.run(harness.RECORD, "list", f"uprobe:{self.program}:allocate*")
        self.assertEqual(status, 0)
        self.assertEqual(len(out.splitlines()), 2)

    @unittest.skipIf(os.path.exists("/sys/bus/event_source/devices/kprobe"), "this kernel has kprobes")
    def test_a_kernel_without_kprobes_says_so(self):
        status, _, err = harness.run(harness.RECORD, "-e", "kprobe:vfs_read", "true", cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn("CONFIG_KPROBE_EVENTS", err)


class Locks(ProbesTest):
    def setUp(self):
        super().setUp()
        if not os.path.exists("/sys/kernel/tracing/events/lock/contention_begin"):
            self.skipTest("this kernel has no lock:contention_begin")
        self.program = self.compile("contender", CONTENDER)

    @harness.timing
    def test_each_wait_is_a_sample_with_its_duration(self):
        self.record("-q", "-e", "lock,lock:contention_begin,lock:contention_end", "-m", "64M", "--", self.program)
        pending, waits, expected = {}, collections.Counter(), collections.Counter()
        for line in script(self.data(), "tid,time,event,period,trace"):
            match = re.match(r"\s*(\d+)\s+(\d+)\.(\d+):\s+(\d+)\s+(\S+): (0x[0-9a-f]+)", line)
            if not match:
                continue
            tid, seconds, fraction, period, event, lock = match.groups()
            time_us = int(seconds) * 10**6 + int(fraction)
            if event == "lock-time":
                waits["count"] += 1
                waits["ns"] += int(period)
            elif event == "lock:contention_begin":
                pending.setdefault((tid, lock), time_us)
            elif (tid, lock) in pending:
                expected["count"] += 1
                expected["ns"] += 1000 * (time_us - pending.pop((tid, lock)))
        print(f"waits: {waits}, by the tracepoints: {expected}")
        self.assertGreater(waits["count"], 10)
        # Waits of the programs that record are in one of them only.
        self.assertLess(abs(waits["count"] - expected["count"]), 10 + 0.05 * expected["count"])
        self.assertLess(abs(waits["ns"] - expected["ns"]), 0.05 * expected["ns"])

    def test_perf_shows_the_type_of_the_lock_and_the_waiters_stack(self):
        self.record("-q", "-e", "lock", "--", self.program)
        self.assertRegex("\n".join(script(self.data(), "event,trace")),
                         r"lock-time: +0x[0-9a-f]+ \(flags=(READ|WRITE)\)")
        named = [" ".join(stack) for stack in stacks_of(self.data())]
        self.assertTrue(any(re.search(r"rwsem_down_\w+ .*vm_mmap_pgoff .*mmap.* run", stack)
                            for stack in named), named[:5])
        self.assertTrue(any("do_renameat2" in stack for stack in named))
        status, out, err = harness.run("perf", "report", "--stdio", "-i", self.data(),
                                       env=harness.perf_environment())
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        self.assertIn("of event 'lock-time'", out)
        status, out, err = harness.run(harness.INSPECT, "--validate", self.data())
        self.assertEqual(status, 0, out + err)

    def test_one_in_n_waits_has_n_times_its_duration(self):
        self.record("-q", "-e", "lock/every=3/", "--", self.program)
        periods = [int(line.split()[0]) for line in script(self.data(), "period,event") if line.strip()]
        self.assertGreater(len(periods), 10)
        self.assertEqual({period % 3 for period in periods}, {0})


class Faults(ProbesTest):
    def test_the_set_counts_page_faults(self):
        self.record("-q", "-e", "faults/period=1/u", "--", "true")
        self.assertGreater(counts_of(self.data())["page-faults:u"], 10)


if __name__ == "__main__":
    harness.require("perf", "gcc", "g++")
    harness.main()

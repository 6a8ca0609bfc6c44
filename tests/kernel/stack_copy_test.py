# SPDX-License-Identifier: Apache-2.0
"""Tests `perftape-record --call-graph dwarf`: perf's unwinder and others find the call chains
of code without frame pointers in the registers and stacks of our file."""

import os
import re
import signal
import subprocess
import sys

import harness

DEEP_STACK = harness.BIN.parent / "tests" / "deep_stack"
# Each thread waits until it is woken. Its stack has at most 64 KiB.
THREADS = """
import sys, threading, time
threading.stack_size(65536)
gate = threading.Semaphore(0)
threads = [threading.Thread(target=gate.acquire) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
time.sleep(0.2)
for thread in threads: gate.release(); time.sleep(0.0005)
for thread in threads: thread.join()
"""
DWARF_ROOT = "__libc_start_main"


def chains(data):
    """Returns a list of lists of symbols, leaf first, of perf script. Its stderr is empty."""
    status, out, err = harness.run("perf", "script", "--no-inline", "-F", "ip,sym", "-i", data,
                                   env=harness.perf_environment())
    assert status == 0, err
    assert harness.perf_complaints(err) == "", err
    blocks = [block.splitlines() for block in out.split("\n\n") if block.strip()]
    return [[" ".join(line.split()[1:]) for line in block if line.strip()] for block in blocks]


def is_complete(chain, depth):
    """Whether the chain has `depth` frames of descend, then main and what calls it."""
    after = [symbol for symbol in chain if symbol == "descend"]
    return (len(after) == depth and "main" in chain
            and any(symbol.startswith(DWARF_ROOT) for symbol in chain))


class StackCopy(harness.RecordingTest):
    def record_deep(self, size, *options, depth=100, mode="burn", ms=300):
        self.data = self.dir / "perf.data"
        method = f"dwarf,{size}" if size else "dwarf"
        self.record("-q", "-F", "999", "--call-graph", method, *options, "-o", self.data, "--",
                    DEEP_STACK, depth, mode, ms)
        return [chain for chain in chains(self.data) if "descend" in chain]

    def assert_complete(self, found, depth=100):
        self.assertGreater(len(found), 20)
        whole = sum(is_complete(chain, depth) for chain in found)
        self.assertGreaterEqual(whole / len(found), 0.98, found[0])

    def test_a_large_copy_has_the_whole_chain(self):
        for size in (32768, 65528):
            with self.subTest(size):
                self.assert_complete(self.record_deep(size))

    def test_a_small_copy_has_the_leaf_end_of_the_chain(self):
        lengths = []
        for size in (1024, 2048, 4096, None):
            found = self.record_deep(size)
            self.assertGreater(len(found), 20)
            self.assertFalse(any(is_complete(chain, 100) for chain in found))
            lengths.append(max(chain.count("descend") for chain in found))
        self.assertEqual(lengths, sorted(lengths))
        self.assertGreater(lengths[0], 5)
        self.assertGreater(lengths[-1], lengths[0] * 5)

    def test_the_kernel_part_precedes_the_user_part(self):
        found = self.record_deep(32768, mode="kernel")
        self.assert_complete(found)
        in_kernel = [chain for chain in found if any("vfs_read" in symbol for symbol in chain)]
        self.assertGreater(len(in_kernel), len(found) / 2)
        self.assert_complete(in_kernel)

    def test_waits_have_the_stack_from_before_the_wait(self):
        self.assert_complete(self.record_deep(32768, "-e", "offcpu", "--off-cpu-threshold", "0",
                                              mode="wait"))

    def test_a_thread_that_always_waits_has_its_stack(self):
        waiting = self.spawn(DEEP_STACK, 100, "wait", 60000, stdout=subprocess.PIPE)
        self.assertEqual(waiting.stdout.readline(), b"ready\n")
        waiting.stdout.close()
        data = self.dir / "perf.data"
        waiting.send_signal(signal.SIGSTOP)
        self.record("-q", "--call-graph", "dwarf,32768", "-e", "offcpu", "-p", waiting.pid,
                    "--duration", "0.2", "-o", data)
        found = [chain for chain in chains(data) if "descend" in chain]
        self.assertEqual([chain[-4:] for chain in found if not is_complete(chain, 100)], [])
        self.assertGreater(len(found), 0)

    def test_hits_of_tracepoints_and_counters_have_chains(self):
        for event in ("syscalls:sys_enter_read/every=50/", "page-faults/period=1/", "task-clock",
                      "uprobe:libc:clock_gettime"):
            with self.subTest(event):
                self.data = self.dir / "perf.data"
                self.record("-q", "-e", event, "--call-graph", "dwarf,32768", "-o", self.data, "--",
                            DEEP_STACK, 100, "kernel", 200)
                found = [chain for chain in chains(self.data) if "descend" in chain]
                self.assertGreater(len(found), 0)
                whole = sum(is_complete(chain, 100) for chain in found)
                self.assertGreaterEqual(whole, 0.95 * len(found), found[0])

    def test_the_file_says_what_perfs_own_says(self):
        self.record_deep(4096)
        status, out, err = harness.run("perf", "evlist", "-v", "-i", self.data,
                                       env=harness.perf_environment())
        self.assertEqual((status, err), (0, ""))
        for wanted in (r"sample_type: [A-Z|]*REGS_USER\|STACK_USER", "exclude_callchain_user: 1",
                       "mmap_data: 1", "sample_stack_user: 4096"):
            self.assertRegex(out, wanted)

    def test_perf_report_and_inject_read_it_without_a_complaint(self):
        self.record_deep(8192)
        counts, err = harness.perf_report(self.data)
        self.assertEqual(err, "")
        self.assertGreater(sum(counts.values()), 20)
        injected = self.dir / "injected.data"
        status, _, err = harness.run("perf", "inject", "-b", "-i", self.data, "-o", injected,
                                     env=harness.perf_environment())
        self.assertEqual((status, harness.perf_complaints(err)), (0, ""))
        self.assertEqual(chains(injected), chains(self.data))

    def test_a_pipe_and_a_compressed_file_have_the_same_stacks(self):
        for options in (["-z"], ["-o", "-"]):
            with self.subTest(options):
                command = [harness.RECORD, "-q", "-F", "999", "--call-graph", "dwarf,65528",
                           "-o", "perf.data", *options, "--", str(DEEP_STACK), "50", "burn", "200"]
                target = " > perf.data" if "-" in options else ""
                status, _, err = harness.shell(" ".join(command) + target, self.dir)
                self.assertEqual(status, 0, err)
                found = [chain for chain in chains(self.dir / "perf.data") if "descend" in chain]
                self.assert_complete(found, depth=50)

    def test_waits_whose_stack_finds_no_room_are_counted(self):
        data, threads = self.dir / "perf.data", 1100
        room = (64 << 20) // 65528
        _, err = self.record("-e", "offcpu", "--off-cpu-threshold", "100ms", "--call-graph", "dwarf,65528", "-o", data,
                             "--", sys.executable, "-c", THREADS, threads)
        without_stack = int(re.search(r"warning: (\d+) samples have no user stack", err)[1])
        self.assertGreaterEqual(without_stack, threads - room)
        lost = int(re.search(r"(\d+) lost", err)[1])
        _, out, _ = harness.run(harness.INSPECT, "--records", data)
        # Nor has the first wait of a thread, before it ran.
        self.assertGreaterEqual(lost + len(re.findall("regs_user_abi 0 ", out)), without_stack)

    def test_hotspots_parser_unwinds_it(self):
        if not os.path.exists(harness.PERFPARSER):
            self.skipTest("hotspot is not installed")
        self.record_deep(32768)
        status, _, err = harness.run(harness.PERFPARSER, "--input", self.data, "--output",
                                     self.dir / "parsed")
        self.assertEqual(status, 0, err)
        self.assertIsNone(re.search("error|corrupt|mismatch", err, re.IGNORECASE), err)
        self.assertIn(b"descend", (self.dir / "parsed").read_bytes())


harness.require("perf", DEEP_STACK)
harness.main()

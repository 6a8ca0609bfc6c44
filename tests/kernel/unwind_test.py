# SPDX-License-Identifier: Apache-2.0
"""Tests --call-graph eh: user call chains by the unwind tables of programs without frame pointers
are complete, whatever caused the sample, and perf names their frames."""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness

DEEP_STACK = harness.BIN.parent / "tests" / "deep_stack"
DEPTH = 100
PYTHON = os.path.realpath(sys.executable)  # not a script that starts it
COMPLETE = re.compile(r"user call chains: ([0-9.]+) % complete(.*)")
# So many chains may be incomplete, however few there are: beside other load a program has few
# samples, and its tables are loaded late.
INCOMPLETE_AT_START = 4

VFORK = """
#include <unistd.h>
#include <sys/wait.h>
__attribute__((noinline)) static void start_program(void) {
  pid_t child = vfork();
  if (child == 0) {
    usleep(20000);
    execl("/bin/true", "true", (char *)0);
    _exit(1);
  }
  waitpid(child, 0, 0);
}
int main(void) {
  for (int i = 0; i < 8; i++) start_program();
  return 0;
}
"""

# Waits in a function, longer than the threshold of offcpu, and calls itself.
RETURNS = """
#include <time.h>
__attribute__((noinline)) int waits(int depth) {
  struct timespec time = {0, 5000000};
  if (depth == 0) nanosleep(&time, 0);
  int below = depth ? waits(depth - 1) : 0;
  __asm__ volatile("" : "+r"(below));
  return below + 1;
}
__attribute__((noinline)) int waits_often(void) {
  int sum = 0;
  for (int i = 0; i < 30; i++) sum += waits(4);
  return sum;
}
int main(void) { return waits_often() == 150 ? 0 : 1; }
"""

# As glibc's clone: `gap` has no call frame information. First it is called, and then the word on top
# of the stack is the function that a thread would run, `innocent`, behind one that does not return.
GAP = """
 .globl _start
 .type _start,@function
_start:
 .cfi_startproc
 .cfi_undefined rip
 xor %r12d, %r12d
 nopl 8(%rax,%rax)
 call called
 lea innocent(%rip), %rax
 push %rax
 jmp gap
 .cfi_endproc
 .size _start,.-_start
 .globl called
 .type called,@function
called:
 .cfi_startproc
 nop
 nop
 .cfi_endproc
gap:
 mov $100000000, %rcx
1: dec %rcx
 jnz 1b
 .type leaves,@function
leaves:
 .cfi_startproc
 .cfi_def_cfa_offset 8
 test %r12, %r12
 jnz 2f
 inc %r12
 ret
2: xor %edi, %edi
 mov $231, %eax
 syscall
 .cfi_endproc
 .size leaves,.-leaves
 .globl fails
 .type fails,@function
fails:
 .cfi_startproc
 .cfi_def_cfa_offset 16
 call leaves
 .cfi_endproc
 .size fails,.-fails
 .globl innocent
 .type innocent,@function
innocent:
 .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size innocent,.-innocent
 .section .note.GNU-stack,"",@progbits
"""

# Calls through trampolines that are made at run time and keep no frame pointer, while the register
# holds something else. Half of the time is spent in the trampolines themselves.
TRAMPOLINES = """
#include <string.h>
#include <sys/mman.h>
#include <time.h>
typedef void work(void);
typedef void trampoline(long, long, int, work *);
static const unsigned char code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};
static trampoline *through;
__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
__attribute__((noinline)) void burns(void) {
  struct timespec now, start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 100000; i++) through(0, 0, 0, nothing);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < 2);
}
__attribute__((noinline)) void inner(void) {
  __asm__ volatile("lea 64(%%rsp), %%rbp" ::: "rbp");
  through(0, 0, 0, burns);
}
__attribute__((noinline)) void outer(void) {
  __asm__ volatile("mov $1, %%rbp" ::: "rbp");
  through(0, 0, 0, inner);
}
int main(void) {
  char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  mprotect(memory, 4096, PROT_READ | PROT_EXEC);
  through = (trampoline *)memory;
  outer();
  __asm__ volatile("");
  return 0;
}
"""

# A timer interrupts a function at its first and only instruction, which is behind another function.
SIGNALS = r"""
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int handled;
static volatile long sum;
void loops(void);
__attribute__((noinline)) void works(void) { for (long i = 0; i < 3000000; i++) sum += i; }
static void handler(int number) { works(); if (++handled == 150) _exit(0); }
__attribute__((noinline)) void calls(void) { loops(); __asm__ volatile(""); }
__asm__(".text\n.type innocent,@function\ninnocent: .cfi_startproc\n nop\n .cfi_endproc\n"
        ".size innocent,.-innocent\n.globl loops\n.type loops,@function\n"
        "loops: .cfi_startproc\n jmp loops\n .cfi_endproc\n.size loops,.-loops\n");
int main(void) {
  struct sigaction action = {.sa_handler = handler};
  struct itimerval every = {{0, 2000}, {0, 2000}};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &every, 0);
  calls();
  return 0;
}
"""

# Two contexts take turns; one of them ends, and begins again.
CONTEXTS = """
#include <time.h>
#include <ucontext.h>
static ucontext_t outside, endless, brief;
static char stacks[2][65536];
static volatile unsigned sink;
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 2000; i++) sink += i; }
void goes_on(void) { while (1) { spin(); swapcontext(&endless, &outside); } }
void ends(void) { spin(); __asm__ volatile(""); }
static void make(ucontext_t *context, char *stack, void (*entry)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = sizeof stacks[0];
  context->uc_link = &outside;
  makecontext(context, entry, 0);
}
int main(void) {
  struct timespec now, start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  make(&endless, stacks[0], goes_on);
  do {
    for (int i = 0; i < 100; i++) {
      swapcontext(&outside, &endless);
      make(&brief, stacks[1], ends);
      swapcontext(&outside, &brief);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < 2);
  return 0;
}
"""

# Collects garbage on the system stack while goroutines come and go.
GO = """
package main
import ("runtime"; "time")
type node struct { left, right *node }
func build(depth int) *node {
	if depth == 0 { return &node{} }
	return &node{build(depth - 1), build(depth - 1)}
}
func main() {
	end := time.Now().Add(1500 * time.Millisecond)
	done := make(chan *node)
	for time.Now().Before(end) {
		go func() { done <- build(12) }()
		<-done
		runtime.GC()
	}
}
"""


class Unwind(harness.RecordingTest):
    def record_chains(self, *arguments, under=()):
        """Records with --call-graph eh. Returns the share of complete chains in percent, what else
        is said of them, and the number of samples."""
        data = self.dir / "eh.data"
        status, out, err = harness.run(*under, harness.RECORD, "--call-graph", "eh", "-F", "999", "-o", data,
                                       *arguments)
        self.assertEqual(status, 0, err)
        found = COMPLETE.search(out + err)
        self.assertTrue(found, out + err)
        samples = re.search(r"(\d+) samples?[,;:]", out + err)
        return float(found.group(1)), found.group(2), int(samples.group(1))

    def chains(self, besides=None):
        """Returns the frames of each sample, from the leaf on, by perf, which prints no complaint.
        Leaves out those of the event `besides`."""
        status, out, err = harness.run("perf", "script", "-i", self.dir / "eh.data", "--no-inline",
                                       "-F", "comm,event,ip,sym", env=harness.perf_environment())
        self.assertEqual(status, 0, err)
        self.assertFalse(harness.perf_complaints(err), err)
        samples = [sample.strip().splitlines() for sample in out.split("\n\n") if sample.strip()]
        return [[line.split()[1] for line in lines[1:] if len(line.split()) > 1]
                for lines in samples if not (besides and besides in lines[0])]

    def assert_complete(self, *arguments, least=99.5, at_start=INCOMPLETE_AT_START):
        complete, rest, samples = self.record_chains(*arguments)
        allowed = 0 if least == 100 else max((100 - least) / 100 * samples, at_start)
        self.assertLessEqual((100 - complete) / 100 * samples, allowed, rest)
        return rest

    def test_deep_stack_without_frame_pointers(self):
        self.assert_complete("--", DEEP_STACK, DEPTH, "burn", "1000", least=99)
        depths = collections.Counter(chain.count("descend") for chain in self.chains()
                                     if "main" in chain)
        # The first and last samples may be on the way down or up.
        self.assertGreater(depths[DEPTH], 0.95 * depths.total(), depths)

    def test_too_deep(self):
        _, rest, _ = self.record_chains("--", DEEP_STACK, "200", "burn", "500")
        self.assertIn("too deep", rest)

    def test_as_deep_as_the_setting_allows(self):
        """The kernel refuses another setting while somebody records. The recorder only reads it."""
        setting = self.dir / "perf_event_max_stack"
        setting.write_text("512\n")
        complete, rest, _ = self.record_chains(
            "--", DEEP_STACK, "400", "burn", "500",
            under=self.after_mounts(f"mount --bind {setting} /proc/sys/kernel/perf_event_max_stack"))
        self.assertGreater(complete, 50, rest)
        self.assertNotIn("too deep", rest)

    def test_usual_programs(self):
        numbers = self.dir / "numbers"
        numbers.write_text("".join(f"{i * 7919 % 1000003}\n" for i in range(600000)))
        script = "def f(n): return n if n < 2 else f(n-1) + f(n-2)\nf(31)"
        for command in ((PYTHON, "-S", "-c", script), ("sort", "--parallel=2", numbers),
                        ("xz", "-2", "-c", numbers), ("ls", "-lR", "/usr/share")):
            with self.subTest(command=command[0]):
                self.assert_complete("--", *command, least=98)

    def test_kernel_hits_and_tracepoints(self):
        script = "import os\nfor _ in range(200000): os.getppid()"
        self.assert_complete("-e", "syscalls:sys_enter_getppid/every=100/", "--", PYTHON, "-S",
                             "-c", script, least=90)
        chains = self.chains()
        self.assertGreater(sum("Py_BytesMain" in chain for chain in chains), 0.9 * len(chains))

    def test_a_library_that_is_loaded_and_called_at_once(self):
        script = ("import ctypes\ntext = b'x' * 20000000\nz = ctypes.CDLL('libz.so.1')\n"
                  "for _ in range(16): z.adler32(0, text, len(text))")
        self.assert_complete("--", PYTHON, "-S", "-c", script, least=98)
        called = [chain for chain in self.chains() if any("adler32" in frame for frame in chain)]
        self.assertTrue(called)
        self.assertTrue(all("Py_BytesMain" in chain for chain in called), called)

    def test_many_short_programs(self):
        """The kernel side knows none of them when its first sample is taken. On a busy machine some of
        them have ended before the recorder, too, sees them."""
        complete, rest, samples = self.record_chains("--", "sh", "-c",
                                                     "for i in $(seq 60); do ls / >/dev/null; done")
        self.assertGreater(complete, 80)
        unknown = sum(map(int, re.findall(r"(\d+) (?:of a process that had just started|no mapping|no table)", rest)))
        self.assertLessEqual(unknown, 0.05 * samples, rest)

    def test_waits(self):
        script = "import time\nfor _ in range(50): time.sleep(0.005)"
        self.assert_complete("-e", "offcpu", "--", PYTHON, "-c", script, least=90)

    def test_a_parent_waits_in_vfork(self):
        """The child uses the parent's stack, so vfork keeps its return address in a register."""
        program = self.dir / "spawns"
        subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-x", "c", "-", "-o", program],
                       input=VFORK, text=True, check=True)
        self.assert_complete("-e", "offcpu", "--", program, least=100)
        waits = [chain for chain in self.chains() if any("vfork" in frame for frame in chain)]
        self.assertGreaterEqual(len(waits), 5)
        self.assertTrue(all("start_program" in chain for chain in waits), waits)

    def test_a_return_probe_hides_no_callers(self):
        """The kernel has replaced the return addresses on the stack."""
        program = self.dir / "returns"
        subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-x", "c", "-", "-o", program],
                       input=RETURNS, text=True, check=True)
        self.assert_complete("-e", f"offcpu,uretprobe:{program}:waits", "--", program, least=100)
        # On a busy machine it may be preempted anywhere.
        chains = [chain for chain in self.chains(besides="offcpu-runnable-time") if "waits_often" in chain]
        depths = collections.Counter(chain.count("waits") for chain in chains)
        self.assertTrue(all("main" in chain for chain in chains))
        # A wait has five frames. Its end may be missing: some hypervisors' guests trace nothing in
        # process 1, neither a switch from it. A return probe is hit after its function has returned.
        self.assertGreater(depths[5], 25, depths)
        for depth in range(5):
            self.assertEqual(depths[depth], 30, depths)

    @unittest.skipUnless(os.uname().machine == "x86_64", "trampolines of arm64 keep frame pointers")
    def test_trampolines_made_at_run_time(self):
        program = self.dir / "trampolines"
        subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-x", "c", "-", "-o",
                        program], input=TRAMPOLINES, text=True, check=True)
        # Until the tables are loaded, user space walks the stack, and it has no copy of the trampolines.
        rest = self.assert_complete("--", program, least=99, at_start=20)
        derived = re.search(r"([0-9.]+) % through code without tables", rest)
        self.assertTrue(derived and float(derived[1]) > 90, rest)
        chains = [chain for chain in self.chains() if "burns" in chain]
        callers = collections.Counter(tuple(chain[chain.index("burns"):][:6]) for chain in chains)
        whole = ("burns", "[unknown]", "inner", "[unknown]", "outer", "main")
        self.assertGreater(callers[whole], 100, callers)
        self.assertGreater(callers[whole], 0.95 * callers.total(), callers)
        leaves = collections.Counter(chain[0] for chain in chains)
        self.assertGreater(leaves["[unknown]"], 100, leaves)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the loop is written for x86-64")
    def test_interrupted_functions(self):
        program = self.dir / "signals"
        subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-x", "c", "-", "-o", program],
                       input=SIGNALS, text=True, check=True)
        self.record_chains("--", program)
        self.chains()
        status, _, err = harness.run(harness.CONVERT, "-q", self.dir / "eh.data", "--to", "folded",
                                     "-o", self.dir / "eh.folded")
        self.assertEqual(status, 0, err)
        _, _, stacks = harness.folded_counts(self.dir / "eh.folded")
        self.assertFalse([stack for stack in stacks if "innocent" in stack])
        handled = {stack: count for stack, count in stacks.items() if ";handler;works" in stack}
        interrupted = sum(count for stack, count in handled.items()
                          if re.search(r";calls;loops;[^;]*;handler;works", stack))
        self.assertGreater(interrupted, 50, stacks)
        self.assertGreater(interrupted, 0.95 * sum(handled.values()), handled)

    @unittest.skipUnless(os.uname().machine == "x86_64", "a walk ends there incomplete on arm64")
    def test_contexts_end_with_their_function(self):
        program = self.dir / "contexts"
        subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-x", "c", "-", "-o", program],
                       input=CONTEXTS, text=True, check=True)
        self.assert_complete("--", program, least=97)
        callers = collections.Counter()
        for chain in self.chains():
            for entry in {"goes_on", "ends"} & set(chain):
                callers[len(chain) - chain.index(entry)] += 1
        # The last frame is where the function will return to.
        self.assertGreater(callers[2], 50, callers)
        self.assertGreater(callers[2], 0.95 * callers.total(), callers)

    def test_no_caller_is_invented_in_a_gap_between_functions(self):
        program = self.dir / "gap"
        subprocess.run(["gcc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", program],
                       input=GAP, text=True, check=True)
        self.record_chains("--", program)
        chains = [chain for chain in self.chains() if "gap" in chain[:1] or "called" in chain[:1]]
        callers = collections.Counter(tuple(chain[1:]) for chain in chains)
        self.assertGreater(callers[("_start",)], 5, callers)
        self.assertGreater(callers[()], 5, callers)
        self.assertEqual(len(callers), 2, callers)

    def test_go_calls_on_the_system_stack(self):
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        (self.dir / "main.go").write_text(GO)
        program = self.dir / "collects"
        subprocess.run(["go", "build", "-o", program, "main.go"], cwd=self.dir, check=True,
                       env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"})
        self.record_chains("--", program)
        callers = collections.Counter()
        for chain in self.chains():
            names = [frame.removesuffix(".abi0") for frame in chain]
            if "runtime.systemstack" in names:
                callers[tuple(names[names.index("runtime.systemstack") + 1:][-1:])] += 1
        self.assertGreater(callers.total(), 5, callers)
        outermost = callers[("runtime.goexit",)] + callers[("runtime.rt0_go",)]
        self.assertGreater(outermost, 0.9 * callers.total(), callers)
        self.assertFalse([caller for caller in callers if caller and "unknown" in caller[0]], callers)

    def test_binaries_that_no_process_maps_are_closed(self):
        """A machine that compiles runs new binaries all the time."""
        copies = self.dir / "copies"
        copies.mkdir()
        script = (f"i=0; while [ $i -lt 1500 ]; do cp /bin/true {copies}/$i; {copies}/$i; "
                  f"rm {copies}/$i; i=$((i+1)); done; echo done; exec sleep 100")
        storm = self.spawn("sh", "-c", f"read go; {script}", stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
        recorder = self.spawn(harness.RECORD, "--call-graph", "eh", "-p", str(storm.pid), "-o",
                              "x.data", cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.wait_for_file(self.dir / "x.data", recorder)
        storm.stdin.write("go\n")
        storm.stdin.flush()
        self.assertEqual(storm.stdout.readline(), "done\n")
        kept = 1500
        for _ in range(200):
            with open(f"/proc/{recorder.pid}/maps") as maps:
                kept = sum(str(copies) in line for line in maps)
            if kept <= 1100:
                break
            time.sleep(0.05)
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=harness.TIMEOUT_S)
        print(f"\n{kept} of 1500 binaries are kept")
        self.assertLessEqual(kept, 1100, err)

    def test_tiny_memory(self):
        """The libraries of the recorder, whose process becomes the command, fill the memory until
        no sample has hit them for a second. Then the command's have room."""
        complete, _, _ = self.record_chains("--unwind-memory", "256K", "--", DEEP_STACK, "20", "burn", "4000")
        self.assertGreater(complete, 20)

    def test_frame_pointers_lose_the_callers(self):
        data = self.dir / "eh.data"
        self.assertEqual(harness.run(harness.RECORD, "--call-graph", "fp", "-o", data, "--",
                                     DEEP_STACK, "20", "burn", "500")[0], 0)
        self.assertTrue(all(chain.count("descend") < 19 for chain in self.chains()))


if __name__ == "__main__":
    harness.require("perf", DEEP_STACK)
    harness.require_sample_rate(999)
    harness.main()

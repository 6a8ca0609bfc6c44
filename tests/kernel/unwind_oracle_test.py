# SPDX-License-Identifier: Apache-2.0
"""Compares the call chains that the kernel side finds in unwind tables (--call-graph eh) with those
that perf's unwinder (libunwind or libdw) finds in the registers and the stack of the same sample.

The environment changes it:
  PERFTAPE_ORACLE_SECONDS  how long each program runs (default 2)
  PERFTAPE_ORACLE_METHOD   the method that is compared (default eh)

It prints a line for each program: samples, complete chains, identical ones, and the causes of the
others, for the first 100 ms of the process and for the rest."""

import collections
import json
import os
import re
import shutil
import signal
import sys

import harness
import split_oracle

TESTS = harness.BIN.parent / "tests"
SECONDS = float(os.environ.get("PERFTAPE_ORACLE_SECONDS", "2"))
METHOD = os.environ.get("PERFTAPE_ORACLE_METHOD", "eh")
STACK = 32768  # the chains of cc1plus do not fit into less
START_NS = 100_000_000
TABLE_S = 100  # in which the unwind table of a large program is read
ROOT = re.compile(r"_start$|_dl_start_user$|__libc_start_main|clone3?$|start_thread|thread_start$")

PYTHON_PROGRAM = os.path.realpath(sys.executable)  # not a script that starts it
PYTHON = """
import json, re, time
def deep(n): return n if n == 0 else 1 + deep(n - 1)
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    deep(50); json.loads(json.dumps({"a": list(range(200))})); re.sub(r"(a|b)+c", "x", "ababc" * 50)
"""
CPLUSPLUS = "#include <regex>\n#include <iostream>\n#include <map>\n#include <algorithm>\n" \
            "std::map<std::string, std::regex> all; int main() { return int(all.size()); }\n"
NODE = "const end = Date.now() + SECONDS * 1000; let n = 0;\n" \
       "function f(d) { return d ? f(d - 1) + 1 : JSON.stringify([1, 2, {a: n++}]).length; }\n" \
       "while (Date.now() < end) f(30);\n"

Verdict = collections.namedtuple("Verdict", "is_early is_complete verdict")


def user_chains(data):
    """Returns a list of (pid, ns, [(offset, symbol, object)]) of perf script: the user part, leaf
    first."""
    status, out, err = harness.run(
        "perf", "script", "--no-inline", "-F", "comm,pid,tid,time,ip,sym,dso", "--ns", "-i", data,
        env=harness.perf_environment())
    assert status == 0, err
    found = []
    for block in out.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        pid, seconds, fraction = re.search(r"(\d+)/\d+\s+(\d+)\.(\d+):", lines[0]).groups()
        frames = [re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line).groups() for line in lines[1:]]
        frames = [(int(address, 16), symbol, name) for address, symbol, name in frames
                  if not name.startswith("[kernel") and int(address, 16) < 2**63]
        found.append((pid, int(seconds + fraction), frames))
    return found


def compare(ours, theirs):
    """Returns how the two chains differ. perf looks callers up one byte before their return
    address. It guesses the caller of a function without unwind information, as _fini of a library:
    a chain that comes to an address in no object is a wrong guess if our chain is complete."""
    my_frames = [(address - (number > 0), name) for number, (address, _, name) in enumerate(ours)]
    their_frames = [(address, name) for address, _, name in theirs]
    shorter = min(len(ours), len(theirs))
    if my_frames == their_frames:
        return "identical"
    if my_frames[:shorter] == their_frames[:shorter]:
        return "perf's is truncated" if len(ours) > len(theirs) else "ours is truncated"
    differs = next(i for i in range(shorter) if my_frames[i] != their_frames[i])
    is_guess = any(name in ("[unknown]", "//anon") for _, name in their_frames[differs:])
    return "perf's is wrong" if is_complete(ours) and is_guess else "contradiction"


def is_complete(chain):
    """Whether the chain reaches what calls main or the thread's function, or starts the dynamic
    linker. A stripped program has no symbol for _start, the caller of __libc_start_main."""
    return any(ROOT.search(symbol) for _, symbol, _ in chain[-3:])


def judge(chains_file, stacks_file):
    """Returns a Verdict for each sample with user frames. Prints both stacks if they contradict."""
    first, verdicts = {}, []
    for (pid, ns, ours), (_, _, theirs) in zip(user_chains(chains_file), user_chains(stacks_file),
                                               strict=True):
        first.setdefault(pid, ns)
        # A task that exits or executes another program has lost its stack. perf keeps the leaf.
        if not ours and len(theirs) <= 1:
            continue
        verdict = compare(ours, theirs)
        verdicts.append(Verdict(ns - first[pid] < START_NS, is_complete(ours), verdict))
        if verdict in ("contradiction", "perf's is wrong"):
            print(f"{verdict}:", *zip(ours, theirs), sep="\n  ")
    return verdicts


def figures(verdicts):
    counts = collections.Counter(each.verdict for each in verdicts)
    complete = sum(each.is_complete for each in verdicts)
    return (f"{len(verdicts)} samples, {complete} complete, "
            + ", ".join(f"{count} {name}" for name, count in counts.most_common()))


class UnwindOracle(harness.RecordingTest):
    def record_with_oracle(self, *command, longest=SECONDS):
        data, ours, theirs = (self.dir / name for name in ("perf.data", "ours", "theirs"))
        status, _, err = harness.run(
            harness.RECORD, "-q", "-F", "997", "--no-bundle", "--call-graph",
            f"{METHOD}+dwarf,{STACK}", "-o", data, "--duration", longest, "--", *command,
            cwd=self.dir)
        self.assertIn(status, (0, 128 + signal.SIGTERM), err)
        split_oracle.split(data, ours, theirs)
        return judge(ours, theirs)

    def read_table_of(self, program):
        """Records the program until its unwind table is in the cache: a build without optimization
        reads that of a large program for seconds, and has nothing to say of what ran meanwhile."""
        _, libraries, _ = harness.run("ldd", program)  # Debian's node is mostly libnode.so
        files = [program, *re.findall(r"=> (/\S+)", libraries)]
        largest = max(map(os.path.realpath, files), key=os.path.getsize)
        table = harness.cache_directory() / f"{harness.build_id(largest)}.unwind"
        wait = (f"const end = Date.now() + {TABLE_S} * 1000;"
                f"while (Date.now() < end && !fs.existsSync({json.dumps(str(table))})) crypto.randomBytes(4096);")
        status, _, err = harness.run(harness.RECORD, "-q", "--no-bundle", "-o", self.dir / "first.data",
                                     "--", program, "-e", wait)
        self.assertIn(status, (0, 128 + signal.SIGTERM), err)
        self.assertTrue(table.exists(), f"{table} was not written")

    def assert_agrees(self, name, *command):
        verdicts = self.record_with_oracle(*command)
        early = [each for each in verdicts if each.is_early]
        late = [each for each in verdicts if not each.is_early]
        print(f"\n{name}, first 100 ms: {figures(early)}; later: {figures(late)}", flush=True)
        counts = collections.Counter(each.verdict for each in verdicts)
        self.assertEqual(counts["contradiction"], 0)
        self.assertGreater(len(verdicts), 10)
        if late:
            # Where both end early, as in a program that the kernel has only just begun, nothing is missing.
            good = sum(each.is_complete or each.verdict == "identical" for each in late)
            self.assertGreaterEqual(good / len(late), 0.995)
            of_late = collections.Counter(each.verdict for each in late)
            self.assertLessEqual(of_late["ours is truncated"] / len(late), 0.01)
            # perf's chain is often shorter than ours where a program throws and recurses.
            self.assertGreaterEqual(of_late["identical"] / len(late), 0.95)

    def test_python(self):
        self.assert_agrees("python3", PYTHON_PROGRAM, "-c", f"SECONDS = {SECONDS}\n{PYTHON}")

    def test_xz(self):
        self.assert_agrees("xz", "xz", "-k", "-c", "-T1", os.path.realpath(harness.RECORD))

    def test_sort(self):
        lines = self.dir / "lines"
        lines.write_text("".join(f"{number * 7919 % 1000003} {number}\n"
                                 for number in range(int(400000 * SECONDS))))
        self.assert_agrees("sort", "sort", "--parallel=1", "-o", "/dev/null", lines)

    def test_ls(self):
        self.assert_agrees("ls", "ls", "-lR", "/usr")

    def test_threads_exceptions_and_regular_expressions(self):
        self.assert_agrees("C++", TESTS / "mixed_stacks", "3", int(SECONDS * 1000))

    def test_a_deep_stack(self):
        self.assert_agrees("deep", TESTS / "deep_stack", "100", "burn", int(SECONDS * 1000))

    def test_a_compiler(self):
        status, compiler, _ = harness.run("g++", "-print-prog-name=cc1plus")
        if status != 0 or not os.path.exists(compiler.strip()):
            self.skipTest("g++ is not installed")
        source, preprocessed = self.dir / "source.cc", self.dir / "source.ii"
        source.write_text(CPLUSPLUS)
        status, _, err = harness.run("g++", "-E", "-o", preprocessed, source)
        self.assertEqual(status, 0, err)
        self.assert_agrees("cc1plus", compiler.strip(), "-quiet", "-fpreprocessed", "-O2",
                           preprocessed, "-o", "/dev/null")

    def test_code_that_is_compiled_while_it_runs(self):
        if shutil.which("node") is None:
            self.skipTest("node is not installed")
        # On a busy machine it starts for seconds. It ends by itself.
        self.read_table_of(shutil.which("node"))
        verdicts = self.record_with_oracle("node", "-e", f"const SECONDS = {SECONDS};\n{NODE}",
                                           longest=20 * SECONDS)
        print(f"\nnode: {figures(verdicts)}", flush=True)
        late = [each for each in verdicts if not each.is_early]
        complete = sum(each.is_complete for each in late)
        self.assertGreaterEqual(complete / max(len(late), 1), 0.95)


harness.require("perf", str(TESTS / "mixed_stacks"), str(TESTS / "deep_stack"))
if harness.run(harness.RECORD, "--call-graph", f"{METHOD}+dwarf", "--", "true",
               cwd="/")[0] == 2:
    harness.skip(f"perftape-record has no --call-graph {METHOD}")
harness.main()

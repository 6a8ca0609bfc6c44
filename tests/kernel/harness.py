# SPDX-License-Identifier: Apache-2.0
"""What the tests that record for real share: the tools, perf as the judge, and when to skip.

They need root and a kernel with BTF; where these are absent a test ends with status 77, which CTest
counts as skipped, and says why. A test that fails prints the commands that it ran with their status and
stderr.

Other programs run at the same time, some of them in containers. A test records its own processes, unless
it is about recording the whole system; then it judges what is its own."""

import collections
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("PERFTAPE_BIN_DIR", "build/dev/bin")).resolve()
RECORD, CONVERT, INSPECT, BUNDLE, BURNER = (
    str(BIN / name)
    for name in ("perftape-record", "perftape-convert", "perftape-inspect", "perftape-bundle",
                 "perftape-burner"))
PERFPARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
TIMEOUT_S = 120
MODE_MARK = r"^\[[.k]\] "  # perf's, before each symbol


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def require(*programs):
    """Skips the whole file unless this machine can record and has these programs."""
    if os.geteuid() != 0:
        skip("not root: BPF programs cannot be loaded")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip("the kernel has no BTF (/sys/kernel/btf/vmlinux)")
    for program in programs:
        if shutil.which(program) is None and not os.path.exists(program):
            skip(f"{program} is not installed")


def max_sample_rate():
    """Samples a second that the kernel allows. It lowers this limit where samples take too much time."""
    return int(pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text())


def require_sample_rate(wanted):
    """Skips the whole file where the kernel allows fewer samples a second."""
    if max_sample_rate() < wanted:
        skip(f"kernel.perf_event_max_sample_rate is {max_sample_rate()}, this test needs {wanted}")


executed = []  # (command, status, stderr) of the test that is running


def run(*command, **options):
    """Runs to the end; returns (status, stdout, stderr) as text."""
    options.setdefault("timeout", TIMEOUT_S)
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          errors="replace", **options)
    executed.append((shlex.join(words), done.returncode, done.stderr))
    return done.returncode, done.stdout, done.stderr


def print_executed():
    """What the failed test ran."""
    for command, status, err in executed:
        print(f"ran: {command}\n  status {status}", *err.splitlines(), sep="\n  ", file=sys.stderr)


def shell(script, cwd):
    """Runs a pipeline that fails if any part of it does."""
    return run("bash", "-o", "pipefail", "-c", script, cwd=cwd)


def perf_environment():
    """perf colours and pages for a terminal, and reads a user's configuration: not in a test."""
    return dict(os.environ, HOME="/nonexistent", PERF_CONFIG="/dev/null", LC_ALL="C", TERM="dumb")


Row = collections.namedtuple("Row", "samples name")


def is_in_chroot():
    """Whether our root is a directory that is no mount point: then no mount is listed at it."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return not any(line.split()[4] == "/" for line in mounts)


def perf_complaints(stderr):
    """perf's stderr without what it says in any chroot: it enters the mount namespaces of other processes
    to read their binaries, and cannot change back to the old directory, whose name it has from the chroot."""
    if not is_in_chroot():
        return stderr
    return re.sub(r"^assertion failed at util/namespaces\.c:\d+\n", "", stderr, flags=re.MULTILINE)


def perf_report(data, sort="sym", extra=()):
    """({name: samples}, stderr) of `perf report`, self counts. A name is the sort columns joined."""
    command = ["perf", "report", "--stdio", "--no-children", "-g", "none", "-t", "|", "-F",
               "sample," + sort, "-i", str(data), *extra]
    status, out, err = run(*command, env=perf_environment())
    assert status == 0, err
    counts = collections.Counter()
    for line in out.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        samples, _, name = line.partition("|")
        counts["|".join(part.strip() for part in name.split("|"))] += int(samples)
    return counts, perf_complaints(err)


def without_mode(counts):
    """perf marks each symbol with [.] or [k]; other tools do not."""
    plain = collections.Counter()
    for name, samples in counts.items():
        plain[re.sub(MODE_MARK, "", name)] += samples
    return plain


def perf_stats(data):
    """{record type: count} of `perf report --stats`, the first, total block."""
    status, out, err = run("perf", "report", "--stats", "-i", data, env=perf_environment())
    assert status == 0, err
    counts = {}
    for line in out.splitlines():
        if line.startswith("Aggregated") or not line.strip():
            continue
        if " stats:" in line and not line.startswith("Aggregated"):
            break
        match = re.match(r"\s*(\S+) events:\s+(\d+)", line)
        if match:
            counts[match.group(1)] = int(match.group(2))
    return counts


def inspect_samples(data):
    """The rows of `perftape-inspect --samples` as dictionaries."""
    status, out, err = run(INSPECT, "--samples", data)
    assert status == 0, err
    lines = out.splitlines()
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def folded_counts(path):
    """(total, {leaf: samples}, {stack: samples}) of a folded file."""
    leaves, stacks = collections.Counter(), collections.Counter()
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[stack] += int(count)
        leaves[stack.split(";")[-1]] += int(count)
    return sum(stacks.values()), leaves, stacks


def shares(counts):
    total = sum(counts.values())
    return {name: 100.0 * samples / total for name, samples in counts.items()} if total else {}


class RecordingTest(unittest.TestCase):
    """A test with a directory of its own. Where it fails, it prints what it ran."""

    def run(self, result=None):
        failed = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > failed:
            print_executed()
        executed.clear()

    def setUp(self):
        self._stack = contextlib.ExitStack()
        self.dir = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))

    def tearDown(self):
        self._stack.close()

    def spawn(self, *command, **options):
        """A process that does not outlive the test, even one that fails."""
        process = subprocess.Popen([str(word) for word in command], **options)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)  # first
        return process

    def record(self, *arguments, **options):
        status, out, err = run(RECORD, *arguments, cwd=self.dir, **options)
        if "kernel.perf_event_max_sample_rate" in err:
            self.skipTest(err.strip())
        self.assertEqual(status, 0, err)
        return out, err

    def assert_shares_agree(self, left, right, above, within):
        """Each name with a share above `above` percent on either side differs by at most `within`.

        What has no name is left out: perf shows each address by itself, others the object."""
        left, right = shares(left), shares(right)
        for name in left.keys() | right.keys():
            if re.match(r"0x|\[", re.sub(MODE_MARK, "", name)):
                continue
            ours, theirs = left.get(name, 0.0), right.get(name, 0.0)
            if max(ours, theirs) > above:
                self.assertLessEqual(abs(ours - theirs), within, f"{name}: {ours:.2f} {theirs:.2f}")


def main():
    unittest.main(verbosity=2)

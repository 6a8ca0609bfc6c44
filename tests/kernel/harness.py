# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests that record: paths of the tools, perf's output, and reasons to skip.

The tests need root and a kernel with BTF. Without these a test prints the reason and exits with
status 77, which CTest counts as skipped. A failed test prints the commands that it ran, with their
status and stderr.

Other programs run at the same time, some of them in containers. A test records its own processes.
If it must record the whole system, it only checks its own processes."""

import collections
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from committed_records import committed_samples

BIN = pathlib.Path(os.environ.get("PERFTAPE_BIN_DIR", "build/dev/bin")).resolve()
RECORD, CONVERT, INSPECT, BUNDLE, BURNER, DOCTOR = (
    str(BIN / name)
    for name in ("perftape-record", "perftape-convert", "perftape-inspect", "perftape-bundle",
                 "perftape-burner", "perftape-doctor"))
PERFPARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
TIMEOUT_S = 120
MODE_MARK = r"^\[[.k]\] "  # perf's, before each symbol
# What perf report says of a file that is whole, as patterns.
NO_SAMPLES = r"Error:\nThe \S+ data has no samples!\n"
LOSSES = r"(Warning:\nProcessed \d+ \w+ and lost .*!\n\n(Check IO/CPU overload!\n\n)?)*"


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


RATE_LIMIT = pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate")
SAMPLING_PERCENT = pathlib.Path("/proc/sys/kernel/perf_cpu_time_max_percent")
required_rate = 0  # samples per second


def max_sample_rate():
    """Returns the samples per second that the kernel allows. The kernel lowers this limit if
    samples take too much time."""
    return int(RATE_LIMIT.read_text())


@contextlib.contextmanager
def sample_rate_limit(limit):
    """Lets the kernel allow this number of samples per second. Raises OSError if that is refused."""
    before = RATE_LIMIT.read_text(), SAMPLING_PERCENT.read_text()
    try:
        if int(before[1]) in (0, 100):  # then the kernel takes no limit
            SAMPLING_PERCENT.write_text("25")
        RATE_LIMIT.write_text(str(limit))
        yield
    finally:
        RATE_LIMIT.write_text(before[0])
        SAMPLING_PERCENT.write_text(before[1])


def require_sample_rate(wanted):
    """Skips the whole file if the kernel allows fewer samples per second, now or when a test has
    failed."""
    global required_rate
    required_rate = wanted
    if max_sample_rate() < wanted:
        skip(f"kernel.perf_event_max_sample_rate is {max_sample_rate()}, this test needs {wanted}")


# Tests that compare times or rates of this machine, which a busy one may fail, run on request: these alone.
CHOOSES_TIMING = os.environ.get("PERFTAPE_TIMING") == "1"


def timing(test):
    """Marks a test that compares times or rates of this machine."""
    test.compares_times = True
    return test


class ChosenTests(unittest.TestLoader):
    """Finds the tests that compare times, or the others."""

    def getTestCaseNames(self, test_case):  # unittest calls it so
        return [name for name in super().getTestCaseNames(test_case)
                if hasattr(getattr(test_case, name), "compares_times") == CHOOSES_TIMING]


executed = []  # (command, status, stderr) of the current test


def run(*command, **options):
    """Runs a command to its end; returns (status, stdout, stderr) as text."""
    options.setdefault("timeout", TIMEOUT_S)
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          errors="replace", **options)
    executed.append((shlex.join(words), done.returncode, done.stderr))
    return done.returncode, done.stdout, done.stderr


def print_executed():
    """Prints the commands of the failed test."""
    for command, status, err in executed:
        print(f"ran: {command}\n  status {status}", *err.splitlines(), sep="\n  ", file=sys.stderr)


def shell(script, cwd):
    """Runs a pipeline; fails if any part of it fails."""
    return run("bash", "-o", "pipefail", "-c", script, cwd=cwd)


def perf_environment():
    """Returns an environment without perf's colours, pager and user configuration, and without a cache of
    binaries: perf cannot create one in this home."""
    return dict(os.environ, HOME="/dev/null", PERF_CONFIG="/dev/null", LC_ALL="C", TERM="dumb")


Row = collections.namedtuple("Row", "samples name")


def is_in_chroot():
    """Returns whether our root is a directory that is no mount point: then no mount is listed at
    "/"."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return not any(line.split()[4] == "/" for line in mounts)


def perf_complaints(stderr):
    """Returns perf's stderr without its messages in a chroot, and about copied stacks of another architecture, which
    it does not walk. perf enters the mount namespaces of other processes to read their binaries, and cannot change back
    to its directory, whose name is relative to the chroot."""
    stderr = re.sub(r"^unwind: target platform=\w+ is not supported\n", "", stderr, flags=re.MULTILINE)
    if not is_in_chroot():
        return stderr
    return re.sub(r"^assertion failed at util/namespaces\.c:\d+\n", "", stderr, flags=re.MULTILINE)


def perf_report(data, sort="sym", extra=()):
    """Returns ({name: samples}, stderr) of `perf report`, self counts. A name joins the sort
    columns."""
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
    """Removes [.] or [k], with which perf marks each symbol; other tools do not."""
    plain = collections.Counter()
    for name, samples in counts.items():
        plain[re.sub(MODE_MARK, "", name)] += samples
    return plain


def perf_stats(data):
    """Returns {record type: count} of `perf report --stats`, the first, total block."""
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


def losses_of(data):
    """Returns what the recorder counted as lost, as perftape-inspect prints it."""
    status, out, err = run(INSPECT, "--losses", "--json", data)
    assert status == 0, err
    return json.loads(out)["losses"]


def loss_warnings(data):
    """Returns the pattern of perf's warnings of losses: none unless the recorder counted some. On a
    busy machine an exec storm may fill a ring."""
    losses = losses_of(data)
    return LOSSES if losses["lost_samples"] or losses["lost_process_events"] else ""


def inspect_samples(data):
    """Returns the rows of `perftape-inspect --samples` as dictionaries."""
    status, out, err = run(INSPECT, "--samples", data)
    assert status == 0, err
    lines = out.splitlines()
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def folded_counts(path):
    """Returns (total, {leaf: samples}, {stack: samples}) of a folded file."""
    leaves, stacks = collections.Counter(), collections.Counter()
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[stack] += int(count)
        leaves[stack.split(";")[-1]] += int(count)
    return sum(stacks.values()), leaves, stacks


def shares(counts):
    total = sum(counts.values())
    return {name: 100.0 * samples / total for name, samples in counts.items()} if total else {}


def cache_directory():
    """Returns where the tools keep what they read from binaries."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "perftape"


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True)
    return notes.stdout.split("Build ID:")[1].split()[0]


class RecordingTest(unittest.TestCase):
    """A test with its own directory. If it fails, it prints the commands it ran."""

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
        """Starts a process that ends with the test, even if the test fails."""
        process = subprocess.Popen([str(word) for word in command], **options)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)  # first
        return process

    def need_mount_namespace(self):
        """Skips the test where there is none: in a chroot whose root is no mount point, for one."""
        status, _, err = run("unshare", "--mount", "true")
        if status != 0:
            self.skipTest(f"no mount namespace to be had: {err.strip()}")

    def after_mounts(self, script):
        """Returns the words before a command that runs it in a mount namespace of its own, after
        the script has changed that."""
        self.need_mount_namespace()
        return ["unshare", "--mount", "sh", "-c", f'{script} && exec "$@"', "sh"]

    def assert_complains_of_losses_only(self, stderr, data):
        """Takes perf report's stderr. The recorder must have counted the losses, too."""
        self.assertRegex(stderr, rf"\A{loss_warnings(data)}\Z")

    def wait_until(self, holds):
        deadline = time.monotonic() + TIMEOUT_S
        while not holds():
            self.assertLess(time.monotonic(), deadline, "this takes too long")
            time.sleep(0.01)

    def wait_for_file(self, path, *recorders):
        """Returns when a recorder has begun its file. All of them must run."""
        def has_begun():
            self.assertEqual([recorder.poll() for recorder in recorders], [None] * len(recorders))
            return path.exists()
        self.wait_until(has_begun)

    def wait_for_samples(self, data, count=100):
        """Returns when the file of a recorder, which runs, has `count` samples."""
        self.wait_until(lambda: data.exists() and committed_samples(data) >= count)

    def record(self, *arguments, under=(), **options):
        """Runs the recorder, as an argument of the command `under` if there is one."""
        status, out, err = run(*under, RECORD, *arguments, cwd=self.dir, **options)
        if "kernel.perf_event_max_sample_rate" in err:
            self.skipTest(err.strip())
        self.assertEqual(status, 0, err)
        return out, err

    def assert_shares_agree(self, left, right, above, within):
        """Checks that each name with a share above `above` percent on either side differs by at
        most `within`.

        Samples without a name are left out: perf shows each address separately, others show the
        object. So are those of the vdso, of which perf has a copy only with a cache of binaries."""
        left, right = shares(left), shares(right)
        for name in left.keys() | right.keys():
            if re.match(r"0x|\[|__vdso_", re.sub(MODE_MARK, "", name)):
                continue
            ours, theirs = left.get(name, 0.0), right.get(name, 0.0)
            if max(ours, theirs) > above:
                self.assertLessEqual(abs(ours - theirs), within, f"{name}: {ours:.2f} {theirs:.2f}")


def main():
    ran = unittest.main(verbosity=2, exit=False, testLoader=ChosenTests())
    if not ran.result.wasSuccessful() and required_rate:
        require_sample_rate(required_rate)
    sys.exit(not ran.result.wasSuccessful())

# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests that record cgroups: a test that makes cgroups, and programs in them that make a
known number of system calls."""

import collections
import os
import pathlib
import re
import sys
import time

import harness

PYTHON = os.path.realpath(sys.executable)
GETPPID = "syscalls:sys_enter_getppid"
# The name of the programs of this test only: others run beside it, and most record the whole machine.
COMM = f"calls-{os.getpid()}"
# Two events that the kernel does not throttle.
EVENTS = f"context-switches/period=1/,{GETPPID}"

# Enters a cgroup as $1 (or stays, if it is empty), takes a name, and calls getppid() $3 times.
PROGRAM = """
import os, sys
if sys.argv[1]:
    open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
open("/proc/self/comm", "w").write(sys.argv[2])
for _ in range(int(sys.argv[3])):
    os.getppid()
"""


def mounts_of(kind):
    """[(mount, options)] of the cgroup hierarchies of this version."""
    found = []
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, mount, its_kind, options = line.split()[:4]
        if its_kind == kind:
            found.append((pathlib.Path(mount), options.split(",")))
    return found


def is_writable(mount):
    probe = mount / f"perftape-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
        return True
    except OSError:
        return False


def version_2():
    return next((mount for mount, _ in mounts_of("cgroup2") if is_writable(mount)), None)


def version_1():
    """A hierarchy with a controller in which any process can be."""
    for mount, options in mounts_of("cgroup"):
        if {"cpu", "cpuacct", "freezer", "pids"} & set(options) and is_writable(mount):
            return mount
    return None


def remove(group):
    """Removes a cgroup. It stays busy for a moment after its last process."""
    for _ in range(100):
        try:
            os.rmdir(group)
            return
        except OSError:
            time.sleep(0.02)


def report(data, sort):
    """{event: {key: samples}} of perf report."""
    status, out, err = harness.run("perf", "report", "--stdio", "--no-children", "-g", "none", "-t", "|",
                                   "-F", f"sample,{sort}", "-i", data, env=harness.perf_environment())
    assert status == 0, err
    counts, event = collections.defaultdict(collections.Counter), None
    for line in out.splitlines():
        named = re.search("of event '(.*)'", line)
        if named:
            event = named.group(1)
        elif line.strip() and not line.startswith("#"):
            samples, *keys = [part.strip() for part in line.split("|")]
            counts[event]["|".join(keys)] += int(samples)
    return counts


class CgroupTest(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.mount = version_2()
        if self.mount is None:
            self.skipTest("no writable cgroup v2 hierarchy")
        self.top = f"perftape-test-{os.getpid()}"
        (self.dir / "program.py").write_text(PROGRAM)

    def tearDown(self):
        for mount in (self.mount, version_1()):
            for directory, _, _ in os.walk(mount / self.top, topdown=False) if mount else ():
                remove(directory)
        super().tearDown()

    def group(self, name, mount=None):
        """Makes a cgroup; returns its directory."""
        directory = (mount or self.mount) / self.top / name
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def path(self, name):
        """As perf names it."""
        return f"/{self.top}/{name}"

    def calls(self, *programs):
        """A shell command that runs programs (group, comm, calls) at the same time."""
        words = [f"{PYTHON} {self.dir}/program.py '{group}' {comm} {count} &" for group, comm, count in programs]
        return ["--", "sh", "-c", " ".join(words) + " wait"]

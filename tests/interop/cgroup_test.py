#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf records two control groups. `perftape-convert --cgroup`, the label cgroup of a pprof and the
rows of perftape-inspect must count the samples of each group as `perf report --sort cgroup` does.

Needs root and cgroup v2, which the test mounts in a directory of its own."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

import perf_recording

# Two groups that burn differently long, the second one below another group.
GROUPS = {"one": 0.2, "two/inner": 0.5}
BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"


def output_of(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def why_not_mountable(directory):
    """Returns why cgroup v2 cannot be mounted here; empty if it can."""
    done = subprocess.run(["mount", "-t", "cgroup2", "none", directory], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip() or "mount failed"
    subprocess.run(["umount", directory], check=True)
    return ""


class Groups:
    """Control groups of a directory of cgroup v2, removed at the end."""

    def __init__(self, mount):
        self.mount = mount
        self.name = f"perftape-test-{os.getpid()}"

    def __enter__(self):
        subprocess.run(["mount", "-t", "cgroup2", "none", self.mount], check=True,
                       capture_output=True)
        for group in GROUPS:
            (self.mount / self.name / group).mkdir(parents=True)
        return self

    def __exit__(self, *_):
        top = self.mount / self.name
        for directory, _, _ in os.walk(top, topdown=False):
            for _ in range(100):  # a group stays busy for a moment after its last process
                try:
                    os.rmdir(directory)
                    break
                except OSError:
                    time.sleep(0.02)
        subprocess.run(["umount", self.mount], check=True)

    def path(self, group):
        """As perf names it, from the root of the hierarchy."""
        return f"/{self.name}/{group}"

    def start(self, group):
        procs = self.mount / self.name / group / "cgroup.procs"
        enter = f"echo $$ > {procs}; exec {sys.executable} -c \"$0\""
        return subprocess.Popen(["sh", "-c", enter, BURN.format(GROUPS[group])])


def perf_counts(data):
    """Samples and periods by cgroup."""
    counts = {}
    table = output_of("perf", "report", "-i", data, "--sort", "cgroup", "-F", "sample,period,cgroup",
                      "-t", "\t", "--stdio", "-q")
    for line in table.splitlines():
        match = re.fullmatch(r"\s*(\d+)\s+(\d+)\s+(\S+)\s*", line)
        if match:
            counts[match.group(3)] = (int(match.group(1)), int(match.group(2)))
    return counts


def filtered_counts(convert, data, pattern, directory):
    """The samples and the period that --cgroup keeps."""
    report = json.loads(output_of(convert, "-q", "-f", "--no-symbols", "--json", data, "--cgroup",
                                  pattern, "-o", directory / "out.folded"))
    kept = report["events"][0]["kept"]
    return kept["samples"], kept["period"]


def row_counts(inspect, data):
    counts = collections.Counter()
    for line in output_of(inspect, "--samples", "--json", data).splitlines():
        counts[json.loads(line)["sample"]["cgroup"]] += 1
    return dict(counts)


def label_counts(convert, data, directory):
    """Go's pprof counts the samples of each label."""
    profile = directory / "out.pb.gz"
    output_of(convert, "-q", "--no-symbols", data, "--labels", "cgroup", "-o", profile)
    tags = output_of("go", "tool", "pprof", "-tags", "-sample_index=0", profile)
    block = re.search(r"^ *cgroup: Total .*\n((?: +[\d.]+.*\n)*)", tags, re.M)
    return {name: int(count) for count, name in
            re.findall(r"^ +(\d+)\.0 +\([^)]*\): (\S+)$", block.group(1) if block else "", re.M)}


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, perf report has {want}")


def record(data, groups):
    perf = subprocess.Popen(["perf", "record", "-q", "-o", data, "--all-cgroups", "-e", "cpu-clock",
                             "-F", "999", "-a", "--", "sleep", "30"], stderr=subprocess.PIPE)
    while not data.exists() and perf.poll() is None:
        time.sleep(0.05)
    time.sleep(0.3)  # the file exists before the events count
    for burner in [groups.start(group) for group in GROUPS]:
        burner.wait()
    perf.send_signal(2)
    _, errors = perf.communicate()
    return errors.decode()


def check(bin_directory, directory):
    data = directory / "perf.data"
    mount = directory / "cgroup"
    mount.mkdir()
    if reason := why_not_mountable(mount):
        print(f"cgroup v2 cannot be mounted here: {reason}")
        return perf_recording.SKIPPED
    with Groups(mount) as groups:
        errors = record(data, groups)
        if not data.exists():
            print(f"perf cannot record control groups here: {errors}")
            return perf_recording.SKIPPED
        convert, inspect = bin_directory / "perftape-convert", bin_directory / "perftape-inspect"
        perf = perf_counts(data)
        for group in GROUPS:
            path = groups.path(group)
            if perf.get(path, (0, 0))[0] < 50:
                sys.exit(f"{path}: perf report has too few samples: {perf}")
            expect(f"--cgroup {path}", filtered_counts(convert, data, path, directory), perf[path])
        both = tuple(sum(perf[groups.path(group)][i] for group in GROUPS) for i in (0, 1))
        pattern = f"/{groups.name}/*"
        expect(f"--cgroup {pattern}", filtered_counts(convert, data, pattern, directory), both)
        samples = {path: counts[0] for path, counts in perf.items()}
        expect("--samples", row_counts(inspect, data), samples)
        if shutil.which("go"):
            expect("label cgroup", label_counts(convert, data, directory), samples)
    print(", ".join(f"{path}: {samples} samples" for path, samples in samples.items()))
    return 0


if __name__ == "__main__":
    sys.exit(perf_recording.run_check(__doc__, check))

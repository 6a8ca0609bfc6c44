#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf records three tracepoints, into a file and into a pipe. The fields that perftape-inspect
reads from RAW must be those that `perf script -F trace` prints, and the labels that perftape-convert
writes must have the same values.

perf prints by the tracepoint's own "print fmt". READERS names what of it is a field. Needs root,
for tracefs."""
import collections
import json
import re
import shutil
import subprocess
import sys

import perf_recording

EVENTS = ("sched:sched_switch", "sched:sched_process_exec", "syscalls:sys_enter_openat")

# What causes them: programs that start, open files and wait.
WORK = "for i in 1 2 3; do cat /etc/passwd > /dev/null; sleep 0.01; done"


def switch_of(trace):
    """prev_comm=sh prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=x next_pid=2 next_prio=120"""
    match = re.fullmatch(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=\S+ ==> "
                         r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)", trace)
    names = ("prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio")
    return dict(zip(names, match.groups()))


def exec_of(trace):
    """filename=/usr/bin/cat pid=7 old_pid=7"""
    match = re.fullmatch(r"filename=(.*) pid=(\d+) old_pid=(\d+)", trace)
    return dict(zip(("filename", "pid", "old_pid"), match.groups()))


def openat_of(trace):
    """dfd: 0xffffff9c, filename: 0x7ffc0a121240, flags: 0x00080000, mode: 0x00000000"""
    fields = dict(re.findall(r"(\w+): 0x([0-9a-f]+)", trace))
    return {name: str(int(value, 16)) for name, value in fields.items()}


READERS = {EVENTS[0]: switch_of, EVENTS[1]: exec_of, EVENTS[2]: openat_of}


def output_of(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(errors="replace")


def perf_samples(data):
    """(event, time in ns, the fields that perf prints) of each sample."""
    text = output_of("perf", "script", "--ns", "-i", data, "-F", "time,event,trace")
    for line in text.splitlines():
        match = re.fullmatch(r"\s*(\d+)\.(\d{9}):\s+([\w:]+): (.*?)\s*", line)
        if not match:
            sys.exit(f"perf script: {line!r}: not understood")
        seconds, rest, event, trace = match.groups()
        yield event, int(seconds + rest), READERS[event](trace)


def our_samples(tool, data):
    for line in output_of(tool, "--samples", "--json", data).splitlines():
        sample = json.loads(line)["sample"]
        yield sample["event"], sample["time_ns"], sample["fields"]


def shown(value):
    """A field as the decimal number or text of READERS."""
    is_hex = isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value)
    return str(int(value, 16) if is_hex else value)


def check_fields(inspect, data):
    want = sorted(perf_samples(data), key=lambda sample: sample[:2])
    got = sorted(our_samples(inspect, data), key=lambda sample: sample[:2])
    if [sample[:2] for sample in want] != [sample[:2] for sample in got]:
        sys.exit("the samples differ in event or time")
    counts = collections.Counter()
    for (event, time, fields), (_, _, ours) in zip(want, got):
        ours = {name: shown(ours.get(name)) for name in fields}
        if fields != ours:
            sys.exit(f"{event} at {time}: perf prints {fields}, perftape-inspect {ours}")
        counts[event] += 1
    for event in EVENTS:
        if counts[event] < 3:
            sys.exit(f"{event}: only {counts[event]} samples were recorded")
    print(", ".join(f"{event}: {count} samples agree" for event, count in counts.items()))
    return want


def check_labels(convert, data, samples, directory):
    """Go's pprof counts the samples of each value of a label."""
    if shutil.which("go") is None:
        print("labels: not checked, because there is no go")
        return
    profile = directory / "out.pb.gz"
    output_of(convert, "-q", "-f", data, "--labels", "field:next_prio", "-o", profile)
    tags = output_of("go", "tool", "pprof", "-tags", "-sample_index=sched:sched_switch_sample",
                     profile)
    block = re.search(r"^ *next_prio: Total .*\n((?: +[\d.]+.*\n)*)", tags, re.M)
    got = {int(value): int(count) for count, value in
           re.findall(r"^ +(\d+)\.0 +\([^)]*\): (\d+)$", block.group(1) if block else "", re.M)}
    want = collections.Counter(int(fields["next_prio"]) for event, _, fields in samples
                               if event == EVENTS[0])
    if got != dict(want):
        sys.exit(f"next_prio: pprof counts {got}, perf {dict(want)}")
    print(f"next_prio: pprof counts the {len(want)} values as perf does")


def record(data):
    """Records into a file, or into a pipe that is saved to one. Returns perf's complaint, or None."""
    options = [word for event in EVENTS for word in ("-e", event)]
    is_pipe = data.name.startswith("pipe")
    with open(data, "wb") as stream:
        done = subprocess.run(["perf", "record", "-q", "-a", "-o", "-" if is_pipe else data,
                               *options, "--", "sh", "-c", WORK], stderr=subprocess.PIPE,
                              stdout=stream if is_pipe else subprocess.DEVNULL, check=False)
    return None if done.returncode == 0 else done.stderr.decode()


def record_and_check(bin_directory, directory):
    for data in (directory / "perf.data", directory / "pipe.data"):
        errors = record(data)
        if errors is not None:
            print(f"perf cannot record tracepoints here: {errors}")
            return perf_recording.SKIPPED
        samples = check_fields(bin_directory / "perftape-inspect", data)
        check_labels(bin_directory / "perftape-convert", data, samples, directory)
    return 0


if __name__ == "__main__":
    sys.exit(perf_recording.run_check(__doc__, record_and_check))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf records several events at once. Each folded file that `-o out-%e.folded` writes, and each pair
of sample types of a pprof, must have the samples and periods that perf report has for its event; twice
as many if the recording is merged with itself. Needs root, for a tracepoint."""
import pathlib
import re
import shutil
import subprocess
import sys

import perf_recording

# The part of the file's name and the unit of pprof, by perf's name.
EVENTS = {
    "cpu-clock": ("cpu-clock", "nanoseconds"),
    "task-clock": ("task-clock", "nanoseconds"),
    "page-faults": ("page-faults", "count"),
    "sched:sched_switch": ("sched_sched_switch", "count"),
}
WORK = "for i in 1 2 3 4 5; do python3 -c 'print(sum(range(1000000)))'; done > /dev/null"


def output_of(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def perf_totals(data):
    """(samples, period) of each event."""
    text, _ = output_of("perf", "script", "-i", data, "-F", "event,period")
    totals = {}
    for line in text.splitlines():
        period, event = line.split()
        samples, sum_of_periods = totals.get(event[:-1], (0, 0))
        totals[event[:-1]] = (samples + 1, sum_of_periods + int(period))
    return totals


def folded_totals(convert, directory, inputs):
    """The same of the files of each event; the list on stderr must name exactly these."""
    totals = {}
    for value in ("samples", "period"):
        _, listed = output_of(convert, "-f", "--no-symbols", "--values", value, *inputs, "-o",
                              directory / "out-%e.folded")
        files = {pathlib.Path(name): event for name, event in
                 re.findall(r"^perftape-convert: (\S+\.folded): \d+ samples? of (\S+)$", listed,
                            re.M)}
        if set(files) != set(directory.glob("out-*.folded")):
            sys.exit(f"the files that are listed are not those that are there: {listed}")
        for path, event in files.items():
            if path.name != f"out-{EVENTS[event][0]}.folded":
                sys.exit(f"{event} is in {path.name}")
            total = sum(int(line.rsplit(" ", 1)[1]) for line in path.read_text().splitlines())
            totals[event] = (*totals.get(event, ()), total)
    return totals


def pprof_totals(convert, directory, inputs):
    """The same of a pprof, as Go reads it. Its sample types must have the right units."""
    profile = directory / "out.pb.gz"
    output_of(convert, "-f", "--no-symbols", *inputs, "-o", profile)
    raw, _ = output_of("go", "tool", "pprof", "-symbolize=none", "-raw", profile)
    lines = raw[raw.index("Samples:\n"):raw.index("\nLocations")].splitlines()[1:]
    types = lines[0].replace("[dflt]", "").split()
    events = [name.removesuffix("_sample/count") for name in types[::2]]
    want = [name for event in events
            for name in (f"{event}_sample/count", f"{event}_event/{EVENTS[event][1]}")]
    if types != want:
        sys.exit(f"sample types {types}, not {want}")
    sums = [0] * len(types)
    for line in lines[1:]:
        values = re.match(r"^\s*((?:-?\d+\s+)*-?\d+):", line)
        if values:
            sums = [a + int(b) for a, b in zip(sums, values.group(1).split())]
    return {event: (sums[2 * i], sums[2 * i + 1]) for i, event in enumerate(events)}


def check(convert, directory, data):
    once = perf_totals(data)
    if set(once) != set(EVENTS):
        sys.exit(f"perf recorded {once}")
    copy = directory / "copy.data"
    shutil.copy(data, copy)
    for count, inputs in ((1, [data]), (2, [data, copy])):
        want = {event: (samples * count, period * count)
                for event, (samples, period) in once.items()}
        got = folded_totals(convert, directory, inputs)
        if got != want:
            sys.exit(f"folded: {got}, perf has {want}")
        if shutil.which("go"):
            got = pprof_totals(convert, directory, inputs)
            if got != want:
                sys.exit(f"pprof: {got}, perf has {want}")
    print(", ".join(f"{event}: {samples} samples, period {period}"
                    for event, (samples, period) in once.items()))


def record_and_check(bin_directory, directory):
    data = directory / "perf.data"
    options = [word for event in EVENTS for word in ("-e", event)]
    recorded = subprocess.run(["perf", "record", "-q", "-o", data, *options, "--", "sh", "-c", WORK],
                              capture_output=True, check=False)
    if recorded.returncode != 0:
        print(f"perf cannot record these events here: {recorded.stderr.decode()}")
        return perf_recording.SKIPPED
    check(bin_directory / "perftape-convert", directory, data)
    return 0


if __name__ == "__main__":
    sys.exit(perf_recording.run_check(__doc__, record_and_check))

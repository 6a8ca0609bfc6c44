# SPDX-License-Identifier: Apache-2.0
"""Compares the critical path that perftape-report --path shows with what a program of known_path.cc
measured itself. Runs for a saved recording, too:

    PERFTAPE_BIN_DIR=build/dev/bin python3 tests/kernel/path_oracle.py RECORDING KNOWN.json [REPORT.json]

KNOWN.json is the output of the program. REPORT.json replaces what perftape-report prints."""

import collections
import json
import pathlib
import sys

import harness

REPORT = str(harness.BIN / "perftape-report")
MS = 10**6
STATES = {"running", "runnable", "disk", "lock", "sleep", "short waits", "timer", "network",
          "interrupt", "not recorded"}
# Which functions of known_path.cc the main thread calls; others are of its threads and children.
OF_MAIN = {"handle_request", "consume_item", "use_result", "use_value", "use_answer", "sync_block"}


def report_of(recording, *selection):
    """Returns the report with the path of the main thread of the recorded command."""
    status, out, err = harness.run(REPORT, "--path", "--json", *selection, recording)
    assert status == 0, err
    return json.loads(out)


def missed_ns(rows, pids):
    """Returns for how long threads of the program were neither sampled nor waited, as far as that is
    more than three samples at once. Then the hypervisor had stopped the CPU, or the kernel did not
    report the end of a wait. Such time looks like running, or is not recorded. `rows` are the recorded
    samples."""
    known_until, missed = {}, 0
    for row in sorted(rows, key=lambda row: int(row["time_ns"])):
        if row["event"] == "wakeup" or int(row["pid"]) not in pids:
            continue
        tid, end, period = row["tid"], int(row["time_ns"]), int(row["period"])
        gap = end - (0 if row["event"] == "cpu-clock" else period) - known_until.get(tid, end)
        longest = 3 * MS if row["event"] == "cpu-clock" else 4 * MS
        missed += gap if gap > longest else 0
        known_until[tid] = max(end, known_until.get(tid, end))
    return missed


def samples_in_waits(rows):
    """Yields the samples of a thread on a CPU within a time in which it is said to wait."""
    ran = collections.defaultdict(list)
    for row in rows:
        if row["event"] == "cpu-clock":
            ran[row["tid"]].append(int(row["time_ns"]))
    for row in rows:
        if not row["event"].startswith("offcpu-") or row["dso"] == "short_waits":
            continue
        end, period = int(row["time_ns"]), int(row["period"])
        inside = [ns for ns in ran[row["tid"]] if end - period < ns < end]
        if inside:
            yield (f"thread {row['tid']} has {len(inside)} samples in {row['event']} of "
                   f"{period / MS:.1f} ms until {end}, the first one at {inside[0]}")


def total(parts, **wanted):
    return sum(part["ns"] for part in parts
               if all(part[key] == value for key, value in wanted.items()))


def states_of(parts, function=None):
    """Returns the time of each state, of one function or of all."""
    states = collections.Counter()
    for part in parts:
        if function in (None, part["function"]):
            states[part["state"]] += part["ns"]
    return dict(states.most_common())


def text_of(times):
    return ", ".join(f"{ns / MS:.1f} {state}" for state, ns in times.items())


def wrong_parts(pid, parts):
    """Yields what is wrong with parts by themselves."""
    for part in parts:
        if part["state"] not in STATES or part["ns"] <= 0:
            yield f"{part}: no such state, or no time"
        name = part["function"]
        if name and name not in part["stack"]:
            yield f"{part}: the function is not in the stack"
        if name in OF_MAIN and part["tid"] != pid:
            yield f"{part}: of the main thread, {pid}"


def wrong_times(known, parts, missed, stopped):
    """Yields the parts whose time is not what the program measured. `stopped` is CPU time in which
    the program did not compute: it may look like a wait for the CPU."""
    for name, expected in known.items():
        slack = max(expected // 10, 3 * MS)
        if name == "timer":
            found = total(parts, state="timer")
            # The thread leaves its CPU some microseconds after it has set the timer. A wait whose
            # waker was not seen is a sleep, and one whose end was not seen looks like running.
            unseen = total(parts, state="sleep") + missed
            low = max(expected // 2, expected - expected // 100 - unseen)
            high = None
        elif name == "sync_block":
            # Interrupts and the hypervisor use time that is neither CPU time nor a wait.
            computed = total(parts, function=name, state="running")
            found = total(parts, function=name) - computed
            low = expected - slack - missed - computed - total(parts, state="short waits")
            high = expected + slack
            if not total(parts, state="disk"):
                yield "nothing waits for a disk"
        else:
            found = total(parts, state="running", function=name)
            unknown = min(missed, total(parts, state="not recorded"))  # of which function, too
            low, high = expected - slack - unknown - stopped, expected + slack + missed
        if found < low or (high is not None and found > high):
            yield f"{name}: {found / MS:.1f} ms of {expected / MS:.1f} ms"


def lines_of(path, most=40):
    """Returns the longest parts, one in each line."""
    return [f"{part['ns'] / MS:.3f} ms {part['comm']} {part['tid']} {part['state']} "
            f"{part['function']} {';'.join(part['stack'][-6:])}"
            for part in sorted(path["parts"], key=lambda part: -part["ns"])[:most]]


def complaints(known, path, missed=0):
    """Returns what is wrong with the path of a program, as sentences. `missed` is as of missed_ns."""
    parts, window = path["parts"], path["window_ns"]
    found = []
    if path["windows"] != 1:
        found.append(f"{path['windows']} windows")
    if total(parts) != window:
        found.append(f"the parts have {total(parts)} ns, the window {window} ns")
    if window < known["window_ns"]:
        found.append(f"the window has {window} ns, the program ran for {known['window_ns']} ns")
    explained = window - total(parts, state="not recorded")
    if path["explained_ns"] > window or explained + missed < window * 0.9:
        found.append(f"explained: {path['explained_ns']} ns, {explained} ns of {window} ns")
    found += wrong_parts(known["pid"], parts)
    found += wrong_times(known["parts"], parts, missed, known["stopped_ns"])
    return found


def judge(recording, known, report):
    """Returns the complaints, and prints the figures."""
    parts = report["path"]["parts"]
    rows = harness.inspect_samples(recording)
    missed = missed_ns(rows, {part["pid"] for part in parts} | {known["pid"]})
    for name, expected in known["parts"].items():
        times = ({"timer": total(parts, state="timer")} if name == "timer"
                 else states_of(parts, name))
        print(f"{name}: {expected / MS:.1f} ms,", text_of(times))
    window = report["path"]["window_ns"]
    print(f"window {window / MS:.1f} ms: {text_of(states_of(parts))}; missed {missed / MS:.1f}, "
          f"stopped {known['stopped_ns'] / MS:.1f}")
    return [*samples_in_waits(rows), *complaints(known, report["path"], missed)]


if __name__ == "__main__":
    recording, known_file, *report_file = sys.argv[1:]
    report = (json.loads(pathlib.Path(report_file[0]).read_text()) if report_file
              else report_of(recording))
    wrong = judge(recording, json.loads(pathlib.Path(known_file).read_text()), report)
    print(*(wrong and lines_of(report["path"])), *wrong, sep="\n")
    sys.exit(bool(wrong))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens our files with a newer perf (newer_perf.py), and files of newer kernels with perf 6.1.

    newer_perf_test.py --bin build/dev/bin

Threads that have ended keep their names, and both versions of perf print the same fields of latency probes, if this
user may record. A recording with deferred user callchains has the same stacks in the newer perf, in our table of
samples, and as a copy of `--compat 6.1` in both versions of perf. A perf.data that was made of folded stacks shows their
functions without a warning. Skipped (status 77) without a newer perf.
"""
import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import newer_perf

SKIPPED = 77
IP, TID, TIME, CALLCHAIN, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 8
MMAP, COMM, TASK, SAMPLE_ID_ALL, DEFER_CALLCHAIN, DEFER_OUTPUT = (1 << bit for bit in (8, 9, 13, 18, 38, 39))
USER, DEFERRED = 2**64 - 512, 2**64 - 640
PID = 100


def words(*values):
    return b"".join(struct.pack("<Q", value) for value in values)


def record(kind, body, misc=0):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(tid, time):
    return struct.pack("<IIQ", PID, tid, time)


def deferred_recording():
    """Returns a perf.data with deferred callchains, and the samples that it stands for: period and addresses."""
    flags = MMAP | COMM | TASK | SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT
    attr = struct.pack("<II5Q", 1, 136, 0, 1000, IP | TID | TIME | CALLCHAIN | PERIOD, 0, flags).ljust(136, b"\0")
    samples, data = [], record(3, struct.pack("<II", PID, PID) + b"app\0\0\0\0\0" + trailer(PID, 0))
    for number in range(20):
        tid = PID + number % 3
        frames = [0x401000 + number % 4, 0x402000, 0x403000]
        data += record(9, struct.pack("<QIIQQ", frames[0], PID, tid, 1000 + 10 * number, number + 1) +
                       words(2, DEFERRED, 7 + number), misc=2)
        data += record(22, words(7 + number, 4, USER, *frames) + trailer(tid, 1005 + 10 * number), misc=2)
        samples.append((number + 1, frames))
    attrs_at = 104
    data_at = attrs_at + len(attr) + 16
    features = b""
    header = b"PERFILE2" + words(104, len(attr) + 16, attrs_at, len(attr) + 16, data_at, len(data), 0, 0)
    header += words(1 << 6 | 1 << 7, 0, 0, 0)  # ARCH, NRCPUS
    arch = struct.pack("<I", 64) + b"x86_64".ljust(64, b"\0")
    table_at = data_at + len(data)
    features = words(table_at + 32, len(arch), table_at + 32 + len(arch), 8) + arch + struct.pack("<II", 4, 4)
    return header + attr + words(0, 0) + data + features, samples


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, timeout=120,
                          check=False)


def samples_in(perf, path):
    """Returns the samples that a perf prints: period and addresses, by period."""
    done = run(*perf, "script", "-i", path, "-F", "comm,tid,time,period,ip", "--ns")
    samples = []
    for block in done.stdout.split("\n\n"):
        lines = block.splitlines()
        if lines:
            samples.append((int(lines[0].split()[-1]), [int(line, 16) for line in lines[1:]]))
    return sorted(samples)


# What perf prints of the samples that the program certainly has.
LATENCY_FIELDS = {
    "latency:open": r"^error=0 file=\S+/synced$",
    "latency:fsync": r"^error=0 fd=\d+ dev=\d+,\d+ ino=\d+ file=\S+/synced$",
    "latency:write": r"^error=0 fd=\d+ dev=\d+,\d+ ino=\d+ file=\S+/synced$",
    "latency:syscall": r"^error=0 nr=\d+$",
    "latency:exec": r"^error=0 file=\S+/sh$",
    "latency:runq": r"^error=0 cpu=\d+$",
    "latency:tcp_connect": r"^error=0 peer=127\.0\.0\.1:\d+$",
    "latency:tcp_accept": r"^error=0 peer=127\.0\.0\.1:\d+$",
}


def latency_rows(perf, path):
    """Returns pid, event, period and fields of each sample that a perf prints."""
    done = run(*perf, "script", "-i", path, "-F", "pid,period,event,trace")
    return [(words[0], words[2].rstrip(":"), words[1], words[3] if len(words) > 3 else "")
            for words in (line.split(maxsplit=3) for line in done.stdout.splitlines() if line.strip())]


class Judge:
    def __init__(self, bin_dir, work):
        self.bin = pathlib.Path(bin_dir)
        self.work = pathlib.Path(work)
        self.failures = []

    def expect(self, what, found, wanted):
        if found != wanted:
            self.failures.append(f"{what}: {str(found)[:300]} instead of {str(wanted)[:300]}")

    def check_deferred(self, newer, older):
        contents, wanted = deferred_recording()
        original, copy = self.work / "deferred.data", self.work / "deferred-6.1.data"
        original.write_bytes(contents)
        self.expect("newer perf, deferred", samples_in(newer, original), wanted)
        table = run(self.bin / "perftape-inspect", "-q", "--samples", original).stdout.splitlines()[1:]
        rows = [line.split("\t") for line in table]
        self.expect("perftape-inspect", [(int(row[6]), [int(ip, 16) for ip in row[10].split(",")]) for row in rows],
                    wanted)
        self.expect("status", run(self.bin / "perftape-convert", "-q", original, "--compat", "6.1", "-o",
                                  copy).returncode, 0)
        self.expect("newer perf, copy", samples_in(newer, copy), wanted)
        if older:
            self.expect("perf of the system, copy", samples_in(older, copy), wanted)

    def check_folded(self, newer):
        folded, path = self.work / "in.folded", self.work / "folded.data"
        folded.write_text("app;main;work 30\napp;main 10\n")
        run(self.bin / "perftape-convert", "-q", folded, "-o", path)
        done = run(*newer, "report", "-i", path, "--stdio", "--no-children", "--sort", "sym", "-g", "none")
        self.expect("newer perf, messages", done.stderr, "")
        rows = re.findall(r"^ +([\d.]+)% +\[.\] (\S+)", done.stdout, re.M)
        self.expect("newer perf, functions", rows, [("75.00", "work"), ("25.00", "main")])

    def check_ended_threads(self, newer):
        """The sums of short waits come at the end of a thread."""
        path = self.work / "ended.data"
        done = run(self.bin / "perftape-record", "-q", "-e", "offcpu", "--no-bundle", "-o", path, "--", "sh", "-c",
                   "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.001 & wait; done")
        self.expect("recording", done.returncode in (0, 3), True)
        lines = run(*newer, "script", "-i", path, "-F", "comm,tid,period").stdout.splitlines()
        names = {line.split()[0] for line in lines if line.strip()}
        self.expect("newer perf, names of ended threads", {"sh", "sleep"} <= names, True)
        self.expect("newer perf, threads without a name", sorted(name for name in names if name.startswith(":")), [])


    def check_latency_fields(self, newer, older):
        """The fields of latency probes, which no kernel has."""
        path = self.work / "latency.data"
        calls = "; ".join(["import os, socket", "server = socket.create_server(('127.0.0.1', 0))",
                           "client = socket.create_connection(server.getsockname())", "server.accept()",
                           f"file = os.open('{self.work / 'synced'}', os.O_CREAT | os.O_WRONLY)", "os.write(file, b'x')",
                           "os.fsync(file)", "os.system('exit 0')"])
        done = run(self.bin / "perftape-record", "-q", "-e", "latency:*/min=0ns/", "--allow-missing-events",
                   "--no-bundle", "-o", path, "--", sys.executable, "-c", calls)
        self.expect("recording", done.returncode, 0)
        rows = latency_rows(newer, path)
        self.expect("fields", {event: fields for event, fields in LATENCY_FIELDS.items()
                               if not any(row[1] == event and re.search(fields, row[3]) for row in rows)}, {})
        if older:
            self.expect("fields in both versions of perf", rows, latency_rows(older, path))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    try:
        newer = newer_perf.command()
    except newer_perf.Unavailable as error:
        print(f"skipped: no newer perf: {error}")
        return SKIPPED
    older = shutil.which("perf")
    with tempfile.TemporaryDirectory() as work:
        judge = Judge(arguments.bin, work)
        judge.check_deferred(newer, [older] if older else None)
        judge.check_folded(newer)
        if os.geteuid() == 0:
            judge.check_ended_threads(newer)
            judge.check_latency_fields(newer, [older] if older else None)
    for failure in judge.failures:
        print(f"FAILED {failure}")
    print(f"newer perf: {len(judge.failures)} failures")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())

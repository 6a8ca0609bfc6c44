# SPDX-License-Identifier: Apache-2.0
"""Compares `perftape-inspect --validate` for perf 6.1 with perf 6.1 itself: on every recording of
the corpus, valid and damaged, as a file and through a pipe, and on pipes made of the files.

An error that breaks perf-6.1 predicts that `perf script` or `perf report` fails. The rules of
REPORT_ONLY predict that only for `perf report`, those of STATS_ONLY only for `perf report
--stats`."""

import argparse
import concurrent.futures
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus

COMMANDS = {"script": ["perf", "script", "-F", "comm"],
            "report": ["perf", "report", "--stdio", "-s", "comm", "-g", "none"],
            "stats": ["perf", "report", "--stats"]}
# Messages of perf report when it fails; its status is 0 nevertheless.
GAVE_UP = ("failed to process", "bad event header size")
REPORT_ONLY = {"pipe-feature-unknown", "pipe-foreign-features"}
STATS_ONLY = {"pipe-stats"}
# Files whose verdicts differ, and why.
EXCEPTIONS = {
    "a-auxtrace-size-beyond.data": "the trace that is missing is not asked for",
    "f-data-size-minus8.data": "names and features are gone; this EVENT_DESC does not crash perf",
    "p-header-only.data": "there is nothing in it",
    "z-partial-never-completed.data": "its only record is missing",
    "simpleperf-aarch64-etm-unformatted.perf.data.pipe": "perf finds its way through this trace",
    "simpleperf-aarch64-tracepoint.perf.data.pipe": "simpleperf's TRACING_DATA is not perf's",
}


def environment():
    return dict(os.environ, HOME="/dev/null", PERF_CONFIG="/dev/null", LC_ALL="C", TERM="dumb")


def gives_up(command, path, through_pipe):
    """Returns why perf does not read a file to its end; empty if it does."""
    name = "-" if through_pipe else str(path)
    with open(path if through_pipe else os.devnull, "rb") as stdin:
        done = subprocess.run(["timeout", "60", *COMMANDS[command], "-i", name], stdin=stdin,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env=environment())
    err = done.stderr.decode(errors="replace")
    if done.returncode != 0 or any(words in err for words in GAVE_UP):
        return f"status {done.returncode}: {err.strip()[-200:]}"
    return ""


def is_pipe(path):
    with open(path, "rb") as file:
        head = file.read(16)
    return head[:8] in (b"PERFILE2", b"2ELIFREP") and sum(head[8:16]) == 16


def as_pipe(data):
    """Returns a file with a header of 104 bytes as the stream that perf record -o - would have
    written, in its own byte order; None if no such stream exists."""
    if data[:8] not in (b"PERFILE2", b"2ELIFREP"):
        return None
    order = "<" if data[:8] == b"PERFILE2" else ">"

    def words(at, count):
        return struct.unpack(f"{order}{count}Q", data[at:at + 8 * count])

    if words(8, 1)[0] != 104:
        return None
    entry_size, attrs, attrs_size, start, size = words(16, 5)
    stream = data[:8] + struct.pack(order + "Q", 16)

    def record(kind, payload):
        return struct.pack(order + "IHH", kind, 0, 8 + len(payload)) + payload

    for at in range(attrs, attrs + attrs_size, entry_size):
        ids, ids_size = words(at + entry_size - 16, 2)
        stream += record(64, data[at:at + entry_size - 16] + data[ids:ids + ids_size])
    bits = sum(word << 64 * i for i, word in enumerate(words(72, 4)))
    table = start + size
    tracing = None
    for bit in (bit for bit in range(256) if bits >> bit & 1):
        offset, length = words(table, 2)
        table += 16
        section = data[offset:offset + length]
        if bit == 1:
            tracing = section
        elif bit in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 27):  # those with the same meaning in a pipe
            padding = b"\0" * (-length % 8)
            stream += record(80, struct.pack(order + "Q", bit) + section + padding)
    if tracing is not None:
        padding = b"\0" * (-len(tracing) % 8)
        stream += record(66, struct.pack(order + "I", len(tracing + padding))) + tracing + padding
    return stream + data[start:start + size]


def verdict(inspect, path):
    """Returns (rules with a severity that breaks perf 6.1, errors apart), or None if it does not
    open."""
    done = subprocess.run([inspect, "--validate", "--json", path], capture_output=True, check=False,
                          text=True, errors="replace")
    if not done.stdout:
        return None
    report = json.loads(done.stdout.splitlines()[-1])["validate"]
    errors = {finding["rule"] for finding in report["findings"]
              if finding["severity"] == "error" and "perf-6.1" in finding["breaks"]}
    others = {finding["rule"] for finding in report["findings"]
              if finding["severity"] != "error" and "perf-6.1" in finding["breaks"]}
    return errors, others


def differences(inspect, path):
    """Returns which failures of perf --validate does not predict for a file, and the other way
    round."""
    predicted = verdict(inspect, path)
    if predicted is None:
        return []
    errors, others = predicted
    claims = {"script": bool(errors - REPORT_ONLY),
              "report": bool(errors or others & REPORT_ONLY),
              "stats": bool(errors - REPORT_ONLY or others & STATS_ONLY)}
    reasons = {}
    for command in COMMANDS:
        ways = [False, True] if is_pipe(path) else [False]
        reasons[command] = "; ".join(filter(None, (gives_up(command, path, way) for way in ways)))
    found = [f"perf {command} gives up, and no rule says so: {reasons[command]}"
             for command, claimed in claims.items() if reasons[command] and not claimed]
    # --stats reads fewer fields than the others, so it may read files that they refuse.
    if claims["report"] and not (reasons["script"] or reasons["report"]):
        found.append(f"perf reads it, but: {', '.join(sorted(errors | others))}")
    return found


def inputs(folder, scratch):
    """Yields every recording, and a pipe of each that is a file."""
    recordings = sorted(folder.glob("perfdata/*.perf.data"))
    for path in recordings:
        yield path
        if path.is_file() and (stream := as_pipe(path.read_bytes())) is not None:
            pipe = Path(scratch) / f"{path.name}.pipe"
            pipe.write_bytes(stream)
            yield pipe
    for kind in ("made", "fuzz"):
        yield from sorted(folder.glob(f"corrupt/{kind}/*.data"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inspect", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*", help="of files, without them all")
    options = parser.parse_args()
    folder = corpus.find(options.corpus)
    if folder is None:
        return corpus.SKIPPED
    version = subprocess.run(["sh", "-c", "perf --version"], capture_output=True, text=True,
                             check=False).stdout
    if not version.startswith("perf version 6.1."):
        print("perf 6.1 is not installed")
        return corpus.SKIPPED
    failures = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor() as pool:
        paths = [path for path in inputs(folder, scratch)
                 if not options.names or path.name in options.names]
        judged = pool.map(lambda path: differences(options.inspect, path), paths)
        for path, found in zip(paths, judged):
            if path.name in EXCEPTIONS:
                continue
            for line in found:
                failures += 1
                print(f"{path.name}: {line}")
    print(f"{len(paths)} files, {failures} differences")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())

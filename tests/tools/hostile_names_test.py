#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests names with characters that control a terminal, in every text that the tools print.

    hostile_names_test.py --bin build/dev/bin

A perf.data has control characters, C1 controls, Unicode's line ends and bidirectional marks in its
names (host, command line, event, comm, paths, cgroup, symbols), and in its file name. No tool may
print them raw. JSON must parse, with the original names. Folded lines must not change on their way
through a pprof and back.
"""
import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from bombs_test import BUILD_ID, CMDLINE, EVENT_DESC, HOSTNAME, IP, TID, TIME, attr, perf_file, \
    record, sample

COMM, MMAP2, KSYMBOL, CGROUP = 3, 10, 17, 19
OS_RELEASE, CPUDESC = 4, 8

# ESC, DEL, U+009B, U+2028, an override, an isolate, the three marks; and an é, which is printed.
VALID = "\x1b[2J\x7f\u009b31m\u2028\u202e\u2066\u200e\u200f\u061c\u00e9\n\t;z"
# The same with a byte that is no UTF-8, and a control character alone.
BROKEN = VALID.encode() + b"\x9b0m"

UNSAFE = {*range(0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, 0x2028, 0x2029,
          *range(0x202a, 0x202f), *range(0x2066, 0x206a),
          *range(0xdc80, 0xdca0)}  # how Python decodes the bytes 0x80 to 0x9f alone


def name(prefix, most=4096):
    text = (prefix.encode() + BROKEN)[:most - 1] + b"\0"
    return text + bytes(-len(text) % 8)


def text_feature(prefix):
    text = name(prefix)
    return struct.pack("<I", len(text)) + text


def hostile_file():
    event = attr(IP | TID | TIME)
    path = name("/bin/")
    records = (
        record(COMM, struct.pack("<II", 7, 7) + name("comm"))
        + record(MMAP2, struct.pack("<IIQQQIIQQII", 7, 7, 0x401000, 0x1000, 0, 0, 0, 0, 0, 5, 2)
                 + path, misc=2)
        + record(KSYMBOL, struct.pack("<QIHH", 0xffffffffc0000000, 64, 1, 0) + name("bpf_prog_"))
        + record(CGROUP, struct.pack("<Q", 1) + name("/slice/"))
        + sample() * 2)
    described = text_feature("event")
    features = {
        HOSTNAME: text_feature("host"),
        OS_RELEASE: text_feature("6.1-"),
        CPUDESC: text_feature("cpu"),
        CMDLINE: struct.pack("<I", 2) + text_feature("perf") + text_feature("arg"),
        EVENT_DESC: struct.pack("<II", 1, len(event)) + event + struct.pack("<I", 0) + described,
        BUILD_ID: struct.pack("<IHH", 0, 2, 8 + 28 + len(path)) + struct.pack("<i", -1)
        + bytes(range(20)) + bytes(4) + path,
    }
    return perf_file(records, features, event=event)


class Judge:
    def __init__(self, bin_dir, work):
        self.bin, self.work, self.runs = bin_dir, Path(work), 0
        self.complaints = []

    def complain(self, command, words):
        self.complaints.append(f"{' '.join(repr(str(part))[1:-1] for part in command)}: {words}")

    def run(self, tool, *arguments, statuses=(0, 3), allowed=""):
        """Returns the stdout of a command. `allowed` are characters that may appear raw."""
        command = [self.bin / f"perftape-{tool}", *arguments]
        self.runs += 1
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        if done.returncode not in statuses:
            self.complain(command, f"status {done.returncode}: {done.stderr}")
        for where, output in (("stdout", done.stdout), ("stderr", done.stderr)):
            text = output.decode(errors="surrogateescape")
            raw = {hex(ord(c)) for c in text if ord(c) in UNSAFE and c not in "\n" + allowed}
            if raw:
                self.complain(command, f"{where} holds {', '.join(sorted(raw))}: {text[:300]!r}")
        if "--json" in arguments:
            self.judge_json(command, done.stdout)
        return done.stdout

    def judge_json(self, command, output):
        try:
            values = [json.loads(output)]
        except json.JSONDecodeError:
            values = [json.loads(line) for line in output.splitlines()]  # one object a line
        if not any(VALID in text for text in strings_of(values)):
            self.complain(command, "none of the names is in it")

    def judge_inspect(self, path):
        for form in ([], ["--json"]):
            for section in ([], ["--header"], ["--records"], ["--samples"], ["--stats"]):
                self.run("inspect", *section, *form, path, allowed="\t")
        self.run("inspect", "--validate", path)

    def judge_convert(self, path):
        for root in ("comm", "comm/pid", "comm/pid/tid", "none"):
            self.run("convert", "-v", path, "--to", "folded", "--root", root, allowed="\t")
        self.run("convert", path, "--to", "html")
        svg = self.run("convert", path, "--to", "svg")
        try:
            minidom.parseString(svg)
        except ExpatError as error:
            self.complain(["out.svg"], f"is no XML: {error}")
        for ending in ("pb.gz", "data", "folded"):
            for form in ([], ["--json"]):
                self.run("convert", "-f", "-v", "--show-sources", path, "-o",
                         self.work / f"out{VALID}.{ending}", *form)

    def judge_report(self, path):
        for form in ([], ["--json"], ["--markdown"], ["--csv"]):
            self.run("report", "-v", "--stacks", "--tree", "--by", "comm,dso", *form, path)
            self.run("report", "--diff", path, path, *form)

    def judge_round_trip(self, path):
        first = self.run("convert", path, "--to", "folded", "--no-symbols", allowed="\t")
        folded = self.work / "first.folded"
        folded.write_bytes(first)
        for target in ("through.pb.gz", "through.data"):
            self.run("convert", "-f", folded, "--input-root", "comm", "-o", self.work / target)
            again = self.run("convert", self.work / target, "--to", "folded", allowed="\t")
            # A pprof is UTF-8: U+FFFD replaces the invalid byte.
            expected = first.replace(b"%x9B", "\ufffd".encode()) if "pb" in target else first
            if again != expected:
                self.complain([target], f"{first!r} became {again!r}")
        if b"%u202E" not in first:
            self.complain([folded], f"no name of the recording is in {first!r}")

    def judge_symbolize(self):
        for ending in ("pb.gz", "folded"):
            for form in ([], ["--json"]):
                self.run("symbolize", "-f", "-v", "--show-sources",
                         self.work / f"out{VALID}.{ending}", "-o", self.work / f"named.{ending}",
                         *form)

    def judge_others(self, path):
        recovered, bundle = self.work / "recovered.data", self.work / "bundle.tar.zst"
        for form in ([], ["--json"]):
            self.run("recover", "-f", path, "-o", recovered, *form)
        self.run("bundle", "create", "-v", path, "-o", bundle, statuses=(0, 1, 3))
        if bundle.exists():
            self.run("bundle", "list", bundle)
            self.run("bundle", "verify", bundle, path)

    def judge_messages(self):
        missing = self.work / f"missing{VALID}.data"
        for arguments in (["inspect", missing], ["convert", missing, "--to", "folded"],
                          ["convert", "--from", VALID, missing, "--to", "folded"],
                          ["convert", f"--{VALID}", missing], ["convert", missing, "-o", VALID],
                          ["recover", missing, "-o", "x"], ["symbolize", missing, "-o", "x.pb.gz"],
                          ["bundle", "list", missing], ["report", missing],
                          ["report", "--by", VALID], ["bundle", VALID], ["record", f"--{VALID}"]):
            self.run(*arguments, statuses=(1, 2))


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="perftape-hostile-") as work:
        judge = Judge(options.bin, work)
        path = Path(work, f"in{VALID}.data")
        path.write_bytes(hostile_file())
        judge.judge_inspect(path)
        judge.judge_convert(path)
        judge.judge_report(path)
        judge.judge_round_trip(path)
        judge.judge_symbolize()
        judge.judge_others(path)
        judge.judge_messages()
    print("\n".join(judge.complaints))
    print(f"{judge.runs} runs, {len(judge.complaints)} complaints")
    return 1 if judge.complaints else 0


if __name__ == "__main__":
    sys.exit(main())

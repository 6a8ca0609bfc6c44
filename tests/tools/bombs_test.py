#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests small files with huge counts and sizes, and files that expand to gigabytes.

    bombs_test.py --bin build/dev/bin [--no-memory] [NAME...]

Each tool reads each file, as a file and through a pipe. It must exit with status 0, 1 or 3, report
the error with its offset if it reads the wrong part, and use less than 128 MB. --no-memory skips
the last check, for builds with sanitizers, which need more memory.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

MOST_MEMORY_KB = 128 << 10
HANGS_AFTER_SECONDS = 120

COMMANDS = {
    "samples": ["perftape-inspect", "--samples"],
    "stats": ["perftape-inspect", "--stats"],
    "header": ["perftape-inspect", "--header"],
    "validate": ["perftape-inspect", "--validate"],
    "folded": ["perftape-convert", "--to", "folded", "-o", "-"],
    "recover": ["perftape-recover", "-f", "-o"],
}

# include/uapi/linux/perf_event.h, enum perf_event_sample_format
IP, TID, TIME, READ, CALLCHAIN, RAW, BRANCH, STACK_USER, AUX = (
    1 << bit for bit in (0, 1, 2, 4, 5, 10, 11, 13, 20))
SAMPLE, NAMESPACES, MMAP = 9, 16, 1
HEADER_ATTR, TRACING_DATA, ID_INDEX, AUXTRACE, FEATURE, COMPRESSED, COMPRESSED2 = (
    64, 66, 69, 71, 80, 81, 83)
TRACING_DATA_BIT, BUILD_ID, HOSTNAME, NRCPUS, CMDLINE, EVENT_DESC, CPU_TOPOLOGY, NUMA = (
    1, 2, 3, 7, 11, 12, 13, 14)
PMU_MAPPINGS, GROUP_DESC, CACHE, BPF_PROG_INFO, BPF_BTF, PMU_CAPS = 16, 17, 20, 25, 26, 31

HUGE = 1 << 63
MANY = 0xffffffff


def attr(sample_type=IP | TID | TIME, read_format=0):
    head = struct.pack("<IIQQQQQ", 1, 112, 0, 1, sample_type, read_format, 0)
    return head + bytes(112 - len(head))


def record(kind, payload, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def sample(rest=b""):
    return record(SAMPLE, struct.pack("<QIIQ", 0x401000, 7, 7, 1000) + rest, misc=2)


def perf_file(records=b"", features=None, event=None, **header):
    """Returns a file; `header` replaces fields of its header."""
    event = event or attr()
    data = 104 + len(event) + 16
    fields = {"size": 104, "attr_size": len(event) + 16, "attrs": 104, "attrs_size": len(event) + 16,
              "data": data, "data_size": len(records), "ids": 0, "ids_size": 0}
    fields.update(header)
    bits = [0, 0, 0, 0]
    table, sections = b"", b""
    behind = data + len(records) + 16 * len(features or {})
    for bit, content in sorted((features or {}).items()):
        bits[bit // 64] |= 1 << bit % 64
        content, size = content if isinstance(content, tuple) else (content, len(content))
        table += struct.pack("<QQ", behind + len(sections), size)
        sections += content
    return (b"PERFILE2" + struct.pack("<8Q", fields["size"], fields["attr_size"], fields["attrs"],
                                      fields["attrs_size"], fields["data"], fields["data_size"], 0, 0)
            + struct.pack("<4Q", *bits) + event
            + struct.pack("<QQ", fields["ids"], fields["ids_size"]) + records + table + sections)


def perf_pipe(records=b"", event=None):
    return (b"PERFILE2" + struct.pack("<Q", 16) + record(HEADER_ATTR, event or attr()) + records)


def zstd_of(byte, size):
    """Returns a zstd frame (RFC 8878) of RLE blocks: four bytes for each 128 KiB of one byte."""
    block = 1 << 17
    count = size // block
    frame = struct.pack("<IBB", 0xfd2fb528, 0, 7 << 3)
    for i in range(count):
        frame += struct.pack("<I", (i == count - 1) | 1 << 1 | block << 3)[:3] + bytes([byte])
    return frame


def compressed(byte, size):
    return record(COMPRESSED, zstd_of(byte, size))


def compressed2(byte, size):
    frame = zstd_of(byte, size)
    return record(COMPRESSED2, struct.pack("<Q", len(frame)) + frame + bytes(-len(frame) % 8))


def nested(depth):
    """Returns COMPRESSED in COMPRESSED in COMPRESSED …: a frame of one raw block around each
    record."""
    inner = sample()
    for _ in range(depth):
        block = struct.pack("<I", 1 | len(inner) << 3)[:3] + inner
        inner = record(COMPRESSED, struct.pack("<IBB", 0xfd2fb528, 0, 7 << 3) + block)
    return inner


# A record of bytes 8: an unknown type, and the size 0x0808, which is valid at every offset.
FOR_EVER = 8
U64_HUGE = struct.pack("<Q", HUGE)
U32_MANY = struct.pack("<I", MANY)
READERS = ("samples", "stats", "folded")
JUDGE = ("validate",)


def bombs():
    """Yields name, whether a pipe's stream may contain it, bytes of records or a whole file, and
    the commands that must report an error."""
    record_bombs = {
        "zstd-zeros": (compressed(0, 1 << 30), attr()),
        "zstd-records": (compressed(FOR_EVER, 1 << 30), attr()),
        "zstd-records-2": (compressed2(FOR_EVER, 1 << 30), attr()),
        "zstd-many-frames": (compressed(FOR_EVER, 60 << 20) * 4, attr()),
        "zstd-nested": (nested(100), attr()),
        "callchain": (sample(U64_HUGE), attr(IP | TID | TIME | CALLCHAIN)),
        "callchain-wraps": (sample(struct.pack("<Q", 1 << 61)), attr(IP | TID | TIME | CALLCHAIN)),
        "branches": (sample(U64_HUGE), attr(IP | TID | TIME | BRANCH)),
        "branches-wrap": (sample(struct.pack("<Q", (1 << 64) // 24 + 1)),
                          attr(IP | TID | TIME | BRANCH)),
        "read-group": (sample(U64_HUGE), attr(IP | TID | TIME | READ, read_format=1 << 3)),
        "raw": (sample(U32_MANY), attr(IP | TID | TIME | RAW)),
        "stack": (sample(U64_HUGE), attr(IP | TID | TIME | STACK_USER)),
        "aux": (sample(U64_HUGE), attr(IP | TID | TIME | AUX)),
    }
    for name, (records, event) in record_bombs.items():
        loud = () if name == "zstd-nested" else READERS + JUDGE
        for kind, make in (("file", perf_file), ("stream", perf_pipe)):
            yield f"{name}-{kind}", make(sample() + records, event=event), loud

    side_bombs = {
        "namespaces": record(NAMESPACES, struct.pack("<IIQ", 7, 7, 1 << 60)),
        "id-index": record(ID_INDEX, struct.pack("<Q", 1 << 60)),
        "auxtrace": record(AUXTRACE, U64_HUGE + bytes(32)),
        "tracing-data": record(TRACING_DATA, U32_MANY + bytes(4)),
    }
    for name, records in side_bombs.items():
        for kind, make in (("file", perf_file), ("stream", perf_pipe)):
            yield f"{name}-{kind}", make(records + sample()), JUDGE

    feature_bombs = {
        "hostname": {HOSTNAME: U32_MANY + b"x"},
        "cmdline": {CMDLINE: U32_MANY + U32_MANY},
        "event-desc": {EVENT_DESC: U32_MANY + struct.pack("<I", 112)},
        "event-desc-ids": {EVENT_DESC: struct.pack("<II", 1, 112) + attr() + U32_MANY
                           + struct.pack("<I4s", 4, b"abc")},
        "cpu-topology": {NRCPUS: U32_MANY + U32_MANY, CPU_TOPOLOGY: U32_MANY + U32_MANY},
        "cpu-topology-cpus": {NRCPUS: U32_MANY + U32_MANY, CPU_TOPOLOGY: bytes(16)},
        "numa": {NUMA: U32_MANY + bytes(24)},
        "pmu-mappings": {PMU_MAPPINGS: U32_MANY + bytes(8)},
        "bpf-programs": {BPF_PROG_INFO: U32_MANY + U32_MANY + bytes(16)},
        "size": {HOSTNAME: (b"abcd", HUGE)},
        "build-ids": {BUILD_ID: struct.pack("<IHH", 0, 2, 0) * 1000},
    }
    for name, features in feature_bombs.items():
        yield f"feature-{name}-file", perf_file(sample(), features), JUDGE
    for bit in (GROUP_DESC, CACHE, BPF_BTF, PMU_CAPS):
        yield f"feature-{bit}-file", perf_file(sample(), {bit: U32_MANY * 4}), ()

    for field in ("data_size", "attrs_size", "attr_size", "ids_size", "attrs", "data", "ids"):
        yield f"header-{field}-file", perf_file(sample(), **{field: HUGE}), ()


class Run:
    """The result of a command: exit status (negative: the signal), messages, and peak memory in
    kB."""

    def __init__(self, arguments, stream=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            source = subprocess.DEVNULL if stream is None else subprocess.PIPE
            child = subprocess.Popen(arguments, stdin=source, stdout=out, stderr=err)
            killer = threading.Timer(HANGS_AFTER_SECONDS, child.kill)
            killer.start()
            if stream is not None:
                self.feed(child.stdin, stream)
            _, status, usage = os.wait4(child.pid, 0)
            killer.cancel()
            self.status = child.returncode = os.waitstatus_to_exitcode(status)
            self.peak_kb = usage.ru_maxrss
            out.seek(0)
            err.seek(0)
            self.said = (err.read() + out.read(1 << 20)).decode(errors="replace")

    @staticmethod
    def feed(pipe, stream):
        """Returns all that the reader wants."""
        try:
            for piece in stream:
                pipe.write(piece)
            pipe.close()
        except BrokenPipeError:
            pass


def endless(head, size):
    """Sends a stream that continues with zeros."""
    yield head
    for _ in range(size >> 20):
        yield bytes(1 << 20)


class Judge:
    def __init__(self, options, work):
        self.options, self.work = options, Path(work)
        self.complaints, self.runs = [], 0

    def command(self, name, path):
        program, *arguments = COMMANDS[name]
        output = [str(self.work / "recovered.data")] if name == "recover" else []
        return [self.options.bin / program, *arguments, *output, path]

    def judge(self, what, run, must_complain):
        self.runs += 1
        complain = lambda words: self.complaints.append(f"{what}: {words}")
        if run.status not in (0, 1, 3):
            complain(f"status {run.status}: {run.said[-300:]}")
        elif re.search(r"Sanitizer|runtime error:", run.said):
            complain(run.said[-300:])
        elif run.status == 0 and must_complain:
            complain("no complaint")
        elif run.status != 0 and not re.search(r"0x[0-9a-f]+", run.said):
            complain(f"no place is named: {run.said[-300:]}")
        if not self.options.no_memory and run.peak_kb > MOST_MEMORY_KB:
            complain(f"{run.peak_kb} kB of memory")

    def judge_bomb(self, name, content, loud):
        path = self.work / "bomb.data"
        path.write_bytes(content)
        for command in COMMANDS:
            run = Run(self.command(command, path))
            self.judge(f"{name}: {command}", run, command in loud)
            run = Run(self.command(command, "-"), stream=[content])
            self.judge(f"{name}: {command} of a pipe", run, command in loud)

    def judge_endless(self, name, head):
        """Sends a record of half a gigabyte through a pipe."""
        for command in ("samples", "stats"):
            run = Run(self.command(command, "-"), stream=endless(head, 512 << 20))
            self.judge(f"{name}: {command} of an endless pipe", run, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="where the tools are")
    parser.add_argument("--no-memory", action="store_true", help="do not judge memory")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="perftape-bombs-") as work:
        judge = Judge(options, work)
        for name, content, loud in bombs():
            if not options.names or name in options.names:
                judge.judge_bomb(name, content, loud)
        for name, kind, size in (("endless-trace", AUXTRACE, U64_HUGE + bytes(32)),
                                 ("endless-large-trace", AUXTRACE,
                                  struct.pack("<Q", 1 << 33) + bytes(32)),
                                 ("endless-tracing-data", TRACING_DATA, U32_MANY + bytes(4))):
            if not options.names or name in options.names:
                judge.judge_endless(name, perf_pipe(sample() + record(kind, size)))
    for complaint in judge.complaints:
        print(complaint)
    print(f"{judge.runs} runs, {len(judge.complaints)} complaints")
    return 1 if judge.complaints or judge.runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

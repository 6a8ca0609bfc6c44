#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Anonymizes profiles into every format, and looks for their names in the bytes of the outputs.

    anonymize_test.py --bin build/dev/bin [--corpus DIRECTORY]

The names are the strings of the profile's uncompressed pprof: functions, files, threads, labels,
build ids and comments. Only those of a list in this test may be in an anonymized pprof, and no
other one of at least six bytes may be in the bytes of any output. The stacks must have the same
shape and the same numbers, and a key must give the same words each time. The inputs are
recordings of testdata, stacks made here, and some files of the corpus, if there is one.
"""
import argparse
import base64
import gzip
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from corpus import find as find_corpus

OFF_CPU = Path(__file__).resolve().parents[2] / "testdata/perfdata/off-cpu.data"
QUICKSTART = Path(__file__).resolve().parents[2] / "testdata/perfdata/quickstart.data"
STACKS = """acme-server;acme::Main;acme::Work<acme::Secret>;std::sort 5
acme-server;acme::Main;[libacme.so] 3
acme-server;acme::Main;[unknown] 2
acme-worker;acme::Loop 1
"""
OF_THE_CORPUS = (
    "perfdata/armv7-k3.4-systemwide-6events.perf.data", "perfdata/aarch64-k4.0-fib.perf.data",
    "perfdata/x86_64-*.perf.data", "native/own-x86_64-offcpu-sched-switch-wakeup.script.txt.gz",
    "pprof/parca-labels.pb.gz", "pprof/parca-normal-cpu.pb.gz", "pprof/pprofutils-heapage.pb.gz",
    "pprof/parca-fib.pb.gz", "folded/flamegraph/*.expect-all.folded")
FORMATS = ("perf.data", "folded", "pprof", "html", "svg", "speedscope", "callgrind", "firefox",
           "perf-script")
KEYS = (b"0123456789abcdef", b"another key of 26 bytes...")
WORD = re.compile(rb"\b(fn|p|c|mod|text|key|event|unit|arg|host)_[0-9a-f]{12}\b")
# Shorter names are in any file by chance.
LEAST_NAME = 6
# What may stay: special mappings, events, units, keys of labels, and facts of the machine.
STAYS = re.compile(
    rb"\[kernel(\.kallsyms)?\]|\[guest\.kernel\.kallsyms\]|\[(vdso|heap|stack|vsyscall|unknown)\]|"
    rb"\[folded\]|//anon|/tmp/perf-\d+\.map|/SYSV0+ \(deleted\)|"
    rb"(cycles|instructions|cpu-clock|task-clock|page-faults|context-switches|cpu-migrations|"
    rb"cache-(misses|references)|branch(es|-misses)|bus-cycles|dummy|"
    rb"offcpu-(disk-|runnable-)?time)(:\w+)?(_sample|_event)?|"
    rb"raw 0x[0-9a-f]+|(raw_)?syscalls:\w+|sched:\w+|irq:\w+|tracepoint:\d+|"
    rb"samples|cpu|alloc_\w+|inuse_\w+|objects|space|goroutine|contentions|delay|"
    rb"count|nanoseconds|bytes|pid|tid|comm|cgroup|timestamp_ns|(arch: )?(x86_64|i686|armv7l|aarch64)|"
    rb"(os release|perf version): [\d.]+|")
# Fields of messages in profile.proto.
STRING_TABLE, MAPPING, LOCATION, FUNCTION = 6, 3, 4, 5


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Yields (number, value) of a message; bytes for a field with a length."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {tag & 7}")
        yield tag >> 3, value


def texts_of(pprof):
    return [value for number, value in fields(pprof) if number == STRING_TABLE]


def names_in(texts):
    """Returns the names of at least LEAST_NAME bytes in the texts of a pprof, as they would be in
    any output."""
    names = set()
    for text in texts:
        if STAYS.fullmatch(text):
            continue
        key, colon, value = text.partition(b": ")
        if key in (b"os release", b"perf version"):
            text = value.lstrip(b"0123456789.")
        elif key in (b"hostname", b"command line"):
            names.update(value.split())
            continue
        names.update(re.split(rb"/| \(deleted\)", text))
    return {name for name in names if len(name) >= LEAST_NAME and not STAYS.fullmatch(name)}


def unpacked(data):
    """Returns an output with the compressed parts that it has."""
    pages = [gzip.decompress(base64.b64decode(part))
             for part in re.findall(rb"H4sI[A-Za-z0-9+/]{40,}={0,2}", data)]
    return b"\n".join([data, *pages])


class Anonymized(unittest.TestCase):
    bin = corpus = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.keys = []
        for number, key in enumerate(KEYS):
            path = self.folder / f"{number}.key"
            path.write_bytes(key)
            path.chmod(0o600)
            self.keys.append(path)
        self.stacks = self.folder / "stacks"
        self.stacks.write_text(STACKS)

    def convert(self, path, name, *options):
        output = self.folder / "output"
        done = subprocess.run(
            [self.bin / "perftape-convert", path, "-f", "-o", output, "--to", name, *options],
            capture_output=True, text=True, errors="replace")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return output.read_bytes()

    def pprof(self, path, *options):
        return texts_of(self.convert(path, "pprof", "--no-gzip", "--labels", "cpu,cgroup", *options))

    def test_no_name_is_in_any_output(self):
        boilerplate = {name: unpacked(self.convert(self.plain(), name)) for name in FORMATS}
        for path in self.inputs():
            names = names_in(self.pprof(path))
            self.assertNotEqual(names, set(), path)
            for name in FORMATS:
                options = ("--no-gzip",) if name == "pprof" else ()
                data = unpacked(self.convert(path, name, "--anonymize", self.keys[0], *options))
                for each in names:
                    found = each in data and each not in boilerplate[name]
                    self.assertFalse(found, f"{path}: {each} is in {name}")
            print(f"{path.name}: {len(names)} names are in no output")

    def test_all_texts_of_a_pprof_are_words_or_may_stay(self):
        for path in self.inputs():
            for text in self.pprof(path, "--anonymize", self.keys[0]):
                rest = WORD.sub(b"", text)
                allowed = STAYS.fullmatch(rest) or re.fullmatch(
                    rb"[/\[\]. ]*( \(deleted\))?|hostname: |command line:( )*|[0-9a-f]{16,}|"
                    rb"/memfd: \(deleted\)|\[anon:\]|anon_inode:\[\]|//", rest)
                self.assertTrue(allowed, (path, text))
            ids = {text for text in self.pprof(path) if re.fullmatch(rb"[0-9a-f]{16,}", text)}
            self.assertTrue(ids.isdisjoint(self.pprof(path, "--anonymize", self.keys[0])), path)

    def test_names_of_the_kernel_stay_on_request(self):
        stacks = self.folder / "kernel"
        stacks.write_text("app;main;do_syscall_64_[k];bpf_prog_0123456789abcdef_acme_[k] 3\n")
        hidden = self.convert(stacks, "folded", "--anonymize", self.keys[0])
        kept = self.convert(stacks, "folded", "--anonymize", self.keys[0], "--keep-kernel-names")
        self.assertNotIn(b"do_syscall_64", hidden)
        self.assertRegex(kept, rb"\Afn_\w+;fn_\w+;do_syscall_64_\[k\];fn_\w+ 3\n\Z")

    def plain(self):
        path = self.folder / "plain"
        path.write_text("a 1\n")
        return path

    def test_stacks_have_the_same_shape_and_numbers(self):
        for path in self.inputs():
            plain = self.convert(path, "folded")
            shapes = [sorted((line.count(b";"), line.rpartition(b" ")[2])
                             for line in data.splitlines())
                      for data in (plain, self.convert(path, "folded", "--anonymize", self.keys[0]))]
            self.assertEqual(*map(Counter, shapes), path)

    def test_words_depend_on_the_key_alone(self):
        first = self.convert(self.stacks, "folded", "--anonymize", self.keys[0])
        self.assertEqual(first, self.convert(self.stacks, "folded", "--anonymize", self.keys[0]))
        words = {match[0] for match in WORD.finditer(first)}
        other = self.convert(self.stacks, "folded", "--anonymize", self.keys[1])
        self.assertEqual(len(words), 7)
        for word in words:
            self.assertNotIn(word, other)
        pprof = self.folder / "stacks.pb.gz"
        pprof.write_bytes(self.convert(self.stacks, "pprof"))
        self.assertEqual(first, self.convert(pprof, "folded", "--anonymize", self.keys[0]))

    def test_perf_reads_the_recordings(self):
        for path in self.stacks, QUICKSTART:
            folded = self.convert(path, "folded", "--values", "period")
            total = sum(int(line.rpartition(b" ")[2]) for line in folded.splitlines())
            self.assertGreater(total, 0)
            self.assertEqual(self.period_in_perf(path), total)

    def period_in_perf(self, path):
        data = self.folder / "anonymous.data"
        data.write_bytes(self.convert(path, "perf.data", "--anonymize", self.keys[0]))
        try:
            done = subprocess.run(["perf", "report", "--stdio", "-g", "none", "--no-children", "-F",
                                   "period,sym", "-t", "|", "-i", data],
                                  capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("no perf")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr,
                         r"\A(No kallsyms or vmlinux with build-id \w+ was found\n)?\Z")
        rows = [line.split("|") for line in done.stdout.splitlines() if "|" in line]
        return sum(int(row[0]) for row in rows if row[0].strip().isdigit())

    def inputs(self):
        paths = [QUICKSTART, OFF_CPU, self.stacks]
        for name in OF_THE_CORPUS if self.corpus else ():
            found = sorted(self.corpus.glob(name))
            self.assertNotEqual(found, [], name)
            paths.append(found[0])
        return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--corpus")
    options, rest = parser.parse_known_args()
    Anonymized.bin, Anonymized.corpus = options.bin, find_corpus(options.corpus)
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Anonymizes profiles into every format, and looks for their names in the bytes of the outputs.

    anonymize_test.py --bin build/dev/bin [--corpus DIRECTORY]

The names are the strings of the profile's uncompressed pprof: functions, files, threads, labels,
build ids and comments. None may be in an output, but for those that the manual says stay. Also the
stacks must have the same shape and the same numbers, and a key must give the same words each time.
The inputs are testdata/perfdata/quickstart.data, stacks made here, and a few files of the corpus,
if there is one.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from corpus import find as find_corpus

QUICKSTART = Path(__file__).resolve().parents[2] / "testdata/perfdata/quickstart.data"
STACKS = """acme-server;acme::Main;acme::Work<acme::Secret>;std::sort 5
acme-server;acme::Main;[libacme.so] 3
acme-server;acme::Main;[unknown] 2
acme-worker;acme::Loop 1
"""
OF_THE_CORPUS = (
    "perfdata/armv7-k3.4-systemwide-6events.perf.data", "perfdata/aarch64-k4.0-fib.perf.data",
    "pprof/parca-labels.pb.gz", "pprof/parca-normal-cpu.pb.gz",
    "pprof/pprofutils-heapage.pb.gz", "folded/flamegraph/*.expect-all.folded")
FORMATS = ("perf.data", "folded", "pprof", "svg", "speedscope", "callgrind", "firefox",
           "perf-script")
KEYS = (b"0123456789abcdef", b"another key of 26 bytes...")
WORD = re.compile(rb"\b(fn|p|c|mod|text|key|event|arg|host)_[0-9a-f]{12}\b")
# Shorter names are in any file by chance.
LEAST_NAME = 6
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


class Pprof:
    """The texts of an uncompressed pprof, and those among them that stay."""

    def __init__(self, data):
        self.texts = [value for number, value in fields(data) if number == STRING_TABLE]
        messages = {kind: [dict(fields(value)) for number, value in fields(data) if number == kind]
                    for kind in (MAPPING, FUNCTION)}
        kernels = {mapping[1] for mapping in messages[MAPPING]
                   if re.match(rb"\[(guest\.)?kernel|\[vdso", self.texts[mapping.get(5, 0)])}
        names = {function[1]: self.texts[function.get(2, 0)] for function in messages[FUNCTION]}
        self.kernel = set()
        for number, value in fields(data):
            if number == LOCATION:
                lines = [dict(fields(line)).get(1) for field, line in fields(value) if field == 4]
                if dict(fields(value)).get(2) in kernels:
                    self.kernel.update(names[line] for line in lines if line in names)


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

    def names_in(self, path):
        """Returns the texts of a profile that must not stay."""
        pprof = Pprof(self.convert(path, "pprof", "--no-gzip", "--labels", "cpu,cgroup"))
        names = set()
        for text in pprof.texts:
            if text in pprof.kernel or text.startswith((b"arch: ", b"os release: ", b"perf version: ")):
                continue
            names.update(part for part in re.split(rb"/", text) if len(part) >= LEAST_NAME)
        return names

    def kept(self, path, key):
        """Returns the texts that the anonymized profile shares with the original one."""
        ours = Pprof(self.convert(path, "pprof", "--no-gzip", "--anonymize", key))
        return {text for text in ours.texts if not WORD.search(text)}, ours

    def test_no_name_is_in_any_output(self):
        for path in self.inputs():
            names = self.names_in(path)
            kept, _ = self.kept(path, self.keys[0])
            # What stays is short enough to be read: events, units, kernel functions, constants.
            for text in kept - Pprof(self.convert(path, "pprof", "--no-gzip")).kernel:
                self.assertRegex(
                    text, rb"\A(|\[[\w.]+\]|//anon|/tmp/perf-\d+\.map|[\w:-]*|arch: \w+|"
                    rb"(os release|perf version): [\d.]+|hostname: .*)\Z", path)
            names -= kept
            for name in FORMATS:
                data = self.convert(path, name, "--anonymize", self.keys[0])
                boilerplate = self.convert(self.plain(), name)
                for each in names:
                    if each not in boilerplate:
                        self.assertNotIn(each, data, f"{path}: {name}")
            print(f"{path.name}: {len(names)} names, {len(kept)} texts stay")

    def plain(self):
        path = self.folder / "plain"
        path.write_text("a 1\n")
        return path

    def test_user_functions_threads_and_files_are_words(self):
        for path in self.inputs():
            original = Pprof(self.convert(path, "pprof", "--no-gzip"))
            texts = b"\n".join(self.kept(path, self.keys[0])[1].texts)
            for line in self.convert(path, "folded", "--anonymize", self.keys[0]).splitlines():
                for frame in line.rpartition(b" ")[0].split(b";"):
                    known = frame in original.kernel or re.fullmatch(rb"\[[\w.]+\]", frame)
                    self.assertTrue(known or WORD.fullmatch(frame), (path, frame))
                    if WORD.fullmatch(frame) and not frame.startswith(b"c_"):
                        self.assertIn(frame, texts, path)

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

    def test_perf_reads_the_recording(self):
        data = self.folder / "anonymous.data"
        data.write_bytes(self.convert(self.stacks, "perf.data", "--anonymize", self.keys[0]))
        try:
            done = subprocess.run(["perf", "report", "--stdio", "-g", "none", "--no-children", "-F",
                                   "period,sym", "-t", "|", "-i", data], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("no perf")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split("|") for line in done.stdout.splitlines() if "|" in line]
        self.assertEqual(sum(int(row[0]) for row in rows if row[0].strip().isdigit()), 11, rows)

    def inputs(self):
        paths = [QUICKSTART, self.stacks]
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

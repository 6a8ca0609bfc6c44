# SPDX-License-Identifier: Apache-2.0
"""Parses the output of `go tool pprof -raw` for comparisons, without ids and the order of
tables."""
import collections
import os
import re
import shutil
import subprocess
import tempfile

LOCATION = re.compile(r"\s*(\d+): (0x[0-9a-f]+) (?:M=(\d+) )?(.*)$")
MAPPING = re.compile(r"(\d+): (\S+/\S+/\S+ .*?)\s*$")
SAMPLE = re.compile(r"\s*((?:-?\d+ *)+): ?([\d ]*)$")


def of_file(path):
    """Returns the text, or None without go."""
    if shutil.which("go") is None:
        return None
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            ["go", "tool", "pprof", "-symbolize=none", "-raw", str(path)], capture_output=True,
            env=dict(os.environ, HOME=home), check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode(errors="replace"))
    return done.stdout.decode(errors="surrogateescape")


class Raw:
    """`header`: the lines before the samples, and their types. `samples`: the sum of values for
    each stack, leaf first, with its labels. `mappings`: how often each mapping occurs."""

    def __init__(self, text):
        lines = text.split("\n")
        samples, locations, mappings = (
            lines.index(title) for title in ("Samples:", "Locations", "Mappings"))
        self.header = lines[:samples] + [lines[samples + 1]]
        self._read_mappings(lines[mappings + 1:])
        self._read_locations(lines[locations + 1:mappings])
        self._read_samples(lines[samples + 2:locations])

    def _read_mappings(self, lines):
        by_id = (MAPPING.match(line).groups() for line in lines if line.strip())
        self._mapping = dict(by_id)
        self.mappings = collections.Counter(self._mapping.values())

    def _read_locations(self, lines):
        self._location = {}
        for line in lines:
            if match := LOCATION.match(line):
                number, address, mapping, first = match.groups()
                content = [address, self._mapping.get(mapping), first.strip()]
                self._location[number] = content
            else:
                content.append(line.strip())

    def _read_samples(self, lines):
        rows = []
        for line in lines:
            if match := SAMPLE.match(line):
                values, ids = (part.split() for part in match.groups())
                stack = tuple(tuple(self._location[number]) for number in ids)
                rows.append((stack, [int(value) for value in values], []))
            else:
                rows[-1][2].append(line.strip())
        self.samples = {}
        for stack, values, labels in rows:
            key = (stack, tuple(labels))
            before = self.samples.get(key, [0] * len(values))
            self.samples[key] = [a + b for a, b in zip(before, values)]


def differences(before, after):
    """Returns the differences of two Raws as lines."""
    found = []
    if before.header != after.header:
        found.append(f"header: {before.header} became {after.header}")
    if before.mappings != after.mappings:
        found.append(f"mappings: gone {before.mappings - after.mappings}, "
                     f"new {after.mappings - before.mappings}")
    for key in before.samples.keys() | after.samples.keys():
        if (was := before.samples.get(key)) != (now := after.samples.get(key)):
            found.append(f"sample {key}: {was} became {now}")
    return found

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares names from saved symbols with those that perf printed on the recording machine.

    native_symbols_test.py --bin build/dev/bin [--corpus DIRECTORY] [NAME...]

The corpus has recordings of virtual machines (x86_64, i386, ppc64le, s390x), their /proc/kallsyms,
some of their binaries, and the output of `perf script` there. Each frame that perf named, in the
kernel or in a saved binary, must have the same name here; frames without a name are compared, too.
The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77).

One difference is intended. perf looks all frames up at their address. We look return addresses up
one byte before, inside the call. At the very start of a function these differ: after a call that
does not return, perf names the function that happens to follow. (If the frame was interrupted at
its first instruction, perf is right; the recording does not distinguish the two.)
"""
import argparse
import bisect
import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from corpus import SKIPPED, find as find_corpus
from pprof_reader import fields, integers, message, signed

FRAME = re.compile(r"\b([0-9a-f]+) (\S+?)(?:\+0x[0-9a-f]+)? \((\S+)\)(?: \[.*)?$")
BINARIES = ("workload_fp", "workload_nofp")
KERNEL = "[kernel.kallsyms]"


class Names:
    """Returns perf's names by dso and printed address."""

    def __init__(self, script):
        self.known = {}
        for line in gzip.decompress(script.read_bytes()).decode(errors="replace").splitlines():
            found = FRAME.search(line)
            if found:
                self.known[found[3], int(found[1], 16)] = found[2].strip()


class Location:
    def __init__(self, data, mappings, functions, texts):
        lines, of = [], message(data)
        for number, value in fields(data):
            if number == 4:
                lines.append(functions[message(value)(1)])
        mapping = mappings.get(of(2))
        self.dso = texts[mapping(5)] if mapping else ""
        self.address = of(3)
        # perf prints kernel addresses unchanged, and others as offsets in the file.
        self.offset = self.address - mapping(2) + mapping(4) if mapping else self.address
        self.names = lines


def read_pprof(data):
    parts = {2: [], 3: [], 4: [], 5: [], 6: []}
    for number, value in fields(data):
        if number in parts:
            parts[number].append(value)
    texts = [text.decode(errors="replace") for text in parts[6]]
    mappings = {of(1): of for of in map(message, parts[3])}
    functions = {of(1): texts[of(2)] for of in map(message, parts[5])}
    locations = {message(data)(1): Location(data, mappings, functions, texts) for data in parts[4]}
    samples = []
    for data in parts[2]:
        frames, values = [], []
        for number, value in fields(data):
            if number == 1:
                frames += [locations[id] for id in integers(value)]
            elif number == 2:
                values += [signed(word) for word in integers(value)]
        samples.append((frames, values[0]))
    return samples


def printed_addresses(location, is_leaf):
    """Returns the addresses that perf may have printed, the likeliest first: for a return address,
    which pprof has inside the call, the one after it."""
    base = location.address if location.dso == KERNEL or location.dso.startswith("[") else location.offset
    exact = [base, location.address]
    behind = [address + 1 for address in exact]
    return exact + behind if is_leaf else behind + exact


class Test:
    def __init__(self, folder, binaries, home, corpus):
        self.convert = binaries / "perftape-convert"
        self.corpus = corpus
        self.folder = folder
        self.failures = 0
        self.totals = Counter()
        # A directory in pprof's layout, and a root with the binaries at their paths, both without
        # anything of this machine.
        self.environment = {"HOME": str(home), "PATH": os.environ.get("PATH", "")}
        self.root = folder / "root"
        for name in BINARIES:
            path = self.root / "usr/bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.decompress((corpus / f"native/{name}.gz").read_bytes()))
        self.tables = {}
        self.starts = {}
        for table in (corpus / "native").glob("*.kallsyms.gz"):
            arch = table.name.split(".")[0]
            self.tables[arch] = folder / f"{arch}.kallsyms"
            self.tables[arch].write_bytes(gzip.decompress(table.read_bytes()))

    def fail(self, what):
        self.failures += 1
        print(f"FAIL: {what}")

    def start(self, recording, *options):
        return subprocess.run(
            [self.convert, recording, "--no-local", "--no-lines", "--show-sources", *options,
             "--no-gzip", "--to", "pprof", "-f", "-o", self.folder / "out.pb"],
            env=self.environment, capture_output=True, text=True, errors="replace")

    def run(self, recording, *options):
        """Returns the samples, and the messages about symbol sources."""
        done = self.start(recording, *options)
        # Status 3: some records of the recording came too late, which does not affect names.
        if done.returncode not in (0, 3):
            self.fail(f"{recording.name}: status {done.returncode}: {done.stderr}")
            return [], done.stderr
        return read_pprof((self.folder / "out.pb").read_bytes()), done.stderr

    def compare(self, name, recording, arch, script):
        known = Names(script).known
        samples, messages = self.run(recording, "--kallsyms", self.tables[arch], "--symfs", self.root)
        counts, differences = Counter(), Counter()
        for frames, count in samples:
            for place, location in enumerate(frames):
                self.compare_frame(arch, location, place == 0, count, known, counts, differences)
        print(f"{name}: " + ", ".join(f"{number} {what}" for what, number in sorted(counts.items())))
        for difference, number in differences.most_common(20):
            self.fail(f"{name}: {number} times {difference}")
        if not counts["equal"]:
            self.fail(f"{name}: no name was compared: {messages}")
        self.totals += counts

    def compare_frame(self, arch, location, is_leaf, count, known, counts, differences):
        dso = location.dso
        is_ours = dso.startswith("[") or Path(dso).name in BINARIES
        if not is_ours or dso in ("[vdso]", ""):
            counts["in binaries that were not saved"] += count
            return
        asked = [(address, known[dso, address]) for address in printed_addresses(location, is_leaf)
                 if (dso, address) in known]
        ours = location.names[-1] if location.names else "[unknown]"
        if not asked:
            counts["that perf did not print"] += count  # perf stops after 127 frames
            return
        names = [name for _, name in asked]
        if ours in names:
            counts["equal" if ours == names[0] else "equal, by the call itself"] += count
        elif names[0] == "[unknown]":
            counts["that only we name"] += count
            differences[f"{dso} {location.address:x}: {ours}, perf has [unknown]"] += count
        elif not is_leaf and self.is_start(arch, dso, asked[0][0], names[0], ours):
            counts["at the start of a function, called from before it"] += count
        else:
            differences[f"{dso} {location.address:x}: {ours}, perf has {names[0]}"] += count

    def is_start(self, arch, dso, address, theirs, ours):
        """Returns whether perf's name begins at the address and ours before it."""
        if dso != KERNEL:
            return self.binary_starts(dso).get(address) == theirs
        names = self.kernel_names_at(arch)
        starts, texts = names
        place = bisect.bisect_right(starts, address) - 1
        return starts[place] == address and texts[place] == theirs and texts[place - 1] == ours

    def kernel_names_at(self, arch):
        """Returns the sorted addresses of functions, and the last name listed for each."""
        if arch not in self.starts:
            names = {}
            for line in self.tables[arch].read_text().splitlines():
                address, kind, name = line.split(" ", 2)
                if kind in "tTwWdDbB" and "\t" not in name:
                    names[int(address, 16)] = name
            self.starts[arch] = sorted(names), [names[address] for address in sorted(names)]
        return self.starts[arch]

    def binary_starts(self, dso):
        """Returns the names by file offset. workload.c is linked so that its offset is the address
        minus 0x400000."""
        found = subprocess.run(["nm", self.root / dso.lstrip("/")], capture_output=True, text=True)
        lines = [line.split(" ") for line in found.stdout.splitlines()]
        return {int(line[0], 16) - 0x400000: line[2] for line in lines if line[0]}

    # The cases: names that must not change, and symbols that must be refused.

    def kernel_names(self, recording, *options):
        samples, messages = self.run(recording, *options)
        names = Counter()
        for frames, count in samples:
            for location in frames:
                if location.dso.startswith("[") and location.dso != "[vdso]" and location.names:
                    names[location.dso, location.address, location.names[-1]] += count
        return names, messages

    def write_table(self, arch, change):
        path = self.folder / "changed.kallsyms"
        with open(self.tables[arch]) as table, open(path, "w") as changed:
            for line in table:
                address, rest = line.split(" ", 1)
                changed.write(f"{change(int(address, 16), rest):0{len(address)}x} {rest}")
        return path

    def check_moved(self, name, recording, arch):
        """Returns the table of another boot: the kernel and each module are at other addresses."""
        def move(address, rest):
            if address == 0 or rest[0] in "aA":
                return address
            return address + (0x13000 if rest.rstrip().endswith("]") else 0x4200000)

        expected, _ = self.kernel_names(recording, "--kallsyms", self.tables[arch])
        moved, messages = self.kernel_names(recording, "--kallsyms", self.write_table(arch, move))
        # No source has the addresses of BPF programs and trampolines.
        if not expected or moved != expected:
            lost = list((expected - moved).items())[:5]
            self.fail(f"{name}: moved, {sum(moved.values())} names of {sum(expected.values())}, "
                      f"without {lost}: {messages}")
        if "moved by 0x4200000" not in messages:
            self.fail(f"{name}: does not report how far the kernel moved: {messages}")
        self.totals["kept their name with a moved kernel"] += sum(expected.values())

    def check_refused(self, name, recording, arch):
        def rebuild(address, rest):
            return address + 0x1000 if rest.rstrip().endswith((" _etext", " _edata")) else address

        tables = [self.tables[other] for other in self.tables if other != arch]
        ends_are_recorded = arch != "ppc64le"
        if ends_are_recorded:
            tables.append(self.write_table(arch, rebuild))
        for table in tables:
            names, messages = self.kernel_names(recording, "--kallsyms", table)
            if names or "of another kernel" not in messages:
                self.fail(f"{name}: {table.name} was not refused: {len(names)} names: {messages}")
            self.totals["kernels refused"] += 1

    def check_hidden(self, name, recording, arch):
        table = self.write_table(arch, lambda address, rest: 0)
        done = self.start(recording, "--kallsyms", table)
        if done.returncode != 1 or "kptr_restrict" not in done.stderr:
            self.fail(f"{name}: a table without addresses was not refused: {done.stderr}")

    def check_rebuilt(self, recording):
        """Puts a binary with another build id at the recorded path."""
        path = self.root / "usr/bin/workload_fp"
        content = path.read_bytes()
        build_id = bytes.fromhex("4370208436ee02122e89a5368b3d13a3e96e53cb")
        path.write_bytes(content.replace(build_id, bytes(reversed(build_id))))
        samples, messages = self.run(recording, "--symfs", self.root)
        path.write_bytes(content)
        named = sum(1 for frames, _ in samples for location in frames
                    if location.dso.endswith("workload_fp") and location.names)
        if named or f"build id {bytes(reversed(build_id)).hex()}, but the recorded one is {build_id.hex()}" not in messages:
            self.fail(f"a rebuilt binary was not refused: {named} names: {messages}")


def arch_of(name):
    return next((arch for arch in ("x86_64", "i386", "ppc64le", "s390x") if arch in name), None)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bin", type=Path, required=True)
    options.add_argument("--corpus")
    options.add_argument("names", nargs="*")
    arguments = options.parse_args()
    corpus = find_corpus(arguments.corpus)
    if corpus is None or not (corpus / "native").is_dir():
        return SKIPPED

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        test = Test(Path(folder), arguments.bin, home, corpus)
        for script in sorted((corpus / "native").glob("*.script.txt.gz")):
            name = script.name.removesuffix(".script.txt.gz")
            if arguments.names and name not in arguments.names:
                continue
            places = (corpus / f"perfdata/{name}.perf.data", corpus / f"native/{name}.perf.data.dir")
            recording = next((place for place in places if place.exists()), None)
            if recording is None:
                test.fail(f"{name}: there is no recording")
                continue
            test.compare(name, recording, arch_of(name), script)
        for name in ("own-x86_64-fp-workload", "own-i386-fp-systemwide", "own-ppc64le-fp-systemwide",
                     "own-s390x-BE-sched-switch"):
            recording = corpus / f"perfdata/{name}.perf.data"
            if arguments.names and name not in arguments.names:
                continue
            test.check_moved(name, recording, arch_of(name))
            test.check_refused(name, recording, arch_of(name))
            test.check_hidden(name, recording, arch_of(name))
        test.check_rebuilt(corpus / "perfdata/own-x86_64-fp-workload.perf.data")
    print("all: " + ", ".join(f"{number} {what}" for what, number in sorted(test.totals.items())))
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())

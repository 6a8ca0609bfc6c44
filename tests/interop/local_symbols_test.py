#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares names of this machine's programs and libraries with those of perf 6.1.

    local_symbols_test.py --bin build/dev/bin [--binaries 40] [--show 4]

Writes a perf.data with samples in some forty binaries of /usr/bin and /usr/lib: at the first byte,
in the middle, at the last byte and one byte after functions, and in the linkage table. `perf
script` and perftape-convert must print the same name for each. A difference is only accepted if
`explain` has a reason for it. Skipped (status 77) without perf.
"""
import argparse
import functools
import lzma
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

from pprof_reader import fields, message

SKIPPED = 77
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_DYNSYM = 2, 4, 8, 11
EM_X86_64, R_X86_64_IRELATIVE = 62, 37
PT_LOAD, STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC = 1, 0, 2, 10
NOWHERE = "[unknown]"
VERSION = r"@@?(?!plt$)[\w.]+$"  # "malloc@GLIBC_2.2.5": perf shows the version, we do not

Section = namedtuple("Section", "name type flags address offset size link entry_size")
Segment = namedtuple("Segment", "offset address size")
Symbol = namedtuple("Symbol", "name start size kind binding")
INSIDE = ("start", "middle", "last")
UNEXPLAINED, NAMELESS = "FAIL: unexplained", "FAIL: a function that neither names"

# An address to resolve. `place` is the part of a function in which it is.
Asked = namedtuple("Asked", "ip binary address place")


class Binary:
    """The parts of a 64-bit little-endian ELF file that the test needs; ValueError for other
    files."""

    def __init__(self, path, data=None):
        self.path = path
        self.data = data = path.read_bytes() if data is None else data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no ELF file of 64 bits")
        head = struct.unpack_from("<HHIQQQIHHHHHH", data, 16)
        self.machine = head[1]
        self.segments = []
        for i in range(head[9]):
            at = head[4] + i * head[8]
            kind, flags, offset, address, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", data, at)
            if kind == PT_LOAD and flags & 1:
                self.segments.append(Segment(offset, address, size))
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, head[5] + i * head[10])
               for i in range(head[11])]
        names = raw[head[12]][4] if raw else 0
        self.sections = [Section(self.text(names + one[0]), one[1], one[2], one[3], one[4], one[5],
                                 one[6], one[9]) for one in raw]
        self.symbols = []
        for section in self.sections:
            if section.type in (SHT_SYMTAB, SHT_DYNSYM):
                self.symbols += self.read_symbols(section)
        self.has_symtab = any(section.type == SHT_SYMTAB for section in self.sections)

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode(errors="replace")

    def read_symbols(self, table):
        texts = self.sections[table.link].offset
        for at in range(table.offset, table.offset + table.size, 24):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            if table.type != SHT_NOBITS and 0 < section < 0xFF00 and info & 15 in (STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC):
                yield Symbol(self.text(texts + name).split("@")[0], value, size, info & 15, info >> 4)

    def section_at(self, address):
        for section in self.sections:
            if section.flags & 2 and section.address <= address < section.address + section.size:
                return section
        return None

    def functions(self):
        return [symbol for symbol in self.symbols
                if symbol.kind != STT_NOTYPE and symbol.size > 0 and self.offset_of(symbol.start)]

    def linked_at(self, address, section):
        """Returns the names of the target of a linkage table's entry: those bound to the slot of
        the global offset table that its `jmp *slot(%rip)` reads. Empty if this is no entry."""
        length = section.entry_size or 16
        entry = address - (address - section.address) % length
        code = self.data[self.offset_of(entry):][:length]
        at = code.find(b"\xff\x25")
        if at < 0 or self.machine != EM_X86_64:
            return set()
        slot = entry + at + 6 + struct.unpack_from("<i", code.ljust(24, b"\0"), at + 2)[0]
        return self.names_in_slots().get(slot, set())

    @functools.cache
    def names_in_slots(self):
        names = {}
        for table in self.sections:
            if table.type != SHT_RELA or self.sections[table.link].type != SHT_DYNSYM:
                continue
            symbols = self.sections[table.link]
            for at in range(table.offset, table.offset + table.size, 24):
                slot, info, addend = struct.unpack_from("<QQq", self.data, at)
                if info & 0xFFFFFFFF == R_X86_64_IRELATIVE:
                    names[slot] = {symbol.name for symbol in self.all_symbols()
                                   if symbol.start == addend}
                elif info >> 32:
                    name, = struct.unpack_from("<I", self.data, symbols.offset + 24 * (info >> 32))
                    text = self.text(self.sections[symbols.link].offset + name)
                    names[slot] = {text.split("@")[0]}
        return names

    @functools.cache
    def all_symbols(self):
        """Also adds the symbols of the separate debug file."""
        return self.symbols + [symbol for file in self.debug_files() for symbol in file.symbols]

    def ended_before(self, name, address):
        """Returns whether a symbol of that name, without size, is in another section before."""
        section = self.section_at(address)
        return any(symbol.name == name and symbol.size == 0 and symbol.start < address
                   and self.section_at(symbol.start) != section for symbol in self.all_symbols())

    def has_sized_alias(self, name, address):
        """Returns whether a symbol of that name, without size, has the same start as one with a
        size."""
        starts = {symbol.start for symbol in self.all_symbols()
                  if symbol.name == name and symbol.size == 0 and symbol.start <= address}
        return any(symbol.start in starts and symbol.size > 0 for symbol in self.all_symbols())

    def names_at(self, name):
        """Returns all names of the symbols with this name's address."""
        starts = {symbol.start for symbol in self.all_symbols() if symbol.name == name}
        return {symbol.name for symbol in self.all_symbols() if symbol.start in starts}

    def debug_files(self):
        for section in self.sections:
            if section.name == ".note.gnu.build-id":
                id = self.data[section.offset + 16:section.offset + section.size].hex()
                path = Path(f"/usr/lib/debug/.build-id/{id[:2]}/{id[2:]}.debug")
                if path.exists():
                    yield Binary(path)

    @functools.cache
    def mini_debug_names(self):
        for section in self.sections:
            if section.name == ".gnu_debugdata":
                data = lzma.decompress(self.data[section.offset:section.offset + section.size])
                return {symbol.name for symbol in Binary(self.path, data).symbols}
        return set()

    def offset_of(self, address):
        """Returns the file offset of an address in code, or None."""
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        return None


def find_binaries(count):
    """Returns binaries of all installed ones, evenly spread: first those with a symbol table, then
    those with exported functions only, then others."""
    chance = random.Random(6)
    paths = [path for folder in ("/usr/bin", "/usr/lib") for path in sorted(Path(folder).rglob("*"))
             if path.is_file() and not path.is_symlink() and 8192 < path.stat().st_size < 20 << 20
             and (folder == "/usr/bin" or ".so" in path.name) and "/debug/" not in str(path)
             and os.access(path, os.R_OK)]
    chance.shuffle(paths)
    kinds = {"with .symtab": [], "with .dynsym": [], "stripped": []}
    for path in paths[:1500]:
        try:
            with open(path, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            binary = Binary(path)
        except (ValueError, IndexError, struct.error):
            continue
        if not binary.segments:
            continue
        functions = len(binary.functions())
        kind = "with .symtab" if binary.has_symtab else "with .dynsym" if functions > 8 else "stripped"
        wanted = count // 2 if kind != "stripped" else max(1, count // 8)
        if len(kinds[kind]) < wanted:
            kinds[kind].append(binary)
        if all(len(found) >= count // 2 for name, found in kinds.items() if name != "stripped"):
            break
    stripped = kinds["stripped"]
    named = (kinds["with .symtab"] + kinds["with .dynsym"])[:count - len(stripped)]
    return named + stripped


def places_in(binary, chance, functions, of_linkage_table):
    known = binary.functions()
    for symbol in chance.sample(known, min(functions, len(known))):
        yield symbol.start, f"start of {symbol.name}"
        yield symbol.start + symbol.size // 2, f"middle of {symbol.name}"
        yield symbol.start + symbol.size - 1, f"last byte of {symbol.name}"
        yield symbol.start + symbol.size, f"byte behind {symbol.name}"
    for section in binary.sections:
        if binary.machine == EM_X86_64 and section.name.startswith(".plt") and section.size:
            for _ in range(of_linkage_table):
                yield section.address + chance.randrange(section.size), f"in {section.name}"
    for segment in binary.segments:
        for _ in range(2):
            yield segment.address + chance.randrange(segment.size), "anywhere"


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    data = os.fsencode(text) + b"\0"
    return data + bytes(-len(data) % 8)


class Recording:
    """Returns a perf.data of one process that maps all binaries, with one sample at each address,
    in address order."""

    def __init__(self, binaries, functions):
        self.asked, self.records = [], []
        self.put(3, struct.pack("<II", 7, 7) + padded("all"))
        base = 0x10000000
        chance = random.Random(61)
        for binary in binaries:
            bias = base - min(segment.address for segment in binary.segments) // 4096 * 4096
            for segment in binary.segments:
                self.add_mapping(binary, segment, bias)
            addresses = dict(places_in(binary, chance, functions, 3))
            for address, place in sorted(addresses.items()):
                if binary.offset_of(address) is not None:
                    self.asked.append(Asked(address + bias, binary, address, place))
            base += max(segment.address + segment.size for segment in binary.segments)
            base = (base // 0x1000000 + 2) * 0x1000000
        for asked in self.asked:
            self.put(9, struct.pack("<QII", asked.ip, 7, 7), is_sample=True)

    def put(self, kind, body, is_sample=False):
        time = struct.pack("<Q", 1000 + len(self.records))
        self.records.append(record(kind, body + (b"" if is_sample else struct.pack("<II", 7, 7)) + time))

    def add_mapping(self, binary, segment, bias):
        start = segment.address // 4096 * 4096
        offset = segment.offset - (segment.address - start)
        size = -(-(segment.address + segment.size - start) // 4096) * 4096
        self.put(10, struct.pack("<IIQQQIIQQII", 7, 7, start + bias, size, offset, 0, 0, 0, 0, 5, 2)
                 + padded(str(binary.path)))

    def write(self, path):
        data = b"".join(self.records)
        all_sample_ids, mmap, comm, mmap2 = 1 << 18, 1 << 8, 1 << 9, 1 << 23
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 7, 0, all_sample_ids | mmap | comm | mmap2)
        attr = attr.ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
        head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr),
                           104 + len(attr), len(data), 0, 0) + bytes(32)
        path.write_bytes(head + attr + data)


def names_of_perf(path, environment):
    done = subprocess.run(["perf", "script", "--no-inline", "--no-demangle", "-F", "ip,sym", "-i", path],
                          env=environment, capture_output=True, text=True, errors="replace")
    names = {}
    for line in done.stdout.splitlines():
        ip, _, name = line.strip().partition(" ")
        names[int(ip, 16)] = name.strip() or NOWHERE
    return names, done.stderr


def our_names(convert, path, folder, environment):
    """Returns the names by address, as the linker resolves them."""
    out = folder / "out.pb"
    done = subprocess.run([convert, path, "--local", "--no-lines", "--no-gzip", "--to", "pprof", "-o", out],
                          env=environment, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return {}, done.stderr
    texts, functions, lines = [], {}, {}
    for number, value in fields(out.read_bytes()):
        if number == 6:
            texts.append(value.decode(errors="replace"))
        elif number == 5:
            of = message(value)
            functions[of(1)] = of(3) or of(2)
        elif number == 4:
            found = [message(line)(1) for field, line in fields(value) if field == 4]
            lines[message(value)(3)] = found[-1] if found else None
    return {ip: NOWHERE if function is None else texts[functions[function]]
            for ip, function in lines.items()}, done.stderr


def explain(asked, ours, theirs):
    """Returns why the two names differ, or None if the difference is not explained."""
    binary, address = asked.binary, asked.address
    section = binary.section_at(address)
    if section and section.name.startswith(".plt"):
        # perf 6.1 only names the entries of .plt, by counting them in the order of .rela.plt. It
        # handles neither .plt.got nor .plt.sec, nor another order by the linker, nor the functions
        # of IRELATIVE relocations. We name the target of the entry's jump.
        if ours.removesuffix("@plt") in binary.linked_at(address, section):
            return "linkage table: perf names the entry not, or by its number"
    if ours == NOWHERE and binary.ended_before(theirs, address):
        return "perf goes on with a symbol without size (_init) behind the end of its section"
    if binary.has_sized_alias(theirs, address) and ours in (NOWHERE, *binary.names_at(theirs)):
        return "a symbol without size beside one with: perf shows either, by their order in the table"
    if theirs == NOWHERE and ours in binary.mini_debug_names():
        return "MiniDebugInfo: perf 6.1 does not read it"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--binaries", type=int, default=40)
    parser.add_argument("--functions", type=int, default=20, help="of each binary")
    parser.add_argument("--show", type=int, default=4, help="how many of each difference")
    options = parser.parse_args()
    if not shutil.which("perf") or subprocess.run(["perf", "version"], capture_output=True).returncode:
        print("no perf that runs here to compare with")
        return SKIPPED
    binaries = find_binaries(options.binaries)
    recording = Recording(binaries, options.functions)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "perf.data"
        recording.write(path)
        environment = {"HOME": "/nonexistent", "PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        theirs, complaint = names_of_perf(path, environment)
        ours, messages = our_names(options.bin / "perftape-convert", path, folder, environment)
    if not theirs or not ours:
        print(f"FAIL: perf: {len(theirs)} names: {complaint}; ours: {len(ours)} names: {messages}")
        return 1
    counts, examples = Counter(), {}
    theirs = {ip: re.sub(VERSION, "", name) for ip, name in theirs.items()}
    for asked in recording.asked:
        our, their = ours.get(asked.ip, "not there"), theirs.get(asked.ip, "not there")
        if our != their:
            why = explain(asked, our, their) or UNEXPLAINED
        elif our != NOWHERE:
            why = "equal"
        elif asked.place.startswith(INSIDE):
            why = NAMELESS
        else:
            why = "equal: no name"
        counts[why] += 1
        examples.setdefault(why, []).append(
            f"{asked.binary.path} {asked.address:x} ({asked.place}): {our}, perf has {their}")
    print(f"{len(recording.asked)} places in {len(binaries)} binaries, "
          f"{sum(binary.has_symtab for binary in binaries)} of them with .symtab")
    for why, number in counts.most_common():
        print(f"{number:6} {why}")
        for example in [] if why.startswith("equal") else examples[why][:options.show]:
            print(f"         {example}")
    failed = counts[UNEXPLAINED] + counts[NAMELESS] > 0 or not counts["equal"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the user call chains of a perf.data with the machine code that they lead through.

    tests/bench/chain_truth.py perf.data

A chain is whole if its root is where the kernel or the C library starts a thread. A frame is false if no call ends at
its address, or if that call leads to another function than its callee, tail calls allowed; a signal's way back is no call.
Reads files of one attribute layout without READ and RAW values before the chain, as perf record -g and perftape-record
write them."""
import collections
import struct
import sys
from pathlib import Path

import machine_code

ROOTS = frozenset(
    "_start __libc_start_main __libc_start_call_main __libc_start_main_impl clone clone3 __clone __clone3 __GI___clone "
    "start_thread thread_start runtime.goexit runtime.goexit.abi0 runtime.mstart runtime.mstart.abi0 _dl_start "
    "_dl_start_user _rt0_amd64 _rt0_amd64_linux runtime.rt0_go runtime.rt0_go.abi0".split())
MMAP, COMM, FORK, SAMPLE, MMAP2 = 1, 3, 7, 9, 10
IP, TID, TIME, ADDR, ID, CPU, PERIOD, STREAM_ID, READ, CALLCHAIN, IDENTIFIER = (
    1 << bit for bit in (0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 16))
FIRST_MARKER, USER_MARKER = 2**64 - 4095, 2**64 - 512
EXECUTABLE, COMM_EXEC = 4, 0x2000


class Recording:
    """The process events and samples of a perf.data, in time order."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        if self.data[:8] != b"PERFILE2":
            sys.exit(f"{path}: no perf.data of this machine's byte order")
        _, entry, attrs, attrs_size, self.begin, size = struct.unpack_from("<6Q", self.data, 8)
        self.end = self.begin + size if size else len(self.data)
        self.type_of = {}
        for at in range(attrs, attrs + attrs_size, entry):
            sample_type = struct.unpack_from("<Q", self.data, at + 24)[0]
            self.type_of.setdefault(None, sample_type)
            ids, ids_size = struct.unpack_from("<QQ", self.data, at + entry - 16)
            for id_at in range(ids, ids + ids_size, 8):
                self.type_of[struct.unpack_from("<Q", self.data, id_at)[0]] = sample_type

    def text_at(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("utf8", "replace")

    def time_of(self, at, size):
        """Returns the time in the trailer that sample_id_all puts behind a record."""
        present = [bit for bit in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER) if self.type_of[None] & bit]
        trailer = at + size - 8 * len(present)
        return struct.unpack_from("<Q", self.data, trailer + 8 * present.index(TIME))[0] if TIME in present else 0

    def sample_at(self, at):
        """Returns (time, pid, chain) of a sample."""
        sample_type = self.type_of[None]
        if sample_type & IDENTIFIER:
            sample_type = self.type_of.get(struct.unpack_from("<Q", self.data, at)[0], sample_type)
            at += 8
        time = pid = 0
        for bit in (IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD):
            if not sample_type & bit:
                continue
            if bit == TID:
                pid = struct.unpack_from("<I", self.data, at)[0]
            if bit == TIME:
                time = struct.unpack_from("<Q", self.data, at)[0]
            at += 8
        if sample_type & READ or not sample_type & CALLCHAIN:
            return time, pid, ()
        count = struct.unpack_from("<Q", self.data, at)[0]
        return time, pid, struct.unpack_from(f"<{count}Q", self.data, at + 8)

    def events(self):
        """Returns (time, kind, what): kind 0 is a process event, 1 a sample."""
        events, at = [], self.begin
        while at + 8 <= self.end:
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            if size < 8:
                break
            body = at + 8
            if kind in (MMAP, MMAP2):
                pid, _, start, length, offset = struct.unpack_from("<IIQQQ", self.data, body)
                protection = struct.unpack_from("<I", self.data, body + 56)[0] if kind == MMAP2 else EXECUTABLE
                if protection & EXECUTABLE or not protection:
                    name = self.text_at(body + (64 if kind == MMAP2 else 32))
                    events.append((self.time_of(at, size), 0, ("mmap", pid, (start, start + length, offset, name))))
            elif kind == COMM and misc & COMM_EXEC:
                events.append((self.time_of(at, size), 0, ("exec", struct.unpack_from("<I", self.data, body)[0], None)))
            elif kind == FORK:
                pid, parent = struct.unpack_from("<II", self.data, body)
                if pid != parent:
                    events.append((self.time_of(at, size), 0, ("fork", pid, parent)))
            elif kind == SAMPLE:
                sample = self.sample_at(body)
                events.append((sample[0], 1, sample[1:]))
            at += size
        return sorted(events, key=lambda event: event[:2])


def user_part(chain):
    frames, is_user = [], False
    for word in chain:
        if word >= FIRST_MARKER:
            is_user = word == USER_MARKER
        elif is_user:
            frames.append(word)
    return frames


class Frame:
    """An address of a chain, with the file that it is in."""

    def __init__(self, address, mappings, is_innermost):
        self.lookup = address if is_innermost else address - 1
        found = next((m for m in reversed(mappings) if m[0] <= self.lookup < m[1]), None)
        self.name = found[3] if found else None
        self.binary = machine_code.binary(found[3]) if found else None
        self.address = self.binary.address_of(address - found[0] + found[2]) if self.binary else None
        self.called = self.address if is_innermost or self.address is None else self.address - 1

    def symbol(self):
        return self.binary.symbol_at(self.called) if self.address is not None else None


class Verdict:
    def __init__(self):
        self.chains = self.whole = self.false = self.other_calls = 0
        self.roots, self.examples = collections.Counter(), collections.Counter()

    def whole_percent(self):
        return 100 * self.whole / self.chains if self.chains else 0.0

    def false_percent(self):
        return 100 * (self.false + self.other_calls) / self.chains if self.chains else 0.0


def base_of(symbol):
    return (symbol or "").split("@")[0].split(".cold")[0]


def fault_of(caller, callee):
    """Returns what is wrong with a caller, or None: "unmapped", "no call", "other call"."""
    if caller.name is None:
        return "unmapped"
    if caller.address is None:
        return None  # memory without a file, whose code is gone
    offset = caller.binary.offset_of(caller.address)
    call = machine_code.call_before(caller.binary.bytes, offset) if offset is not None else None
    if call is None:
        is_signal = caller.binary.is_sigreturn(caller.address) or (
            callee.address is not None and callee.binary.is_sigreturn(callee.address))
        is_mark = (caller.binary.symbol_at(caller.address) or "").startswith("runtime.goexit")
        return None if is_signal or is_mark else "no call"
    if call == "indirect" or callee.binary is not caller.binary or callee.address is None:
        return None
    target = caller.address + call
    if caller.binary.is_plt(target) or base_of(caller.binary.symbol_at(target)) == base_of(callee.symbol()) != "":
        return None
    return None if caller.binary.reaches_by_tail_calls(target, callee.called) else "other call"


def check_chain(chain, mappings, verdict):
    frames = [Frame(address, mappings, index == 0) for index, address in enumerate(chain)]
    verdict.chains += 1
    root = frames[-1].symbol()
    verdict.roots[root or frames[-1].name or "unmapped"] += 1
    verdict.whole += base_of(root) in ROOTS
    faults = set()
    for callee, caller in zip(frames, frames[1:]):
        fault = fault_of(caller, callee)
        if fault:
            faults.add(fault)
            verdict.examples[f"{callee.symbol() or callee.name} <- {caller.symbol() or caller.name}: {fault}"] += 1
    verdict.other_calls += faults == {"other call"}
    verdict.false += bool(faults - {"other call"})


def verdict_of(path):
    verdict, mappings = Verdict(), collections.defaultdict(list)
    for _, is_sample, what in Recording(path).events():
        if is_sample:
            pid, chain = what
            frames = user_part(chain)
            if frames and pid not in (0, 0xFFFFFFFF):
                check_chain(frames, mappings[pid], verdict)
            continue
        kind, pid, value = what
        if kind == "mmap":
            mappings[pid].append(value)
        elif kind == "exec":
            mappings[pid] = []
        else:
            mappings[pid] = list(mappings[value])
    return verdict


def main():
    verdict = verdict_of(sys.argv[1])
    print(f"{verdict.chains} user call chains: {verdict.whole_percent():.1f} % whole, {verdict.false} with a false caller, "
          f"{verdict.other_calls} with a call of another function")
    for title, counts in (("root", verdict.roots), ("fault", verdict.examples)):
        for name, count in counts.most_common(8):
            print(f"  {count:6} {title} {name}")


if __name__ == "__main__":
    main()

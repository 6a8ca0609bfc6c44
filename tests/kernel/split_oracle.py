# SPDX-License-Identifier: Apache-2.0
"""Splits a recording of `--call-graph METHOD+dwarf` in two: one file has only the call chains of
METHOD, the other only the registers and stacks, in which perf's unwinder finds its own chains. Both
have the same samples. perf would print one chain behind the other.

All records stay where they are, because the features after them have offsets. Words that are left
out become FINISHED_ROUND records, which are headers of 8 bytes. The records are in order of time,
so these change nothing."""

import struct

SAMPLE, FINISHED_ROUND = 9, 68
FILLER = struct.pack("<IHH", FINISHED_ROUND, 0, 8)
CONTEXT_USER = 2**64 - 512
# IP, TID, TIME, CALLCHAIN, CPU, PERIOD, REGS_USER, STACK_USER, IDENTIFIER
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 16
CALLCHAIN_OFFSET = 8 + 6 * 8  # header; id, ip, pid and tid, time, cpu, period
EXCLUDE_CALLCHAIN_USER = 1 << 22


def u64(data, offset):
    return struct.unpack_from("<Q", data, offset)[0]


def sample_parts(record):
    """Returns (head, chain, state) of a sample: bytes, words, bytes."""
    count = u64(record, CALLCHAIN_OFFSET)
    start = CALLCHAIN_OFFSET + 8
    chain = struct.unpack_from(f"<{count}Q", record, start)
    return record[:CALLCHAIN_OFFSET], chain, record[start + 8 * count:]


def filled(head, chain, state, size):
    """Returns a sample of these parts and fillers, `size` bytes together."""
    body = head[8:] + struct.pack(f"<{len(chain) + 1}Q", len(chain), *chain) + state
    kind, misc, _ = struct.unpack_from("<IHH", head)
    sample = struct.pack("<IHH", kind, misc, 8 + len(body)) + body
    return sample + FILLER * ((size - len(sample)) // 8)


def split(data, chains_file, stacks_file):
    """Writes the two files."""
    content = data.read_bytes()
    attr_size, attrs, _, start, size = struct.unpack_from("<5Q", content, 16)
    assert u64(content, attrs + 24) == SAMPLE_TYPE, hex(u64(content, attrs + 24))
    of_chains, of_stacks = bytearray(content), bytearray(content)
    at = start
    while at < start + size:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        if kind == SAMPLE:
            head, chain, state = sample_parts(content[at:at + length])
            user = chain.index(CONTEXT_USER) if CONTEXT_USER in chain else len(chain)
            nothing = bytes(16)  # no registers: ABI_NONE; a stack of 0 bytes
            of_chains[at:at + length] = filled(head, chain, nothing, length)
            of_stacks[at:at + length] = filled(head, chain[:user], state, length)
        at += length
    chains_file.write_bytes(of_chains)
    stacks_file.write_bytes(of_stacks)

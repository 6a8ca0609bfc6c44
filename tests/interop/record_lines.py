# SPDX-License-Identifier: Apache-2.0
"""Reads what `perftape-inspect --records` prints.

    record = parse('0xa80 COMM misc 0x0 size 40: pid 5 tid 5 comm "perf" | pid 5 tid 5 time 0')
    record.type == "COMM" and record.fields["comm"] == "perf" and record.trailer["time"] == 0

Numbers are int, lists of words [int], bytes (length, the first 64 of them)."""

import collections
import re

Record = collections.namedtuple("Record", "type misc size fields trailer")

HEAD = re.compile(r"0x[0-9a-f]+(?:\+0x[0-9a-f]+)? (\w+) misc 0x([0-9a-f]+) size (\d+):")
FIELD = re.compile(r' (\w+) (?:"((?:[^"\\]|\\.)*)"|\[(\d+)\]|(\S+))')
WORD_LISTS = {"callchain", "branches", "read", "regs_user", "regs_intr", "ids"}
MARKERS = {"[hypervisor]": -32, "[kernel]": -128, "[user]": -512, "[user_deferred]": -640,
           "[guest]": -2048, "[guest_kernel]": -2176, "[guest_user]": -2560}
BYTES_IN_GROUP, BYTES_SHOWN = 8, 64


def number(text):
    try:
        return int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        return text


def word(text):
    if text in MARKERS:
        return MARKERS[text] + 2**64
    if "->" in text:
        source, target, flags = re.split(r"->|/", text)
        return int(source, 16), int(target, 16), int(flags, 16)
    return int(text, 16)


def items_behind(text, count):
    """The words behind a list's length: `count` of them, and how many characters they take."""
    items = text.split(" ", count + 1)[1:count + 1]
    return items, sum(len(item) + 1 for item in items)


def fields_of(text):
    fields, at = {}, 0
    while match := FIELD.match(text, at):
        name, string, count, other = match.groups()
        at = match.end()
        if count is None:
            fields[name] = number(other) if string is None else string
            continue
        count = int(count)
        if name in WORD_LISTS:
            items, width = items_behind(text[at:], count)
            fields[name] = [int(item) if name == "ids" else word(item) for item in items]
        elif name == "entries":
            break  # of ID_INDEX: nothing stands behind them
        else:
            items, width = items_behind(text[at:], -(-min(count, BYTES_SHOWN) // BYTES_IN_GROUP))
            fields[name] = (count, bytes.fromhex("".join(items)))
            width += 2 * text.startswith(" …", at + width)
        at += width
    return fields


def parse(line):
    head = HEAD.match(line)
    if head is None:
        raise ValueError(f"no record: {line[:80]!r}")
    # Names may hold what separates; the trailer, of numbers alone, does not.
    body, bar, trailer = line[head.end():].rpartition(" |")
    if not bar or '"' in trailer:
        body, trailer = line[head.end():], ""
    return Record(head.group(1), int(head.group(2), 16), int(head.group(3)), fields_of(body),
                  fields_of(trailer))

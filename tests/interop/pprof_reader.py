# SPDX-License-Identifier: Apache-2.0
"""Reads those parts of a pprof that tests need, without any code of perftape."""
import gzip
from collections import namedtuple

# Sample: values in the order of `types`, location ids leaf first, and labels by key (numbers or
# texts). Profile: `types` are (type, unit), `dsos` are file names by location id.
Sample = namedtuple("Sample", "values locations labels")
Profile = namedtuple("Profile", "types samples dsos")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Yields each field's number and value: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7 != 0:
            raise ValueError(f"wire type {key & 7} in a pprof")
        yield key >> 3, value


def integers(value):
    """Returns a repeated integer, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def message(data):
    """Returns the single fields of a message by number; missing ones are 0."""
    found = {}
    for number, value in fields(data):
        found[number] = value
    return lambda number: found.get(number, 0)


def read_sample(data, texts):
    locations, values, labels = [], [], {}
    for number, value in fields(data):
        if number == 1:
            locations += integers(value)
        elif number == 2:
            values += [signed(word) for word in integers(value)]
        elif number == 3:
            label = message(value)
            labels[texts[label(1)]] = texts[label(2)] if label(2) else signed(label(3))
    return Sample(values, locations, labels)


def read(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    parts = {1: [], 2: [], 3: [], 4: [], 6: []}
    for number, value in fields(data):
        if number in parts:
            parts[number].append(value)
    texts = [text.decode(errors="replace") for text in parts[6]]
    types = [(texts[of(1)], texts[of(2)]) for of in map(message, parts[1])]
    files = {of(1): texts[of(5)] for of in map(message, parts[3])}
    dsos = {of(1): files.get(of(2), "") for of in map(message, parts[4])}
    return Profile(types, [read_sample(sample, texts) for sample in parts[2]], dsos)

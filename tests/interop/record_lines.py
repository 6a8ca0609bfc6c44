# SPDX-License-Identifier: Apache-2.0
"""Parses the output of `perftape-inspect --records --json`.

    record = parse('{"record":{"offset":"0x78","type":"COMM","misc":0,"size":40,"pid":5,"tid":5,'
                   '"comm":"perf","sample_id":{"time":9}}}')
    record.type == "COMM" and record.fields["comm"] == "perf" and record.trailer["time"] == 9

Addresses and words are int, `raw` is bytes, a branch is (from, to, flags)."""

import collections
import json
import re

Record = collections.namedtuple("Record", "type misc size fields trailer")

MARKERS = {"[hypervisor]": -32, "[kernel]": -128, "[user]": -512, "[user_deferred]": -640,
           "[guest]": -2048, "[guest_kernel]": -2176, "[guest_user]": -2560}


def word(text):
    if text in MARKERS:
        return MARKERS[text] + 2**64
    if "->" in text:
        return tuple(int(part, 16) for part in re.split(r"->|/", text))
    return int(text, 16)


def value_of(name, value):
    if name in ("callchain", "branches", "priv", "read"):
        return tuple(map(word, value))
    if name == "raw":
        return bytes.fromhex(value)
    if isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value):
        return int(value, 16)
    return value


def parse(line):
    record = json.loads(line)["record"]
    del record["offset"]
    trailer = record.pop("sample_id", {})
    head = [record.pop(name) for name in ("type", "misc", "size")]
    fields = {name: value_of(name, value) for name, value in record.items()}
    return Record(*head, fields, trailer)

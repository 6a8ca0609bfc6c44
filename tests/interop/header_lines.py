# SPDX-License-Identifier: Apache-2.0
"""Reads what `perftape-inspect --header` prints.

    header = Header(text)
    header.events[0]["name"] == "cycles" and header.events[0]["ids"] == [150, 151]
    header.find("NRCPUS", r"(\\d+) online") == ["4"]"""

import re

EVENT_TYPES = ["hardware", "software", "tracepoint", "hw_cache", "raw", "breakpoint"]
EVENT_LINE = re.compile(
    r"  (?P<name>.*): type (?P<type>\S+) size (?P<size>\d+) config (?P<config>0x\S+) "
    r"(?:sample_freq|sample_period) (?P<sample_period>\d+) sample_type (?P<sample_type>\S*)"
    r"(?: read_format (?P<read_format>\S+))? flags (?P<flags>\S*)(?P<others>.*?) ids ?(?P<ids>.*)")


def type_name(number):
    return EVENT_TYPES[number] if number < len(EVENT_TYPES) else str(number)


def event_of(line):
    match = EVENT_LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"no event: {line!r}")
    event = {name: int(match[name], 0) for name in ("size", "config", "sample_period")}
    event |= {"name": match["name"], "type": match["type"]}
    event["sample_type"] = set(match["sample_type"].split("|")) - {""}
    event["read_format"] = set((match["read_format"] or "").split("|")) - {""}
    flags = match["flags"].split("|")
    event["flags"] = {flag for flag in flags if flag and "=" not in flag}
    event["precise_ip"] = sum(int(flag[-1]) for flag in flags if flag.startswith("precise_ip="))
    branches = re.search(r" branch_sample_type (0x[0-9a-f]+)", match["others"])
    event["branch_sample_type"] = int(branches[1], 16) if branches else 0
    event["ids"] = [int(number) for number in match["ids"].split(",") if number]
    return event


class Header:
    """`events` in their order; `features`, the lines of each by its name."""

    def __init__(self, text):
        self.features, event_lines, lines = {}, [], None
        for line in text.splitlines():
            name, colon, rest = line.partition(":")
            if line.startswith(" ") or not colon:
                lines.append(line)
            elif name == "events":
                lines = event_lines
            else:
                lines = self.features.setdefault(name, [rest[1:]])
        self.events = list(map(event_of, event_lines))

    def find(self, feature, pattern):
        """All that a pattern finds in the lines of a feature."""
        return re.findall(pattern, "\n".join(self.features.get(feature, [])), re.MULTILINE)

    def build_ids(self):
        """(build id in hex, file) in the order of the feature."""
        return self.find("BUILD_ID", r"^  ([0-9a-f]+) (.*?)(?: \(kernel\))?$")

# SPDX-License-Identifier: Apache-2.0
"""Builds and records provoke.c, and reads what perf prints of the recording."""

import collections
import pathlib
import re
import subprocess

import harness

SOURCE = pathlib.Path(__file__).with_name("provoke.c")

# Of one sample, as perf script prints it. A stack is from the leaf to the root.
Hit = collections.namedtuple("Hit", "comm event trace stack")


def build(directory):
    """Returns the path of the program. Each function has a frame pointer."""
    program = pathlib.Path(directory) / "provoke"
    subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program,
                    SOURCE], check=True)
    return program


def counters(out):
    """The counters that the program printed."""
    return {name: int(value) for name, value in re.findall(r"^(\w+) (-?\d+)$", out, re.MULTILINE)}


def script(data, *options, may_have_lost=False):
    """What perf script prints. It must have no message, except those about fields that the events
    of some type do not have, and with `may_have_lost` those about lost samples."""
    status, out, err = harness.run("perf", "script", "-i", data, *options, env=harness.perf_environment())
    assert status == 0, err
    messages = re.sub(r"^'\w+' not valid for .* events. Ignoring.\n", "", err, flags=re.MULTILINE)
    allowed = harness.LOSSES if may_have_lost else ""
    assert re.fullmatch(allowed, harness.perf_complaints(messages)), err
    return out


def hits(data):
    """All samples with names."""
    found = []
    for block in script(data, "-F", "comm,event,trace,ip,sym").split("\n\n"):
        lines = block.strip("\n").splitlines()
        if not lines:
            continue
        match = re.match(r"\s*(\S+)\s+(\S+?(?::[a-z]\w+)?(?::[uk])?):(?:\s+(.*))?$", lines[0])
        assert match, lines[0]
        stack = [line.split(None, 1)[1] if len(line.split(None, 1)) > 1 else "" for line in lines[1:]]
        found.append(Hit(*match.group(1, 2), match.group(3) or "", stack))
    return found


def event_counts(data):
    """{event: samples}, as perf names the events."""
    lines = script(data, "-F", "event").splitlines()
    return collections.Counter(line.strip().rstrip(":") for line in lines if line.strip())

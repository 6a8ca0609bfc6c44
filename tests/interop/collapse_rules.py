# SPDX-License-Identifier: Apache-2.0
"""What stackcollapse-perf.pl and inferno-collapse-perf make of a text of perf script.

Neither is in Debian or npm, so their rules are written down here, and tested with the results that
both projects expect of their own examples. The names of frames go through tidy_perl or
tidy_inferno; the rest is how lines are recognized.
"""
import re
from collections import Counter

HEAD = re.compile(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+")
EVENT = re.compile(r":\s*(\d+)*\s+(\S+):\s*$")
FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)")
KERNEL = re.compile(r"^\[|vmlinux$")
JIT = re.compile(r"/tmp/perf-\d+\.map")


def tidy_perl(name, is_java):
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):  # no method of Go
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    name = name.replace('"', "").replace("'", "")
    return name[1:] if is_java and "/" in name and name.startswith("L") else name


def tidy_inferno(name, is_java):
    name, depth = name.replace(";", ":"), 0
    for at, letter in enumerate(name):  # parentheses in templates stay
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0 and not name.startswith("(anonymous namespace)", at):
            name = name if name[:at].endswith(".") else name[:at]  # a method of Go
            break
    return name[1:] if is_java and "/" in name and name.startswith("L") else name


def frames_of(match, options, is_java, tidy):
    """Returns the frames of a line, root first: several if a compiler's name has inlined calls."""
    address, name, dso = match
    name = re.sub(r"\+0x[0-9a-f]+$", "", name)
    if name.startswith("("):
        return []
    frames = []
    for part in re.sub(r"(->)+$", "", name).split("->"):
        if part == "[unknown]":
            base = "unknown" if dso == "[unknown]" else re.sub(r".*/", "", dso)
            part = f"[{base} <{address}>]" if "addrs" in options else f"[{base}]"
        part = tidy(part, is_java)
        if frames:
            part += "" if "_[i]" in part else "_[i]"
        elif "kernel" in options and KERNEL.search(dso) and "unknown" not in dso:
            part += "_[k]"
        elif "jit" in options and JIT.search(dso):
            part += "" if "_[j]" in part else "_[j]"
        frames.append(part)
    return frames


def root_of(comm, pid, tid, options):
    comm = comm.replace(" ", "_")
    if "tid" in options:
        return f"{comm}-{pid}/{tid}"
    return f"{comm}-{pid}" if "pid" in options else comm


def lines_of(text):
    return [line for line in text.removesuffix("\n").split("\n") if not line.startswith("#")]


def perl(text, options=()):
    """stackcollapse-perf.pl's result: weights by stack, and the lines that it does not know. A
    sample at the end of the text is lost, unless an empty line follows it."""
    weights, unknown = Counter(), []
    wanted, root, period, frames = None, None, 1, []
    for line in lines_of(text):
        head, frame = HEAD.match(line), FRAME.match(line)
        if not line:
            if root is not None and frames:
                weights[";".join([root, *frames])] += period
            if root is not None:
                root, frames = None, []
        elif head:
            event = EVENT.search(line)
            if event:
                wanted = wanted or event[2]
                if event[2] != wanted:
                    continue
            period = int(event[1] or 1) if event else 1
            pid, tid = (head[2], head[3]) if head[3] else ("?", head[2])
            root = root_of(head[1], pid, tid, options)
        elif frame:
            if root is not None:
                frames = frames_of(frame.groups(), options, root.startswith("java"),
                                   tidy_perl) + frames
        else:
            unknown.append(line)
    return weights, unknown


def inferno(text):
    """The same of inferno-collapse-perf."""
    weights, unknown = Counter(), []
    wanted, root, period, frames, skipped = None, None, 1, [], False
    for line in [*lines_of(text), ""]:
        line = line.rstrip()
        if not line:
            if root is not None and not skipped:  # also at the end of the text
                weights[";".join([root, *frames])] += period
            root, frames, skipped = None, [], False
        elif root is None:
            # The comm ends before the first word of digits and slashes.
            thread = re.match(r"^(.*?\S) +(\d+)(?:/(\d+))? ", line)
            if not thread:
                unknown.append(line)
                continue
            root = root_of(thread[1].strip(), None, None, ())
            event = line.rsplit(" ", 1)[-1]
            if event.endswith(":"):
                wanted = wanted or event
                skipped = event != wanted
                number = line.rsplit(" ", 1)[0].rstrip().rsplit(" ", 1)[-1]
                period = int(number) if number.isdigit() else 1
        else:
            words = line.lstrip().split(" ", 1)
            if len(words) < 2 or " " not in words[1]:
                unknown.append(line)
                continue
            name, dso = words[1].rsplit(" ", 1)
            match = (words[0], name.strip() or " ", dso[1:-1])
            frames = frames_of(match, (), root == "java", tidy_inferno) + frames
    return weights, unknown


def folded_weights(text):
    """The weights by stack of folded lines."""
    weights = Counter()
    for line in text.splitlines():
        stack, _, weight = line.rpartition(" ")
        weights[stack] += int(weight)
    return weights


def folded(path):
    return folded_weights(path.read_text(errors="surrogateescape"))

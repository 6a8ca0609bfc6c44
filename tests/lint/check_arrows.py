#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which folder includes which: the tree is the architecture.

    tools -> record -> formats        record -> bpf/wire.h and the generated skeletons
    tools -> convert -> formats       formats/X -> formats/base        tests -> anything

The folders of record are floors: a file includes those of its own floor and of lower ones. A tool
includes tools/common, and another tool only as listed here. A header of bpf includes others only at
its top, so each has what it needs.
"""
import re

from sources import code_files, finish, root_argument

# A folder may always include itself. Formats include each other only as listed here, with a reason.
ARROWS = {
    "bpf": [],
    "formats/base": [],
    "formats": ["formats/base"],
    # The bytes after the last section of a recording: a bundle, or bytes of another tool.
    "formats/perfdata": ["formats/base", "formats/bundle/embedding.h"],
    "convert": ["formats"],
    "formats/kallsyms": ["formats/base", "formats/elf/stored_file.h"],
    "formats/dwarf": ["formats/base", "formats/elf"],  # its sections are in ELF files
    "formats/go": ["formats/base", "formats/elf"],  # its tables are in ELF files
    # In ELF files, as DWARF; Go's runtime changes stacks, and its functions are known by name.
    "formats/unwind": ["formats/base", "formats/elf", "formats/dwarf", "formats/go"],
    "formats/cri": ["formats/base", "formats/protobuf"],
    "formats/pprof": ["formats/base", "formats/protobuf"],
    "formats/bundle": ["formats/base", "formats/json"],
    "formats/json_profiles": ["formats/base", "formats/json"],
    "formats/otlp": ["formats/base", "formats/json", "formats/protobuf"],
    "formats/pyroscope": ["formats/base", "formats/protobuf"],
    "formats/simpleperf": ["formats/base", "formats/protobuf"],
    "record": ["formats", "bpf/wire.h", "bpf/unwind_wire.h"],
    "tools": ["record", "convert", "formats"],
}

# The folders of tools that a folder of tools may include besides tools/common; with a reason where
# it is another tool. The main functions in tools, and the man pages, include all tools.
TOOL_ARROWS = {
    "tools/common/cli": [],
    "tools/common/sandbox": [],
    "tools/common/profiles": ["tools/common/cli", "tools/common/sandbox"],
    "tools/common/recording": ["tools/common/cli"],
    "tools/convert": ["tools/report"],  # compares windows by the same names and tables
    "tools/perf": ["tools/bundle", "tools/record"],  # opens bundles; knows which options are given
    "tools/record": ["tools/doctor"],  # has it as a verb
    "tools/report": ["tools/inspect"],  # prints the same statistics
    "tools/serve": ["tools/doctor", "tools/serve/channels", "tools/serve/cri", "tools/serve/push"],
    "tools/serve/channels": [],
    "tools/serve/client": [],
    "tools/serve/cri": ["tools/serve/channels", "tools/serve/client"],
    "tools/serve/push": ["tools/serve/channels", "tools/serve/client"],
}
ALL_TOOLS = ["tools", "tools/man"]

# The floors of record, the lowest first. record itself is between flight and doctor.
FLOORS = ["record/machine", "record/scope", "record/processes", "record/rings", "record/symbols",
          "record/probes", "record/bpf", "record/events", "record/unwind", "record/input",
          "record/losses", "record/control", "record/triggers", "record/output", "record/flight", "record",
          "record/doctor"]

# Each outside library is used in one folder. Pattern of the include -> files that may use it.
OUTSIDE = {
    r"bpf/.*|.*\.skel\.h": r"bpf/.*|record/(bpf/.*|machine/(btf_types|loaded_bpf_programs))\.cc",
    r"libelf\.h|gelf\.h|dwarf\.h|elfutils/.*": r"formats/elf/.*",
    r"zstd.*\.h": r"formats/base/zstd\..*",
    r"nlohmann/.*": r"formats/json/.*\.cc",
    r"protozero/.*": r"formats/protobuf/.*",
    r"archive(_entry)?\.h": r"formats/bundle/archive.*\.cc",
    r"libdeflate\.h": r"formats/(pprof|base)/.*|formats/elf/(expand|debug_link)\.cc",
    r"curl/curl\.h": r"tools/serve/client/http_client\.cc",
    r"lzma\.h": r"formats/elf/expand\.cc",
    r"boost/math/.*": r"convert/summarize/estimate\.cc",
    r"boost/(asio|beast)/.*": r"tools/serve/http_server\.cc",
    r"boost/(?!math/|asio/|beast/).*": r"tools/common/cli.*",
    r"(libiberty/)?demangle\.h": r"formats/demangle/demangle\.cc",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "formats" and len(parts) > 2 else parts[0]


def may_include(path, included):
    room = room_of(path)
    allowed = ARROWS.get(room, ARROWS.get(room.split("/")[0], [])) + [room]
    return any(included == there or included.startswith(there + "/") for there in allowed)


def tool_folder_of(path):
    """"tools/serve/push" of a file there or below, "tools/report" of one in tools/report."""
    folder = path.rsplit("/", 1)[0]
    while folder not in TOOL_ARROWS and folder.count("/") > 1:
        folder = folder.rsplit("/", 1)[0]
    return folder


def leads_to_another_tool(path, included):
    if not (path.startswith("tools/") and included.startswith("tools/")):
        return False
    folder, other = tool_folder_of(path), tool_folder_of(included)
    if folder in ALL_TOOLS or folder == other or other in TOOL_ARROWS.get(folder, []):
        return False
    return folder.startswith("tools/common/") or not other.startswith("tools/common/")


def floor_of(path):
    """The index of the floor that a file of record is on. Raises ValueError for a new folder."""
    return FLOORS.index(path.rsplit("/", 1)[0])


def leads_up(path, included):
    both = path.startswith("record/") and included.startswith("record/")
    return both and floor_of(included) > floor_of(path)


def complaints_about_place(path, text):
    """A header of bpf that is included below a definition may use what was defined above it."""
    if not re.fullmatch(r"bpf/.*\.bpf\.h", path):
        return
    code = re.search(r"^(static|struct|enum|union|const)\b", text, re.MULTILINE)
    for found in INCLUDE.finditer(text):
        if code and found.start() > code.start():
            yield f"{path}: includes {found.group(1) or found.group(2)} below its first definition"


def complaints_about(path, included, files):
    ours = included in files
    if not ours and not included.endswith(".skel.h") and "/" in included and \
            included.split("/")[0] in ("formats", "convert", "record", "tools", "tests"):
        yield f'{path}: includes "{included}", which is not there'
    if ours and not may_include(path, included):
        yield f'{path}: includes "{included}": {room_of(path)} must not know {room_of(included)}'
    if ours and leads_up(path, included):
        yield f'{path}: includes "{included}", which is on a higher floor'
    if ours and leads_to_another_tool(path, included):
        yield f'{path}: includes "{included}": {tool_folder_of(path)} must not know ' \
              f'{tool_folder_of(included)}'
    for pattern, places in OUTSIDE.items():
        if not ours and re.fullmatch(pattern, included) and not re.fullmatch(places, path):
            yield f"{path}: includes <{included}>, which is met only in {places}"


def cycles(includes):
    state = {}
    def visit(path, trail):
        if state.get(path) == "done":
            return []
        if path in trail:
            return [" -> ".join(trail[trail.index(path):] + [path]) + ": includes itself"]
        found = [cycle for to in includes[path] for cycle in visit(to, trail + [path])]
        state[path] = "done"
        return found
    return [cycle for path in includes for cycle in visit(path, [])]


def main():
    root = root_argument()
    files = {str(path) for path in code_files(root)}
    complaints, includes = [], {}
    for path in sorted(files):
        text = (root / path).read_text(errors="replace")
        complaints += complaints_about_place(path, text)
        named = [a or b for a, b in INCLUDE.findall(text)]
        includes[path] = [name for name in named if name in files]
        if not path.startswith("tests/"):
            complaints += [c for name in named for c in complaints_about(path, name, files)]
    finish(complaints + cycles(includes))


if __name__ == "__main__":
    main()

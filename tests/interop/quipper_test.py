#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perftape-inspect with quipper, Chromium OS's reader of perf.data, on the same
recordings.

    quipper_test.py --inspect build/dev/bin/perftape-inspect [--corpus DIRECTORY] [NAME...]

quipper's own tests have goldens: NAME.pb_text.gz, a recording as text protobuf, and
NAME.buildids.gz. Every record must have the same fields, every event the same attribute and ids;
build ids and strings of the header must be equal. Records are compared as multisets, because
quipper sorts them by time. quipper changes some values; these functions and lists undo that and
explain it: combined, as_quipper_has_it, their_event, NOT_KEPT, NO_EVENTS. The corpus is not part of
this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one the test is skipped (status
77)."""

import argparse
import collections
import gzip
import re
import subprocess
import sys

import header_json
import record_lines
import text_protobuf
from corpus import SKIPPED, find as find_corpus

RECORD_TYPES = {1: "MMAP", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK",
                9: "SAMPLE", 10: "MMAP2", 11: "AUX", 12: "ITRACE_START", 13: "LOST_SAMPLES",
                15: "SWITCH_CPU_WIDE", 68: "FINISHED_ROUND", 70: "AUXTRACE_INFO", 71: "AUXTRACE",
                79: "TIME_CONV"}
# quipper's field -> perftape's, if the names differ.
RENAMED = {"sample_time_ns": "time", "fork_time_ns": "time", "time_ns": "time", "len": "length",
           "pgoff": "page_offset", "ino": "inode", "ino_generation": "generation",
           "num_lost": "lost", "idx": "index"}
RENAMED_IN_AUXTRACE = {"size": "auxtrace_size", "offset": "auxtrace_offset"}
# Fields that quipper derives from others, or repeats.
DERIVED = re.compile(r"md5_prefix$|^(root_path|raw_size|is_out|no_hw_idx|branch_stack_hw_idx)$")
# Fields of ours that quipper does not keep.
NOT_KEPT = {"event"}
# Records that quipper does not turn into an event.
NO_EVENTS = {"ATTR", "EVENT_TYPE"}
AUX_FLAGS = {"is_truncated": 1, "is_overwrite": 2, "is_partial": 4}
BRANCH_BITS = {"mispredicted": 0, "predicted": 1, "in_transaction": 2, "abort": 3, "cycles": 4,
               "type": 20, "spec": 24}


def scalar(value):
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


def theirs(message, renamed=RENAMED):
    """Returns a message of quipper with our names: {field: value}."""
    return {renamed.get(name, name): scalar(values[0]) for name, values in message.items()
            if not DERIVED.search(name)}


def branch_of(entry):
    flags = sum(int(entry[name][0]) << bit for name, bit in BRANCH_BITS.items() if name in entry)
    return entry["from_ip"][0], entry["to_ip"][0], flags


def as_quipper_has_it(callchain):
    """quipper sets the highest bit of user addresses that are in no mapping."""
    return tuple(address | 1 << 63 for address in callchain)


def their_sample(message):
    fields = theirs({name: values for name, values in message.items()
                     if name not in ("callchain", "branch_stack", "raw")})
    if "callchain" in message:
        fields["callchain"] = as_quipper_has_it(message["callchain"])
    if "branch_stack" in message:
        fields["branches"] = tuple(map(branch_of, message["branch_stack"]))
    if "raw" in message:
        fields["raw"] = message["raw"][0]
    return fields


def their_mmap(message):
    fields = theirs(message)
    if "maj" in fields:
        fields["device"] = f"{fields.pop('maj'):x}:{fields.pop('min'):x}"
    if "prot" in fields:
        protection = fields.pop("prot")
        fields["protection"] = "".join(letter if protection & bit else "-"
                                       for letter, bit in (("r", 1), ("w", 2), ("x", 4)))
    return fields


def their_aux(message):
    fields = theirs(message)
    fields["flags"] = sum(AUX_FLAGS[name] for name in AUX_FLAGS if fields.pop(name))
    return fields


def their_auxtrace(message):
    fields = theirs(message, RENAMED | RENAMED_IN_AUXTRACE)
    fields.pop("trace_data", None)
    return fields


def their_auxtrace_info(message):
    return {"auxtrace_type": message["type"][0],
            "priv": tuple(message["unparsed_binary_blob_priv_data"])}


CONVERTERS = {"sample_event": their_sample, "mmap_event": their_mmap, "aux_event": their_aux,
              "auxtrace_event": their_auxtrace, "auxtrace_info_event": their_auxtrace_info}


def their_record(event):
    header = theirs(event["header"][0])
    fields, trailer = {}, {}
    for name, messages in event.items():
        if name.endswith("_event"):
            message = dict(messages[0])
            trailer = theirs(message.pop("sample_info", [{}])[0])
            fields = CONVERTERS.get(name, theirs)(message)
    return (RECORD_TYPES[header["type"]], header["misc"], header["size"], frozen(fields),
            frozen(trailer))


def frozen(fields):
    return tuple(sorted(fields.items()))


def our_value(value):
    # quipper stores pids and CPUs unsigned.
    return value & 0xffffffff if isinstance(value, int) and value < 0 else value


def our_record(record):
    fields = {name: our_value(value) for name, value in record.fields.items()
              if name not in NOT_KEPT}
    if "callchain" in fields:
        fields["callchain"] = as_quipper_has_it(fields["callchain"])
    trailer = {name: our_value(value) for name, value in record.trailer.items()}
    return record.type, record.misc, record.size, frozen(fields), frozen(trailer)


def combined(records):
    """quipper joins adjacent mappings: continuations of the same file, and anonymous memory after a
    later part of a file, which it considers text on a huge page."""
    kept = []
    for record in records:
        if kept and touches(kept[-1], record) and belongs_to(kept[-1].fields, record.fields):
            kept[-1].fields["length"] += record.fields["length"]
        else:
            kept.append(record)
    return kept


def touches(before, record):
    return (before.type == record.type == "MMAP" and
            record.fields["start"] == before.fields["start"] + before.fields["length"])


def belongs_to(before, mapping):
    if mapping["filename"] == "//anon":
        return before["filename"] != "//anon" and before["page_offset"] != 0
    return (all(before[name] == mapping[name] for name in ("pid", "tid", "filename")) and
            mapping["page_offset"] == before["page_offset"] + before["length"])


def inspect(tool, path, *options):
    done = subprocess.run([tool, *options, path], capture_output=True, timeout=300)
    return done.stdout.decode(errors="replace")


def records_complaints(tool, path, golden):
    want = collections.Counter(map(their_record, golden["events"]))
    records = map(record_lines.parse, inspect(tool, path, "--records", "--json").splitlines())
    records = [record for record in records if record.type not in NO_EVENTS]
    got = collections.Counter(map(our_record, combined(records)))
    for who, records in (("only quipper has", want - got), ("only perftape has", got - want)):
        if records:
            yield f"{who} {sum(records.values())} records: {str(next(iter(records)))[:900]}"


# Bit by bit: include/uapi/linux/perf_event.h.
SAMPLE_BITS = ("IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER "
               "STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP "
               "DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT").split()
READ_BITS = "TOTAL_TIME_ENABLED TOTAL_TIME_RUNNING ID GROUP LOST".split()

# A feature that is one string, and quipper's name for it.
STRINGS = {"HOSTNAME": "hostname", "OSRELEASE": "kernel_version", "VERSION": "perf_version",
           "ARCH": "architecture", "CPUDESC": "cpu_description", "CPUID": "cpu_id"}

# A feature that is a list, quipper's name for it, and its name for each field.
LISTS = [
    ("PMU_MAPPINGS", "pmu_mappings", {"name": "name", "type": "type"}),
    ("GROUP_DESC", "group_desc",
     {"name": "name", "leader_idx": "leader_idx", "nr_members": "num_members"}),
    ("NUMA_TOPOLOGY", "numa_topology",
     {"node": "id", "mem_total_kb": "total_memory", "mem_free_kb": "free_memory",
      "cpus": "cpu_list"}),
]


def named_bits(value, names):
    return {name for bit, name in enumerate(names) if value >> bit & 1}


def their_event(golden):
    attr = {name: values[0] for name, values in golden["attr"][0].items()}
    # The size is that of quipper's own structure, 96.
    event = {name: attr[name] for name in ("type", "config", "sample_period")}
    event["sample_type"] = named_bits(attr["sample_type"], SAMPLE_BITS)
    event["read_format"] = named_bits(attr["read_format"], READ_BITS)
    event["flags"] = {name for name, value in attr.items() if value is True}
    event["precise_ip"] = attr["precise_ip"]
    event["branch_sample_type"] = attr["branch_sample_type"]
    event["ids"] = golden.get("ids", [])
    return event


def names_of(messages, field):
    return [scalar(message[field][0]) for message in messages]


def header_checks(header, golden):
    """Yields (what, quipper's, ours) for each fact that both have."""
    for number, (attr, event) in enumerate(zip(golden["file_attrs"], header["events"])):
        want = their_event(attr)
        got = {name: value for name, value in event.items() if name in want}
        got["flags"] = got["flags"] & set(attr["attr"][0])  # those that this quipper defines
        yield f"event {number}", want, got
    yield ("event names", names_of(golden["event_types"], "name"),
           [event["name"] for event in header["events"]])
    features = header["features"]
    if header["format"] == "file":
        yield "how many features", golden["metadata_mask"][0].bit_count(), len(features)
    strings = golden.get("string_metadata", [{}])[0]
    for feature, name in STRINGS.items():
        yield feature, string_of(strings.get(name)), features.get(feature)
    yield ("CMDLINE", [string_of([word]) for word in strings.get("perf_command_line_token", [])],
           features.get("CMDLINE", []))
    for feature, message, fields in LISTS:
        yield (feature, rows_of(golden.get(message, []), fields.values()),
               [tuple(row[name] for name in fields) for row in features.get(feature, [])])
    yield "BUILD_ID", their_build_ids(golden), build_ids_of(header)
    yield from number_checks(features, golden)
    yield from topology_checks(features.get("CPU_TOPOLOGY", {}), golden)


def string_of(messages):
    return scalar(messages[0]["value"][0]) if messages else None


def rows_of(messages, fields):
    return [tuple(scalar(message[name][0]) for name in fields) for message in messages]


def number_checks(features, golden):
    numbers = {entry["type"][0]: entry["data"] for kind in ("uint32_metadata", "uint64_metadata")
               for entry in golden.get(kind, [])}
    cpus, memory = features.get("NRCPUS"), features.get("TOTAL_MEM")
    yield ("NRCPUS", numbers.get(7, []),
           [cpus["nr_cpus_avail"], cpus["nr_cpus_online"]] if cpus else [])
    yield "TOTAL_MEM", numbers.get(10, []), [memory["total_mem_kb"]] if memory else []


def topology_checks(topology, golden):
    want = golden.get("cpu_topology", [{}])[0]
    for ours, name in (("sibling_sockets", "core_siblings"),
                       ("sibling_threads", "thread_siblings")):
        yield f"CPU_TOPOLOGY, {ours}", list(map(scalar, want.get(name, []))), topology.get(ours, [])
    yield ("CPU_TOPOLOGY, cpus", rows_of(want.get("available_cpus", []), ("core_id", "socket_id")),
           [(cpu["core_id"], cpu["socket_id"]) for cpu in topology.get("cpus", [])])


def their_build_ids(golden):
    return [(entry["build_id_hash"][0].hex(), scalar(entry["filename"][0]), entry["misc"][0])
            for entry in golden.get("build_ids", [])]


def build_ids_of(header):
    return [(entry["build_id"], entry["filename"], entry["cpumode"])
            for entry in header["features"].get("BUILD_ID", [])]


def header_of(tool, path):
    return header_json.parse(inspect(tool, path, "--header", "--json"))


def header_complaints(tool, path, golden):
    for what, want, got in header_checks(header_of(tool, path), golden):
        if want != got:
            yield f"{what}: {str(got)[:300]}, quipper has {str(want)[:300]}"


def build_id_complaints(tool, path, golden):
    """Returns the lines of NAME.buildids: the build id and name of each file, without
    duplicates."""
    entries = build_ids_of(header_of(tool, path))
    got = list(dict.fromkeys(f"{build_id} {filename}" for build_id, filename, _ in entries))
    if got != golden.splitlines():
        yield f"build ids: {got[:3]}, quipper has {golden.splitlines()[:3]}"


def complaints(tool, path, golden):
    with gzip.open(golden, "rt", encoding="utf-8") as file:
        text = file.read()
    if golden.name.endswith(".buildids.gz"):
        yield from build_id_complaints(tool, path, text)
    else:
        message = text_protobuf.parse(text)
        yield from records_complaints(tool, path, message)
        yield from header_complaints(tool, path, message)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inspect", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    corpus = find_corpus(options.corpus)
    if corpus is None:
        return SKIPPED
    goldens = corpus / "goldens" / "quipper"
    tried, failed = 0, 0
    for golden in sorted(goldens.glob("*.gz")):
        name = golden.name.split(".pb_text")[0].split(".buildids")[0]
        if options.names and name not in options.names:
            continue
        tried += 1
        found = list(complaints(options.inspect, corpus / "perfdata" / f"{name}.perf.data", golden))
        failed += bool(found)
        for complaint in found:
            print(f"{golden.name}: {complaint}")
    print(f"{tried - failed} of {tried} goldens agree")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perftape-inspect --header with perf report --header-only -I for each recording of the
corpus that perf 6.1 reads: the facts must be equal, and the numbers of nodes, caches, PMUs and
build ids. If perf stops early (features of a pipe come late), only its output so far is compared.

  header_test.py --inspect PATH        exit 0 equal, 1 not, 77 skipped: no corpus or no perf 6.1
"""

import argparse
import json
import re
import shutil
import subprocess
import sys

from corpus import SKIPPED, find as find_corpus

# A line of perf, and how to derive it from the features in our JSON.
TEXTS = {
    "hostname": lambda f: f["HOSTNAME"],
    "os release": lambda f: f["OSRELEASE"],
    "perf version": lambda f: f["VERSION"],
    "arch": lambda f: f["ARCH"],
    "nrcpus online": lambda f: str(f["NRCPUS"]["nr_cpus_online"]),
    "nrcpus avail": lambda f: str(f["NRCPUS"]["nr_cpus_avail"]),
    "cpudesc": lambda f: f["CPUDESC"],
    "cpuid": lambda f: f["CPUID"],
    "total memory": lambda f: f'{f["TOTAL_MEM"]["total_mem_kb"]} kB',
    # perf escapes quotes with a backslash.
    "cmdline": lambda f: " ".join(f["CMDLINE"]).replace("'", "\\'"),
}


def output_of(*command):
    # perf writes messages to stderr; its exit status is no indication.
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode(errors="replace")


def facts_of_perf(path):
    """Returns the texts by name, and lists of nodes, caches, memory nodes, PMUs and groups."""
    texts, lists = {}, {"nodes": [], "caches": [], "memory": [], "pmus": [], "cpus": []}
    for line in output_of("perf", "report", "--header-only", "-I", "-i", str(path)).splitlines():
        name, _, value = line.removeprefix("# ").partition(":")
        name = name.strip()
        if name in TEXTS:
            texts[name] = value.strip()
        elif match := re.match(r"# (node\d+) cpu list : (.*)", line):
            lists["nodes"].append(match.groups())
        elif match := re.match(r"#  L(\d+) (\S+) +(\S+) \[(.*)\]$", line):
            lists["caches"].append(match.groups())
        elif match := re.match(r"# +(\d+) \[ *\d+[KMGT]\]:", line):
            lists["memory"].append(match.group(1))
        elif name == "pmu mappings" and "=" in value:
            lists["pmus"] = sorted(value.strip().split(", "))
        elif match := re.match(r"# CPU (\d+): Core ID (-?\d+), .*Socket ID (-?\d+)", line):
            lists["cpus"].append(match.groups())
    lists["build ids"] = sorted(output_of("perf", "buildid-list", "-i", str(path)).splitlines())
    return texts, lists


def facts_of_inspect(inspect, path):
    header = json.loads(output_of(inspect, "--header", "--json", str(path)))["header"]
    features = header["features"]
    signed = lambda number: str(number - (1 << 32) if number >= 1 << 31 else number)
    topology = features.get("CPU_TOPOLOGY", {"cpus": []})
    build_ids = {f'{b["build_id"]} {b["filename"]}' for b in features.get("BUILD_ID", [])}
    return features, {
        "build ids": sorted(build_ids),
        "nodes": [(f'node{n["node"]}', n["cpus"]) for n in features.get("NUMA_TOPOLOGY", [])],
        "caches": [(str(c["level"]), c["type"], c["size"], c["map"])
                   for c in features.get("CACHE", [])],
        "memory": [str(n["node"]) for n in features.get("MEM_TOPOLOGY", {"nodes": []})["nodes"]],
        "pmus": sorted(f'{p["name"]} = {p["type"]}' for p in features.get("PMU_MAPPINGS", [])),
        "cpus": [(str(i), signed(c["core_id"]), signed(c["socket_id"]))
                 for i, c in enumerate(topology["cpus"])],
    }


def compare(inspect, path):
    """Returns the differences, as lines, and the number of compared facts."""
    texts, lists = facts_of_perf(path)
    if not texts:
        return [], 0
    features, ours = facts_of_inspect(inspect, path)
    problems = []
    if "BUILD_ID" not in features:
        del lists["build ids"]  # perf took them from the records
    if "PMU_MAPPINGS" not in features:
        del lists["pmus"]  # perf shows those of this machine
    for name, value in texts.items():
        if value in ("", "(null)"):
            continue  # without features, perf prints empty ones
        try:
            mine = TEXTS[name](features)
        except KeyError as missing:
            mine = f"no {missing}"
        if mine.strip() != value:
            problems.append(f"{name}: perf {value!r}, ours {mine!r}")
    for name, values in lists.items():
        if values and ours[name] != values:
            problems.append(f"{name}: perf {values}, ours {ours[name]}")
    return problems, len(texts) + sum(1 for values in lists.values() if values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inspect", required=True)
    inspect = parser.parse_args().inspect
    if not shutil.which("perf") or " 6.1." not in output_of("perf", "--version"):
        print("skipped: perf 6.1 is not installed")
        return SKIPPED
    folder = find_corpus(part="perfdata")
    if folder is None:
        return SKIPPED
    recordings = sorted(folder.glob("*.perf.data"))
    failed, facts, read = 0, 0, 0
    for path in recordings:
        problems, compared = compare(inspect, path)
        facts += compared
        read += compared != 0
        failed += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
    print(f"{facts} facts of {read} recordings, {failed} differ")
    return 1 if failed or read < 50 else 0


if __name__ == "__main__":
    sys.exit(main())

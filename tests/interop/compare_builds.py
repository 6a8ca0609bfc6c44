#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of two builds over the corpus, byte by byte. Refactorings must not change
them.

    compare_builds.py --before OLD/bin --after build/dev/bin [--jobs 2] [NAME ...]

Each perf.data, pprof and folded file, whole and damaged, is converted to folded stacks, pprof and
perf.data (as a file, compressed, and as a stream), recovered, and printed as JSON. Outputs and exit
statuses are compared. The wording of messages may differ, so stderr and the sentences in inspect's
JSON are not compared. NAME selects the files whose path contains it. Exits with 1 if an output
differs.
"""
import argparse
import concurrent.futures
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus

WORDING = {"message", "problems"}  # members of inspect's JSON that contain sentences


def convert(to, *options):
    return ["perftape-convert", "-q", "-f", "--no-local", "--to", to, *options, "-o", "OUTPUT", "INPUT"]


JOBS = {
    "folded": convert("folded", "--lenient"),
    "folded, periods by thread": convert("folded", "--lenient", "--values", "period", "--root", "comm/pid/tid"),
    "pprof": convert("pprof", "--no-gzip", "--lenient"),
    "perf.data": convert("perf.data", "--lenient"),
    "perf.data, zstd": convert("perf.data", "--lenient", "-z"),
    "perf.data, a stream": convert("perf.data", "--lenient", "--pipe"),
    "perf.data, filtered": convert("perf.data", "--lenient", "--comm", "*a*"),
    "recover": ["perftape-recover", "-q", "-f", "-o", "OUTPUT", "INPUT"],
    "inspect --header": ["perftape-inspect", "-q", "--header", "--json", "INPUT"],
    "inspect --records": ["perftape-inspect", "-q", "--records", "--json", "INPUT"],
    "inspect --stats": ["perftape-inspect", "-q", "--stats", "--json", "INPUT"],
    "inspect --samples": ["perftape-inspect", "-q", "--samples", "--json", "INPUT"],
    "inspect --validate": ["perftape-inspect", "-q", "--validate", "--json", "INPUT"],
}


def is_asked(job, path):
    """Returns whether the job applies to the file: only convert reads other formats than
    perf.data."""
    return job[0] == "perftape-convert" or ".data" in path.name


def without_wording(output):
    """Returns JSON lines without their sentences."""
    lines = []
    for line in output.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            lines.append(line)
            continue
        lines.append(json.dumps(strip(value)).encode())
    return b"\n".join(lines)


def strip(value):
    if isinstance(value, dict):
        return {key: strip(part) for key, part in value.items() if key not in WORDING}
    if isinstance(value, list):
        return [strip(part) for part in value]
    return value


def outcome(bin_directory, name, path, directory):
    """Returns the status and a hash of one build's output for a file."""
    output = Path(directory, "output")
    output.unlink(missing_ok=True)
    words = [{"INPUT": str(path), "OUTPUT": str(output)}.get(word, word) for word in JOBS[name]]
    done = subprocess.run(["timeout", "300", str(bin_directory / words[0]), *words[1:]], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    made = output.read_bytes() if output.exists() else done.stdout
    if name in ("inspect --header", "inspect --stats", "inspect --validate"):
        made = without_wording(made)
    return done.returncode, len(made), hashlib.sha256(made).hexdigest()


def compare(path, before, after):
    """Returns [(job, outcome before, outcome after)] where they differ, and the number of jobs."""
    differences, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for name, job in JOBS.items():
            if not is_asked(job, path):
                continue
            count += 1
            outcomes = [outcome(build, name, path, directory) for build in (before, after)]
            if outcomes[0] != outcomes[1]:
                differences.append((name, *outcomes))
    return differences, count


def inputs(named, names):
    """Returns the files of the corpus, or those of testdata without a corpus."""
    root = corpus.find(named)
    if root is None:
        root = Path(__file__).resolve().parents[2] / "testdata"
    paths = [path for folder in ("perfdata", "native", "pprof", "folded", "corrupt", "damaged")
             for path in sorted((root / folder).rglob("*"))
             if path.is_file() and not path.name.endswith((".json", ".tsv", ".tsv.gz", ".py", ".md"))]
    return [path for path in paths if not names or any(name in str(path) for name in names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="the directory of the tools to compare with")
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--corpus")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()

    for tool in sorted({job[0] for job in JOBS.values()}):
        if not all((build / tool).exists() for build in (arguments.before, arguments.after)):
            print(f"not compared: {tool}, which one of the builds lacks")
            for name in [name for name, job in JOBS.items() if job[0] == tool]:
                del JOBS[name]
    paths = inputs(arguments.corpus, arguments.names)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda path: compare(path, arguments.before, arguments.after), paths))
    differing = 0
    for path, (differences, _) in zip(paths, results):
        differing += len(differences)
        for name, before, after in differences:
            print(f"{path}: {name}: status {before[0]}, {before[1]} bytes before; status {after[0]}, {after[1]} bytes after")
    count = sum(count for _, count in results)
    print(f"{len(paths)} files, {count} outputs, {differing} differ")
    return 1 if differing or not count else 0


if __name__ == "__main__":
    sys.exit(main())

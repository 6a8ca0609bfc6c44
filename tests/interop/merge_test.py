#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merges 1,000 small recordings into one profile. The bytes must be equal for any order, and for
any number of shards whose results are merged, as pprof and as folded stacks."""
import argparse
import hashlib
import pathlib
import random
import subprocess
import sys
import tempfile

RECORDINGS = 1000
SHARDS = (1, 2, 7, 64)


class Converter:
    def __init__(self, tool, directory):
        self.tool = tool
        self.directory = directory

    def convert(self, inputs, output, *options):
        """Converts the files, passed as a list, and returns a digest of the output."""
        path = self.directory / output
        run = subprocess.run([self.tool, "-q", "-f", "--files-from0", "-", "-o", path, *options],
                             input=b"".join(bytes(name) + b"\0" for name in inputs),
                             capture_output=True)
        if run.returncode != 0 or run.stderr:
            sys.exit(f"{output}: status {run.returncode}: {run.stderr.decode()}")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def convert_in_shards(self, inputs, shards, ending):
        """Does the same with `shards` intermediate files, which are merged in another order."""
        parts = []
        for index in range(1, shards + 1):
            part = f"part{index}{ending}"
            self.convert(inputs, part, f"--shard={index}/{shards}")
            parts.append(self.directory / part)
        random.Random(shards).shuffle(parts)
        return self.convert(parts, f"merged{ending}")


def check(tool, inputs, ending):
    """Prints the number of ways that give the same bytes; returns the number of others."""
    with tempfile.TemporaryDirectory() as name:
        converter = Converter(tool, pathlib.Path(name))
        expected = converter.convert(inputs, f"out{ending}")
        size = (converter.directory / f"out{ending}").stat().st_size
        orders = [list(reversed(inputs)), random.Random(1).sample(inputs, len(inputs))]
        found = [(f"order {i}", converter.convert(order, f"out{ending}"))
                 for i, order in enumerate(orders, 1)]
        found += [(f"{shards} shards", converter.convert_in_shards(inputs, shards, ending))
                  for shards in SHARDS]
    wrong = [what for what, digest in found if digest != expected]
    print(f"{ending}: {len(inputs)} recordings, {size} bytes, sha256 {expected[:16]}; "
          f"{len(found) - len(wrong)} of {len(found)} ways the same"
          + "".join(f"; not: {what}" for what in wrong))
    return len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--make", required=True)
    options = parser.parse_args()

    complaints = 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run([options.make, directory, str(RECORDINGS)], check=True)
        inputs = sorted(directory.glob("*.data"))
        for ending in (".pb.gz", ".folded"):
            complaints += check(f"{options.bin}/perftape-convert", inputs, ending)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

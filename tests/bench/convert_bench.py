#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures perftape-convert in comparison with other tools, as ratios from one run.

    convert_bench.py [--build build/release] [--recording FILE] [--runs 3] [--megabytes 700 1400]
                     [--only time|pprof|folded|forms|views|memory ...]

The inputs are a recording with call graphs, repeated by repeat_perfdata until it is large enough.
Without --recording, the script records 12 seconds of deep_stacks and of the whole system: some
120,000 folded lines of 1.5 KB. Runs alternate, and medians are printed. Nothing is asserted,
because machines are noisy.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import alternate, run
from read_bench import Inputs

# The expected ratio of each to perf report --stats, on two idle CPUs.
AIMS = {"perf.data to folded": 3.5, "perf.data to pprof, gzip": 4.0, "inspect --stats": 0.8}

# The expected ratio of a page with its threads over time to the folded stacks, and the size of its
# input: of some 3 million samples. A page of more than 4 million has no view over time.
PAGE_AIM, PAGE_MEGABYTES = 1.5, 500

# Reads its input as flamegraph.pl does: reads the lines into a list, sorts it, and splits lines at
# the last blank. Then it compares each stack with the one before, frame by frame (its flow()).
FLAMEGRAPH_READING = r"""
my (@data, %node, %tmp, $last); my ($time, $ignored) = (0, 0);
sub flow { my ($last, $this, $v) = @_; my $len_a = @$last - 1; my $len_b = @$this - 1; my $i = 0;
  my $same; for (; $i <= $len_a; $i++) { last if $i > $len_b; last if $last->[$i] ne $this->[$i]; }
  $same = $i;
  for ($i = $len_a; $i >= $same; $i--) { my $k = "$last->[$i];$i";
    $node{"$k;$v"}->{stime} = delete $tmp{$k}->{stime}; delete $tmp{$k}; }
  for ($i = $same; $i <= $len_b; $i++) { $tmp{"$this->[$i];$i"}->{stime} = $v; }
  return $this; }
while (<STDIN>) { chomp; push @data, $_; }
$last = [];
foreach (sort @data) {
  my ($stack, $samples) = (/^(.*)\s+?(\d+(?:\.\d*)?)$/);
  unless (defined $samples and defined $stack) { ++$ignored; next; }
  $stack =~ tr/<>/()/;
  $last = flow($last, [ '', split ";", $stack ], $time);
  $time += $samples; }
flow($last, [], $time);
"""


class Bench:
    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.convert = str(arguments.build / "bin/perftape-convert")
        self.inspect = str(arguments.build / "bin/perftape-inspect")
        self.report = str(arguments.build / "bin/perftape-report")
        recording = arguments.recording
        if not recording:
            recording = str(self.directory / "recording.data")
            print("recording, 12 seconds ...", file=sys.stderr)
            subprocess.run(["perf", "record", "-q", "-a", "-F", "20000", "-g", "-o", recording, "--",
                            arguments.build / "tests/deep_stacks", "12", "4"], check=True)
        self.inputs = Inputs(arguments.build / "tests/repeat_perfdata", recording, directory)
        self.size, self.double_size = arguments.megabytes

    def to(self, form, path, output="/dev/null"):
        # The repeated recording does not name this machine as its host.
        return [self.convert, "-q", "-f", "--local", "-j", str(self.arguments.threads), "--to", form,
                "-o", str(output), path]

    def made(self, name, *options):
        """Returns the large recording in a format, for benchmarks of its readers."""
        output = self.directory / name
        if not output.exists():
            subprocess.run([self.convert, "-q", "--local", self.inputs.get(self.size, "file"), "-o", output,
                            *options], check=True)
        return str(output)

    def compare(self, ours, others):
        """Prints the medians of both, and the ratio of each other tool to ours."""
        commands = {name: (command, None) for name, command in (ours | others).items()}
        took = alternate(commands, self.arguments.runs)
        for name in ours:
            wall, cpu = took[name]
            print(f"{name:44} {wall:8.3f} {cpu:8.3f}")
            for other in others:
                other_wall, other_cpu = took[other]
                print(f"  {other:42} {other_wall:8.3f} {other_cpu:8.3f}   theirs is "
                      f"{other_wall / wall:6.2f} x wall, {other_cpu / cpu:6.2f} x CPU")

    def time(self):
        path = self.inputs.get(self.size, "file")
        theirs = "perf report --stats"
        commands = {
            theirs: ["perf", "report", "--stats", "-i", path],
            "perf.data to folded": self.to("folded", path, self.directory / "out.folded"),
            "perf.data to pprof, gzip": self.to("pprof", path, self.directory / "out.pb.gz"),
            "inspect --stats": [self.inspect, "-j", str(self.arguments.threads), "--stats", path]}
        took = alternate({name: (command, None) for name, command in commands.items()},
                         self.arguments.runs)
        for name, (wall, cpu) in took.items():
            ratio, cpu_ratio = wall / took[theirs][0], cpu / took[theirs][1]
            aim = f", aim {AIMS[name]:.1f}" if name in AIMS else ""
            print(f"{name:44} {wall:8.3f} {cpu:8.3f}   {ratio:6.2f} x wall{aim}, "
                  f"{cpu_ratio:6.2f} x CPU")
        if self.arguments.quick:
            return
        self.compare({"perf.data to folded": self.to("folded", path)},
                     {"perf script --no-inline": ["perf", "script", "--no-inline", "-i", path],
                      "perf report -g folded": [
                          "perf", "report", "--stdio", "--no-children", "-s", "comm",
                          "-g", "folded,0,caller,count", "-i", path]})
        peer = shutil.which("perf_to_profile")
        if peer and "perftape" not in os.path.realpath(peer):
            self.compare({"perf.data to pprof, gzip": self.to("pprof", path)},
                         {"perf_to_profile": [peer, "-f", "-i", path, "-o", "/dev/null"]})

    def pprof(self):
        path = self.made("large.pb.gz")
        if not shutil.which("go"):
            print("pprof to folded: no go here to compare with")
            return
        self.compare({"pprof to folded": self.to("folded", path)},
                     {"go tool pprof -traces": [
                         "go", "tool", "pprof", "-symbolize=none", "-traces", path]})

    def folded(self):
        path = self.made("large.folded", "--root", "comm/pid/tid")
        reading = ["sh", "-c", 'exec perl -e "$1" <"$2"', "sh", FLAMEGRAPH_READING, path]
        self.compare({"folded to pprof": self.to("pprof", path)}, {"read as by flamegraph.pl": reading})

    def forms(self):
        """Compares pipe and zstd with the file. For zstd, the time of decompression alone is
        subtracted."""
        plain = self.inputs.get(self.size, "file")
        commands = {"file": (self.to("folded", plain), None)}
        for kind in ("pipe", "zstd"):
            path = self.inputs.get(self.size, kind)
            commands[kind] = (self.to("folded", path), None)
            commands[f"{kind} on stdin"] = (self.to("folded", "-"), path)
        took = alternate(commands, self.arguments.runs)
        whole = self.directory / "whole.zst"
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "-f", "-1", plain, "-o", whole], check=True)
            took["zstd -d of it"] = alternate(
                {"zstd": (["zstd", "-q", "-d", "-c", str(whole)], None)}, 1)["zstd"]
        wall, cpu = took["file"]
        print(f"to folded from{'':30} wall s    CPU s")
        for name, (its_wall, its_cpu) in took.items():
            print(f"  {name:42} {its_wall:8.3f} {its_cpu:8.3f}   {its_wall / wall:6.2f} x wall, "
                  f"{its_cpu / cpu:6.2f} x CPU of the file's")

    def views(self):
        """Compares what people look at with the folded stacks of the same recording."""
        path = self.inputs.get(min(self.size, PAGE_MEGABYTES), "file")
        folded, page = "perf.data to folded", "flame graph, HTML"
        commands = {
            folded: self.to("folded", path, self.directory / "out.folded"),
            "report": [self.report, "-q", "-f", "--local", path],
            page: self.to("html", path, self.directory / "out.html"),
            f"{page}, without times": self.to("html", path, self.directory / "out.html") +
                                      ["--time-view", "never"],
            "flame graph, SVG": self.to("svg", path, self.directory / "out.svg")}
        took = alternate({name: (command, None) for name, command in commands.items()},
                         self.arguments.runs)
        wall, cpu = took[folded]
        for name, (its_wall, its_cpu) in took.items():
            aim = f", aim {PAGE_AIM:.1f}" if name == page else ""
            print(f"{name:44} {its_wall:8.3f} {its_cpu:8.3f}   {its_wall / wall:6.2f} x wall{aim}, "
                  f"{its_cpu / cpu:6.2f} x CPU of folded")

    def memory(self):
        print(f"peak RssAnon in MB{'':26} {self.size:>6} MB {self.double_size:>6} MB")
        for form in ("folded", "pprof"):
            for kind in ("file", "zstd"):
                peaks = []
                for megabytes in (self.size, self.double_size):
                    command = self.to(form, self.inputs.get(megabytes, kind))
                    peaks.append(run(command, watch_memory=True).peak_kb / 1024)
                print(f"  {kind} to {form:35} {peaks[0]:9.0f} {peaks[1]:9.0f}")

    def describe(self):
        path = self.inputs.get(self.size, "file")
        command = [word for word in self.to("folded", path) if word != "-q"]
        shown = subprocess.run(command, capture_output=True, text=True)
        print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB; "
              f"medians of {self.arguments.runs} alternating runs\n{shown.stderr.strip()}\n"
              f"{'':44}   wall s    CPU s")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parts = ("time", "pprof", "folded", "forms", "views", "memory")
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--recording", help="a perf.data with call graphs")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--megabytes", type=int, nargs=2, default=(700, 1400))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--directory", help="where inputs are made, and kept; else they are removed")
    parser.add_argument("--quick", action="store_true", help="without perf script and perf report")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    return parser.parse_args()


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="convert-bench-") as directory:
        bench = Bench(arguments, arguments.directory or directory)
        bench.describe()
        for part in arguments.only:
            getattr(bench, part)()
            sys.stdout.flush()


if __name__ == "__main__":
    main()

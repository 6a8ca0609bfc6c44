#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what we read from and write as the text of perf script with other readers of it.

    script_text_test.py --bin build/dev/bin [--corpus DIRECTORY]

The corpus is not part of this tree: $PERFTAPE_CORPUS, or ../shared/corpus beside it. Without one
the test is skipped (status 77).

The rules of stackcollapse-perf.pl and inferno (collapse_rules.py) must give what these projects
expect of their examples. Where our folded stacks differ, ours must be what the same rules make of a
text without what they are known to misread. REPAIRS names these reasons; the test prints how many
lines each one changes.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import collapse_rules
from corpus import SKIPPED, find as find_corpus

OPTIONS = {"all": ("kernel", "jit"), "addrs": ("addrs",), "jit": ("jit",), "kernel": ("kernel",),
           "pid": ("pid",), "tid": ("tid",)}
ROOTS = {"pid": "comm/pid", "tid": "comm/pid/tid"}

# The first line of a sample: comm, the fields up to the event, the event, and what follows it.
HEAD = re.compile(r"^(?P<pad>\s*)(?P<comm>\S.{0,40}?)(?P<fields>\s+[\d/-]+\s+(\[\d+\]\s+)?\d+\.\d{1,9}:\s+(\d+\s+)?)"
                  r"(?P<event>[^\s:]\S*):(?P<rest>(\s.*)?)$")


def end_last_sample(text):
    return text if text.endswith("\n\n") else text.removesuffix("\n") + "\n\n"


def repair_heads(change):
    """Returns a repair that replaces the matches of HEAD in a text."""
    def repaired(text):
        lines = []
        for line in text.split("\n"):
            head = None if line.startswith(("#", "\t")) else HEAD.match(line)
            lines.append(change(head) if head else line)
        return "\n".join(lines)
    return repaired


def with_comm(head, comm):
    return head["pad"] + comm + head[0][head.end("comm"):]


def without_text(head):
    """Moves the frame after an event into a line of its own, and leaves out other text."""
    frame = re.search(r"(?:\s{5,}|\s)([0-9a-f]+ \S.* \(\S*\))$", head["rest"])
    line = head[0][:head.start("rest")] + " "
    if frame:
        return f"{line}\n\t{frame[1]}\n"
    return line


REPAIRS = {
    "the last sample has no empty line after it": end_last_sample,
    "tabs between fields": repair_heads(lambda head: head[0].replace("\t", " ")),
    "the thread -1": repair_heads(lambda head: re.sub(r"( |/)-1(/-1)? ", r"\g<1>1 ", head[0])),
    "a comm with blanks before a number": repair_heads(
        lambda head: with_comm(head, head["comm"].replace(" ", "_"))),
    "frames without a symbol": lambda text: re.sub(
        r"(?m)^(\s+[0-9a-f]+)  \(", r"\1 [unknown] (", text),
    "messages of addr2line": lambda text: re.sub(r"(?m)addr2line .*$", "", text),
    "samples on one line, and text after an event": repair_heads(without_text),
    "comms padded on the left": repair_heads(lambda head: head[0].lstrip()),
    "samples without frames": lambda text: re.sub(
        r"(?m)^(\S.*: *\n)(?=\n)", r"\1\t0 no_frames (x)\n", text),
}


def tidied(weights, tidy):
    """Our stacks with the names that the other tools make: they cut arguments, for example."""
    result = Counter()
    for stack, weight in weights.items():
        root, *frames = stack.split(";")
        names = [root.replace(" ", "_").replace("%3B", ";")]
        for frame in frames:
            name, mark, _ = frame.rpartition("_[k]")
            name = (name if mark else frame).replace("%3B", ";")
            parts = collapse_rules.frames_of(("0", name, "[unknown]"), (), root.startswith("java"), tidy)
            names += [part + mark for part in parts]
        result[";".join(names)] += weight
    return result


def comparable(weights):
    """Their stacks without what is only written differently."""
    result = Counter()
    for stack, weight in weights.items():
        # A dso that is in brackets already, and the vdso, which is no code of the kernel.
        stack = re.sub(r"\[(\[[^\]]*\])\]", r"\1", stack)
        stack = re.sub(r"(\[vdso\]|__vdso_\w+)_\[k\]", r"\1", stack)
        stack = re.sub(r"_\[j\]", "", stack)
        result[stack.removesuffix(";no_frames")] += weight
    return result


class Script(unittest.TestCase):
    bin = None
    corpus = None
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def convert(self, source, *options, status=0):
        done = subprocess.run([self.bin / "perftape-convert", "-q", "--no-symbols", source, *options],
                              capture_output=True, check=False, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout.decode(errors="surrogateescape")

    def folded(self, source, *options, status=0):
        return collapse_rules.folded_weights(self.convert(source, "--to", "folded", *options,
                                                          status=status))

    def text_of(self, path):
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        return content.decode(errors="surrogateescape")

    def check_same(self, what, ours, theirs):
        only_ours, only_theirs = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
        self.assertFalse(only_ours or only_theirs,
                         f"{what}: only ours {only_ours.most_common(3)}, "
                         f"only theirs {only_theirs.most_common(3)}")
        self.assertTrue(ours, what)


class TheRules(Script):
    def test_of_stackcollapse_perf_give_what_it_expects(self):
        goldens = sorted(self.corpus.glob("folded/flamegraph/*.expect-*.folded"))
        for golden in goldens:
            base, kind = golden.name.removesuffix(".folded").split(".expect-")
            text = self.text_of(golden.parent / f"{base}.perf-script.txt")
            weights, unknown = collapse_rules.perl(text, OPTIONS[kind])
            self.assertEqual((weights, unknown), (collapse_rules.folded(golden), []), golden.name)
        self.assertGreater(len(goldens), 30)

    def test_of_inferno_give_what_it_expects(self):
        for name in ("cpp-stacks-std-function", "go-stacks", "java-inline"):
            folder = self.corpus / "folded/inferno"
            weights, unknown = collapse_rules.inferno(
                self.text_of(folder / f"collapse-perf__{name}.txt"))
            golden = folder / f"collapse-perf__expect-{name}-collapsed.txt"
            self.assertEqual((weights, unknown), (collapse_rules.folded(golden), []), name)


class TextsThatWeRead(Script):
    def test_become_the_lines_that_stackcollapse_perf_expects(self):
        for golden in sorted(self.corpus.glob("folded/flamegraph/*.expect-*.folded")):
            base, kind = golden.name.removesuffix(".folded").split(".expect-")
            if kind == "addrs":
                continue  # folded stacks have no addresses
            source = golden.parent / f"{base}.perf-script.txt"
            marks = ["--mark-kernel"] if "kernel" in OPTIONS[kind] else []
            ours = tidied(self.folded(source, "--values", "period", "--root",
                                      ROOTS.get(kind, "comm"), *marks), collapse_rules.tidy_perl)
            expected = comparable(collapse_rules.folded(golden))
            self.explain(golden.name, self.text_of(source), OPTIONS[kind], ours, expected)

    def test_become_the_lines_that_inferno_expects(self):
        for name in ("cpp-stacks-std-function", "go-stacks", "java-inline"):
            source = self.corpus / f"folded/inferno/collapse-perf__{name}.txt"
            golden = source.with_name(f"collapse-perf__expect-{name}-collapsed.txt")
            ours = tidied(self.folded(source, "--values", "period"), collapse_rules.tidy_inferno)
            self.check_same(name, ours, comparable(collapse_rules.folded(golden)))

    def explain(self, name, text, options, ours, expected):
        """Checks that ours is what the rules make of the repaired text, and prints the reasons."""
        reasons, before = [], collapse_rules.perl(text, options)[0]
        for reason, repair in REPAIRS.items():
            text = repair(text)
            after = collapse_rules.perl(text, options)[0]
            changed = sum(1 for stack in before.keys() | after if before[stack] != after[stack])
            if changed:
                reasons.append(f"{changed} by {reason}")
            before = after
        self.check_same(name, ours, comparable(before))
        differing = [stack for stack in ours.keys() | expected if ours[stack] != expected[stack]]
        self.assertTrue(reasons or not differing, f"{name}: {differing[:3]}")
        print(f"{name}: {len(ours)} lines, {len(differing)} differ: {'; '.join(reasons) or 'none'}")

    def test_of_perf_6_1_become_the_lines_of_the_rules(self):
        sources = sorted(self.corpus.glob("native/own-*.script.txt.gz"))
        sources += sorted(self.corpus.glob("folded/speedscope/*.linux-perf.txt"))
        sources += sorted(self.corpus.glob("folded/firefox-profiler/*.gz"))
        for source in sources:
            text = self.text_of(source)
            event = next(head["event"] for head in map(HEAD.match, text.split("\n")) if head)
            ours = tidied(self.folded(source, "--values", "period", "--event", event),
                          collapse_rules.tidy_perl)
            expected = comparable(collapse_rules.perl(text)[0])
            with self.subTest(source.name):
                self.explain(source.name, text, (), ours, expected)
        self.assertGreater(len(sources), 15)


class OurText(Script):
    # Recordings of each kind: kernel and user, several threads, events and processors, compressed.
    RECORDINGS = 40

    def recordings(self):
        small = [path for path in sorted((self.corpus / "perfdata").glob("*.perf.data"))
                 if path.is_file() and path.stat().st_size < 400_000]
        return small[:self.RECORDINGS]

    def texts(self):
        """Yields the recordings that can be read, our text of their first event, and its name."""
        for source in self.recordings():
            target = self.folder / "out.perf-script.txt"
            done = subprocess.run([self.bin / "perftape-convert", "--no-symbols", source, "-f", "-o",
                                   target], capture_output=True, check=False, timeout=300)
            events = re.findall(r"(?m)^# perftape event : \S+ \S+ (\S+)$",
                                target.read_text(errors="surrogateescape") if target.exists() else "")
            if done.returncode not in (0, 3) or not events:
                continue
            yield source, target, events[0], done.returncode

    def as_written(self, weights):
        """Our stacks with the comms that the text has (formats/script/head_line.h)."""
        result = Counter()
        for stack, weight in weights.items():
            root, *frames = stack.split(";")
            thread = re.fullmatch(r"(.*?)(-[\d?]+/[\d?]+)?", root, re.S)
            comm = thread[1].replace(" ", "_")
            if len(comm) < 2 or not re.search(r"[^\d/]", comm):
                comm += "_"
            # A stack without frames has the frame [unknown].
            frames = frames or ([] if thread[2] else ["[unknown]"])
            result[";".join([comm + (thread[2] or ""), *frames])] += weight
        return result

    def test_gives_our_folded_stacks_in_stackcollapse_perf_and_inferno(self):
        compared = 0
        for source, target, event, status in self.texts():
            text = REPAIRS["the thread -1"](self.text_of(target))
            options = ("--values", "period", "--event", event)
            ours = self.folded(source, *options, status=status)
            for rules, tidy in ((collapse_rules.perl, collapse_rules.tidy_perl),
                                (collapse_rules.inferno, collapse_rules.tidy_inferno)):
                theirs, unknown = rules(text)
                self.assertEqual(unknown, [], source.name)
                expected = tidied(self.as_written(ours), tidy)
                self.check_same(f"{source.name}, {rules.__name__}", expected, comparable(theirs))
            compared += 1
        self.assertGreater(compared, 20)

    def test_becomes_the_same_folded_stacks(self):
        for source, target, event, status in self.texts():
            for values in ("samples", "period"):
                options = ("--values", values, "--event", event, "--root", "comm/pid/tid")
                written = self.folded(target, *options)
                read = self.folded(source, *options, status=status)
                self.check_same(f"{source.name}, {values}", written, self.as_written(read))

    @unittest.skipUnless(shutil.which("perf"), "perf is not on the PATH")
    def test_has_the_samples_that_perf_script_prints(self):
        fields = re.compile(r"(?m)^\s*(\S.*?)\s+([\d-]+)/([\d-]+)(?:\s+\[\d+\])?\s+(\d+\.\d+):"
                            r"\s+(\d+) +([^\s:]\S*):")
        compared = 0
        for name in ("own-x86_64-fp-workload", "own-x86_64-4kHz-one-page-ring",
                     "own-pipe-x86_64-zstd", "own-x86_64-offcpu-sched-switch-wakeup"):
            source = self.corpus / "perfdata" / f"{name}.perf.data"
            theirs = subprocess.run(
                ["perf", "script", "--ns", "--no-inline", "-F",
                 "comm,pid,tid,time,period,event,ip,sym,dso", "-i", source],
                capture_output=True, check=True, timeout=300).stdout.decode()
            ours = self.convert(source, "--to", "perf-script", "--event", "*",
                                status=self.status_of(source))
            heads = [sorted(head[1:] for head in fields.findall(text)) for text in (theirs, ours)]
            self.assertEqual(len(heads[0]), len(heads[1]), name)
            self.assertEqual(heads[0], heads[1], name)
            addresses = [Counter(re.findall(r"(?m)^\t\s*([0-9a-f]+) ", text))
                         for text in (theirs, ours)]
            self.check_same(name, addresses[1], addresses[0])
            compared += len(heads[0])
        print(f"{compared} samples as perf prints them")

    def recorded_symbols(self):
        """Options for the symbols of the machine on which perf printed the native text."""
        native = self.corpus / "native"
        kallsyms = self.folder / "kallsyms"
        kallsyms.write_bytes(gzip.decompress((native / "x86_64.kallsyms.gz").read_bytes()))
        binary = self.folder / "root/usr/bin/workload_fp"
        binary.parent.mkdir(parents=True)
        binary.write_bytes(gzip.decompress((native / "workload_fp.gz").read_bytes()))
        return "--kallsyms", kallsyms, "--symfs", self.folder / "root"

    def test_folded_stacks_have_the_offsets_that_perf_found(self):
        """perf printed the native text with -F ip,sym,symoff: each frame is SYMBOL+0xOFFSET."""
        source = self.corpus / "native/own-x86_64-fp-workload.script.txt.gz"
        theirs = Counter(Path(dso).name if name == "[unknown]" else name for name, dso in
                         re.findall(r"(?m)^\t\s*[0-9a-f]+ (\S+) \((\S+)\)$", self.text_of(source)))
        done = subprocess.run([self.bin / "perftape-convert", "-q", "--offsets", "--to", "folded",
                               "--values", "samples", *self.recorded_symbols(),
                               self.corpus / "perfdata/own-x86_64-fp-workload.perf.data"],
                              capture_output=True, check=True, timeout=300)
        for folded in (done.stdout.decode(), self.convert(source, "--offsets", "--values", "samples",
                                                          "--to", "folded")):
            ours = Counter()
            for stack, count in collapse_rules.folded_weights(folded).items():
                for frame in stack.split(";")[1:]:
                    ours[re.sub(r"^\[(\[.*\])\]$", r"\1", frame)] += count
            # A return address at the start of a function: the call before it is in another one.
            differing = theirs - ours
            self.assertEqual([name for name in differing if not name.endswith("+0x0")], [])
            self.assertEqual(sum((ours - theirs).values()), sum(differing.values()))
            print(f"{sum(theirs.values())} frames, {sum(differing.values())} of them at the start of a function")

    def test_gets_the_names_that_perf_found(self):
        """perf printed the native text on the recorded machine, with the names of its kernel."""
        text = self.folder / "nameless.perf-script"
        text.write_text(self.convert(self.corpus / "perfdata/own-x86_64-fp-workload.perf.data",
                                     "--to", "perf-script"))
        named = subprocess.run([self.bin / "perftape-symbolize", "-q", text, *self.recorded_symbols()],
                               capture_output=True, check=True, timeout=300).stdout.decode()
        expected = self.text_of(self.corpus / "native/own-x86_64-fp-workload.script.txt.gz")
        # A return address at the start of a function: the call before it is in another one.
        starts = set(re.findall(r"(?m)^\t\s*([0-9a-f]+) \S+\+0x0 ", expected))
        names = [Counter(pair for pair in re.findall(r"(?m)^\t\s*([0-9a-f]+) ([^\s+]+)", printed)
                         if pair[0] not in starts) for printed in (named, expected)]
        self.check_same("names", *names)

    @unittest.skipUnless(shutil.which("profiler-cli"), "profiler-cli is not on the PATH: npm has it "
                         "as @firefox-devtools/profiler-cli")
    def test_has_the_samples_of_each_function_in_firefox_profiler(self):
        text = self.folder / "out.perf-script"
        text.write_text(self.convert(self.corpus / "native/own-x86_64-fp-workload.script.txt.gz",
                                     "--to", "perf-script"))
        environment = {**os.environ, "HOME": str(self.folder),
                       "PROFILER_CLI_SESSION_DIR": str(self.folder)}

        def profiler(*arguments):
            return subprocess.run(["profiler-cli", *arguments], capture_output=True, text=True,
                                  check=False, timeout=120, env=environment)

        self.addCleanup(profiler, "stop", "--all")
        for _ in range(3):  # its daemon has half a second to start
            if profiler("load", str(text)).returncode == 0:
                break
            profiler("stop", "--all")
        theirs = Counter()
        for number in range(len(set(re.findall(r"(?m)^\S+ (\d+/\d+) ", text.read_text())))):
            listed = profiler("thread", "functions", "--thread", f"t-{number}", "--json")
            self.assertEqual(listed.returncode, 0, listed.stderr)
            for function in json.loads(listed.stdout)["functions"]:
                theirs[function["name"]] += function["selfSamples"]
        ours = Counter()
        for stack, count in self.folded(text).items():
            ours[stack.split(";")[-1]] += count
        # It shows a function without a name as its address or binary.
        self.check_same("Firefox Profiler", *({name: count for name, count in counts.items()
                                               if count and not re.search(r"[\[\]]|0x", name)}
                                              for counts in (+ours, +theirs)))

    def status_of(self, source):
        done = subprocess.run([self.bin / "perftape-convert", "-q", "--no-symbols", source, "--to",
                               "folded"], capture_output=True, check=False, timeout=300)
        return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--corpus")
    options, rest = parser.parse_known_args()
    Script.bin = options.bin.resolve()
    Script.corpus = find_corpus(options.corpus)
    if Script.corpus is None:
        return SKIPPED
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

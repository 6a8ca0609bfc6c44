# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of --help, of the man pages and of README.md in scratch directories.

    tests/tools/examples_test.py --bin build/dev/bin [--recording]

Inputs have the names that the examples use. Programs of others are stand-ins that read their input
and succeed. Examples with perftape-record or perftape-doctor need root and a kernel that is
recorded: they are run with --recording, the others without it. A recording is shortened, by frame
pointers and without symbols if the example says nothing of these, and its process is this test.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = re.compile(r"(?<![\w./-])(?:perftape(?:-[a-z]+)?|perf_to_profile)(?= |$)")
OTHERS = ("perf go head find seq ssh scp sudo jq sort sbatch for do done cat make cd stackcollapse-perf.pl").split()
# These need a recording of this machine.
RECORDS = re.compile(r"perftape[- ](?:record|doctor|burner)\b|field:reason")
# Commands that install or build, those that show what a shell script contains, and a service, which
# kernel.serve tests.
NOT_RUN = re.compile(r"(?:tools|tests)/|cmake\b|cat \w+\.sh$|job=|sbatch\b|kubectl\b|#!|perftape[- ]serve\b")

# These write what the example reads next; the others only read their input.
STAND_INS = {
    "ssh": 'shift; exec "$@"',
    "sudo": 'exec "$@"',
    "perf": 'if [ "$1" = record ]; then [ -e perf.data ]; exit; fi; '
            '[ -p /dev/stdin ] && cat > /dev/null; exit 0',
    "parallel": 'while read -r each; do PARALLEL_SEQ=$each sh -c "$(echo "$*" | sed "s/{}/$each/g")"; done',
    "go": "exit 0",
    "jq": "cat > /dev/null",
    "grep": "cat > /dev/null",
    "make": "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05",
    "node": "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 0",
    "scp": "exit 0",
    "nginx": "exit 0",
    "hotspot": "exit 0",
    "stackcollapse-perf.pl": "cat > /dev/null",
}

# With --recording: ends each recording, and gives -p a process of this test.
RECORD = r"""#!/bin/bash
words=() has_end=false cheap=(--no-bundle --call-graph fp)
[[ $1 == list || $1 == doctor || $1 == --* && $# == 1 ]] && exec "$EXAMPLE_BIN/perftape-record" "$@"
while (($#)); do
  case $1 in
    --duration) words+=("$1" 0.2) has_end=true; shift 2 ;;
    -p) words+=("$1" "$EXAMPLE_PROCESS"); shift 2 ;;
    --*bundle* | --call-graph | --no-callgraph) cheap=(); words+=("$1"); shift ;;
    --) has_end=true; words+=("$@"); break ;;
    *) words+=("$1"); shift ;;
  esac
done
$has_end || words=(--duration 0.2 "${words[@]}")
exec "$EXAMPLE_BIN/perftape-record" "${cheap[@]}" "${words[@]}"
"""


# The process that was recorded is the one that -p got.
REPORT = r"""#!/bin/bash
exec "$EXAMPLE_BIN/perftape-report" "${@/#4711/$EXAMPLE_PROCESS}"
"""

# Runs these two.
FRONT = r"""#!/bin/bash
case $1 in record | report) exec "perftape-$1" "${@:2}" ;; esac
exec "$EXAMPLE_BIN/perftape" "$@"
"""

# Of the user who records: uses the CPU for a short time.
PROGRAM = """#!/bin/sh
exec "$EXAMPLE_BIN/perftape-burner" --seconds 0.2
"""


class Example:
    """Lines of a shell that belong together, and where they are from."""

    def __init__(self, origin, lines):
        self.origin = origin
        self.lines = lines

    @property
    def script(self):
        return "\n".join(self.lines) + "\n"

    def records(self):
        return RECORDS.search(self.script) is not None


def joined(lines):
    """Joins lines that end with a backslash, and the following ones of a shell's prompt."""
    result = []
    for line in lines:
        if result and result[-1].endswith("\\"):
            result[-1] = result[-1][:-1] + line.strip()
        elif result and line.startswith("> "):
            result[-1] += "\n" + line[2:]
        else:
            result.append(line)
    return result


def commands_of(block):
    """Returns the commands of an indented block: those behind prompts, or else those that begin
    with a tool or another program."""
    lines = joined(textwrap.dedent(block).splitlines())
    prompted = [line[2:] for line in lines if line.startswith(("$ ", "# "))]
    if prompted:
        return prompted
    return [line for line in lines
            if OURS.match(line) or line.split(" ")[0] in OTHERS or line.startswith("(umask")]


def examples_in_markdown(path, text):
    """Yields the examples with one of our tools. Blocks in definitions are indented twice."""
    for match in re.finditer(r"(?:^    \S.*\n|^     .*\n)+", text, re.M):
        before = text[:match.start()].rstrip("\n").rsplit("\n", 1)[-1]
        if before.startswith((":   ", "    ")) and not text[:match.start()].endswith("\n\n"):
            continue
        lines = [line for line in commands_of(match.group()) if not NOT_RUN.match(line)]
        if any(OURS.search(line) for line in lines):
            yield Example(f"{path}:{text.count(chr(10), 0, match.start()) + 1}", lines)


def examples_in_help(command, text):
    """Yields the examples of --help-all. The purpose is behind two blanks, or on the next line."""
    section = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    for line in section.group(1).splitlines() if section else ():
        example = re.match(r"  (\S.*?)(?:  +.*)?$", line)
        if example:
            yield Example(f"{command} --help-all", [example.group(1)])


class Inputs:
    """Files with the names that examples read."""

    def __init__(self, bin_dir, directory):
        self.directory = directory
        quickstart = directory / "carried"  # with symbols
        subprocess.run([bin_dir / "perftape-symbolize", "-q", "--debug-dir",
                        ROOT / "testdata/buildid", ROOT / "testdata/perfdata/quickstart.data",
                        "-o", quickstart], check=True)
        waits = ROOT / "testdata/perfdata/off-cpu.data"
        self.convert = bin_dir / "perftape-convert"
        recordings = """perf.data old.data new.data host1.data host2.data big-endian.data system.data
            old1.data old2.data old3.data new1.data new2.data new3.data a.data b.data
            recordings/a.data recordings/b.data""".split()
        for name in recordings + [f"{side}-{i}.data" for side in ("old", "new") for i in range(1, 6)]:
            self.add(name, quickstart)
        self.add("wait.data", waits)
        text = directory / "wakeups.perf-script.txt"
        text.write_text("worker-2 7/7 [000] 1.000000: 5000000 wakeup: \n\t401000 wake (/bin/app)\n\n")
        self.make("wakeups.data", text, [])
        for name, words in {
                "profile.pb.gz": [], "old.pb.gz": [], "raw.pb.gz": ["--no-symbols"],
                "profile.folded": [], "out.folded": [], "raw.folded": ["--no-symbols"],
                "profile.json.gz": ["--to", "firefox"], "old.json.gz": ["--to", "firefox"],
                "new.json.gz": ["--to", "firefox"], "saved.perf-script.txt": []}.items():
            self.make(name, quickstart, words)
        for part in range(4):
            self.make(f"part-{part}.pb.gz", quickstart, [])
        (directory / "stacks.txt").write_text("@[\n    main+1\n    start+2\n]: 3\n")
        (directory / "my.key").write_bytes(bytes(range(32)))
        (directory / "kallsyms.saved").write_text("ffffffff81000000 T _text\n")
        subprocess.run([bin_dir / "perftape-bundle", "strip", "-q", "-f", "-o",
                        directory / "symbols.tar.zst", shutil.copy(quickstart, directory / "x")],
                       check=True)
        for name in ("host.tar.zst", "perf.data.tar.bz2", "perf.data.tar.zst"):
            shutil.copy(directory / "symbols.tar.zst", directory / name)

    def add(self, name, source):
        path = self.directory / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(source, path)

    def make(self, name, source, words):
        subprocess.run([self.convert, "-q", *words, source, "-o", self.directory / name], check=True)

    def copy_to(self, work, script):
        """Copies what the script reads. What it writes must not exist."""
        outputs = set(re.findall(r"(?:-o |> ?)([\w.%-]+)", script))
        if "perftape-bundle create" in script:
            outputs.add("perf.data.tar.zst")
        for path in self.directory.rglob("*"):
            name = str(path.relative_to(self.directory))
            is_named = name in script or name == "perf.data" or path.parent != self.directory
            is_output = any(name == output or output.endswith("-") and name.startswith(output)
                            for output in outputs)
            if path.is_file() and not is_output and (is_named or "*" in script):
                (work / name).parent.mkdir(exist_ok=True)
                shutil.copy(path, work / name)
        for directory in ("symbols", "debug", "host"):
            (work / directory).mkdir()


# A packet to a port that nobody reads is dropped.
DROP = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"


class Cgroups:
    """A service, a container and a pod, without processes, for examples that record them."""

    UID = f"{os.getpid():032x}"
    NAMES = ("system.slice", f"docker-3f2a{os.getpid():060x}.scope", f"kubepods-pod{UID}.slice")
    LOGS = pathlib.Path("/var/log/pods") / f"shop_web-0_{UID}"  # where the name of the pod is found

    def __init__(self):
        mounts = (line.split()[1:3] for line in pathlib.Path("/proc/mounts").read_text().splitlines())
        mount = next((pathlib.Path(path) for path, kind in mounts if kind == "cgroup2"), None)
        self.made = []
        for name in self.NAMES if mount else ():
            if not (mount / name).exists():
                (mount / name).mkdir()
                self.made.append(mount / name)
        for directory in (self.LOGS.parent, self.LOGS):
            if not directory.exists():
                directory.mkdir()
                self.made.append(directory)

    def remove(self):
        for directory in reversed(self.made):
            directory.rmdir()


class Runner:
    def __init__(self, bin_dir, directory):
        self.bin_dir = bin_dir
        self.home = directory
        self.inputs = Inputs(bin_dir, self.subdirectory("inputs"))
        programs = self.subdirectory("programs")
        for name, script in STAND_INS.items():
            self.write_program(programs / name, f"#!/bin/bash\n{script}\n")
        self.write_program(programs / "perftape-record", RECORD)
        self.write_program(programs / "perftape-report", REPORT)
        self.write_program(programs / "perftape", FRONT)
        self.environment = {
            "PATH": f"{programs}:{bin_dir}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "EXAMPLE_BIN": str(bin_dir),
            "EXAMPLE_PROCESS": str(os.getpid())}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def subdirectory(self, name):
        (self.home / name).mkdir()
        return self.home / name

    def record_drops(self):
        """Makes the perf.data of examples that show reasons of dropped packets."""
        subprocess.run([self.bin_dir / "perftape-record", "-q", "--no-bundle", "-e", "skb:kfree_skb",
                        "-o", self.inputs.directory / "drops.data", "--", sys.executable, "-c", DROP],
                       check=True)

    @staticmethod
    def write_program(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def prepare(self, work, script):
        """Makes what the script runs and reads."""
        self.inputs.copy_to(work, script)
        if "field:reason" in script:
            shutil.copy(self.inputs.directory / "drops.data", work / "perf.data")
        (work / "var/log/perf").mkdir(parents=True)
        for name in ("upload", "catalogue", "old/app", "new/app",
                     "build/release/bin/perftape-burner"):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            self.write_program(work / name, PROGRAM)

    def run(self, example):
        """Returns what went wrong; empty if the example works."""
        home = pathlib.Path(tempfile.mkdtemp(dir=self.home))
        work = home / "work"
        work.mkdir()
        script = example.script.replace("/mnt/host", "host").replace("/var/log", "var/log")
        self.prepare(work, script)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=work,
                              env={**self.environment, "HOME": str(home), "TMPDIR": str(home)},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        shutil.rmtree(home)
        # 3: an expected finding, such as a function that grew, or symbols that are missing.
        if done.returncode in (0, 3):
            return ""
        return f"{example.origin}:\n{example.script}status {done.returncode}\n" \
               f"{(done.stdout + done.stderr).decode(errors='replace')[-2000:]}"


def all_examples(bin_dir):
    for path in (*sorted((ROOT / "tools/man").glob("*.md")), ROOT / "README.md"):
        yield from examples_in_markdown(path.relative_to(ROOT), path.read_text())
    tools = ["perftape", *(f"perftape-{tool}" for tool in (
        "record", "doctor", "report", "convert", "inspect", "recover", "symbolize", "bundle", "perf",
        "script", "view"))]
    verbs = {"perftape-bundle": "create list verify extract clean embed strip".split(),
             "perftape-perf": "archive buildid-list diff evlist inject list version".split(),
             "perftape-record": ["list"]}
    for tool in tools:
        for words in ([tool], *([tool, verb] for verb in verbs.get(tool, ()))):
            text = subprocess.run([bin_dir / words[0], *words[1:], "--help-all"], check=True,
                                  capture_output=True, text=True).stdout
            yield from examples_in_help(" ".join(words), text)


class Examples(unittest.TestCase):
    options = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="perftape-examples-")
        cls.runner = Runner(cls.options.bin, pathlib.Path(cls.directory.name))
        if cls.options.recording:
            cls.runner.record_drops()
            cgroups = Cgroups()
            cls.addClassCleanup(cgroups.remove)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_all_run(self):
        # Several texts have the same example.
        examples = list({example.script: example for example in all_examples(self.options.bin)
                         if example.records() == self.options.recording}.values())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for example, complaint in zip(examples, pool.map(self.runner.run, examples)):
                with self.subTest(example.origin):
                    self.assertEqual(complaint, "")
        print(f"{len(examples)} examples run", file=sys.stderr)
        self.assertGreaterEqual(len(examples), 30 if self.options.recording else 60)

    def test_a_wrong_example_fails(self):
        text = "Text:\n\n    perftape-convert perf.data --no-such-option -o x.html\n\nMore.\n"
        example, = examples_in_markdown("page", text)
        self.assertEqual(example.origin, "page:3")
        self.assertIn("unknown option --no-such-option", self.runner.run(example))

    def test_outputs_are_no_commands(self):
        block = "    # perftape-record -a -- x \\\n          -y\n    perftape-record: 905 samples\n"
        self.assertEqual(commands_of(block), ["perftape-record -a -- x -y"])
        self.assertEqual(commands_of("    perftape-convert a -o b    # why\n    other: text\n"),
                         ["perftape-convert a -o b    # why"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--recording", action="store_true")
    Examples.options, rest = parser.parse_known_args()
    if Examples.options.recording and os.geteuid() != 0:
        print("skipped: recording needs root", file=sys.stderr)
        return 77
    unittest.main(argv=[sys.argv[0], *rest])
    return 0


if __name__ == "__main__":
    sys.exit(main())

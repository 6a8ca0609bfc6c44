#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives our flame graphs in a headless Chromium as a person would: flame_graph_browser.mjs, and
time_view_browser.mjs for their view over time.

    flame_graph_test.py --bin build/dev/bin --make-latency build/dev/tests/make_latency [--screenshots FOLDER]

playwright-core is the npm package, in $PERFTAPE_PLAYWRIGHT or among npm's global packages. Skipped
(77) if it, node or chromium is missing. None is installed for the test, because chromium is larger
than all other dependencies. The test uses no network: pages are local files, and a request for
anything else fails it.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77

# Names that have broken viewers.
HOSTILE = [
    b"</script><script>alert(1)</script>", b"<img src=x onerror=alert(1)>",
    b"\"><svg onload=alert(1)>",
    b"' onmouseover='alert(1)", b"]]><script>alert(1)</script>", b"<!--<script>", b"\xff\xfe\x80bytes",
    "\u202egnp.exe".encode(), b"\x1b]0;title\x07\x1b[2J", b"${alert(1)}`{{7*7}}", b"&lt;b&gt;&#0;",
    b"javascript:alert(1)//\\u003cscript\\u003e", b"__proto__", b"constructor",
]


def number(value):
    encoded = b""
    while value > 127:
        encoded += bytes([value % 128 + 128])
        value >>= 7
    return encoded + bytes([value])


def field(tag, value):
    """A field of a protobuf message: a number, or bytes with their length."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    return number(tag << 3 | 2) + number(len(value)) + value


class Pprof:
    """A pprof with two sample types. Locations are lists of (function, file, line), innermost
    first, in a mapping."""

    def __init__(self):
        self.strings = [""]
        self.body = b""
        self.mappings, self.functions, self.locations = {}, {}, {}
        for name, unit in (("cpu", "count"), ("alloc_space", "bytes")):
            self.body += field(1, field(1, self.string(name)) + field(2, self.string(unit)))
        self.body += field(14, self.string("cpu"))  # the event to show first

    def string(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def mapping(self, path):
        if path not in self.mappings:
            number_of = self.mappings[path] = len(self.mappings) + 1
            start = number_of << 20
            self.body += field(3, field(1, number_of) + field(2, start) +
                               field(3, start + (1 << 20)) +
                               field(5, self.string(path)) + field(7, 1))
        return self.mappings[path]

    def function(self, name, file):
        if (name, file) not in self.functions:
            number_of = self.functions[name, file] = len(self.functions) + 1
            self.body += field(5, field(1, number_of) + field(2, self.string(name)) +
                               field(4, self.string(file)))
        return self.functions[name, file]

    def location(self, path, lines):
        key = (path, tuple(lines))
        if key not in self.locations:
            mapping = self.mapping(path)
            number_of = len(self.locations) + 1
            encoded = b"".join(field(4, field(1, self.function(name, file)) + field(2, line))
                               for name, file, line in lines)
            self.locations[key] = number_of
            self.body += field(4, field(1, number_of) + field(2, mapping) +
                               field(3, (mapping << 20) + number_of) + encoded)
        return self.locations[key]

    def sample(self, comm, tid, stack, values):
        locations = b"".join(field(1, self.location(*frame)) for frame in reversed(stack))
        labels = field(3, field(1, self.string("comm")) + field(2, self.string(comm)))
        labels += field(3, field(1, self.string("pid")) + field(3, 100))
        labels += field(3, field(1, self.string("tid")) + field(3, tid))
        self.body += field(2, locations + b"".join(field(2, value) for value in values) + labels)

    def write(self, path):
        strings = b"".join(field(6, text.encode()) for text in self.strings)
        path.write_bytes(self.body + strings)


def server_profile():
    app, libc, kernel, jit = "/usr/bin/server", "/usr/lib/libc.so.6", "[kernel.kallsyms]", "//anon"
    main = (app, [("main", "src/main.cc", 12)])
    serve = (app, [("serve", "src/serve.cc", 88)])
    parse = (app, [("peek", "src/parse.h", 7), ("parse", "src/parse.cc", 31)])
    parse_again = (app, [("parse", "src/parse.cc", 45)])
    read = (libc, [("read", "", 0)])
    vfs = (kernel, [("vfs_read", "", 0)])
    copy = (kernel, [("copy_to_user", "", 0)])
    script = (jit, [("Script:render", "", 0)])
    allocate = (libc, [("malloc", "", 0)])
    profile = Pprof()
    profile.sample("server", 101, [main, serve, parse], (400, 0))
    profile.sample("server", 101, [main, serve, parse_again, allocate], (100, 4096))
    profile.sample("server", 101, [main, serve, read, vfs, copy], (250, 0))
    profile.sample("server", 101, [main, serve, script, allocate], (50, 8192))
    profile.sample("logger", 102, [main, read, vfs], (150, 0))
    profile.sample("logger", 102, [main, allocate], (50, 1024))
    return profile


def newer_server_profile():
    """server_profile after a change: parse is slower, Script:render is gone, cache is new."""
    app, libc, kernel = "/opt/2/server", "/usr/lib/libc.so.6", "[kernel.kallsyms]"
    main = (app, [("main", "src/main.cc", 14)])
    serve = (app, [("serve", "src/serve.cc", 90)])
    parse = (app, [("peek", "src/parse.h", 7), ("parse", "src/parse.cc", 33)])
    parse_again = (app, [("parse", "src/parse.cc", 47)])
    cache = (app, [("cache", "src/cache.cc", 5)])
    read = (libc, [("read", "", 0)])
    vfs = (kernel, [("vfs_read", "", 0)])
    copy = (kernel, [("copy_to_user", "", 0)])
    allocate = (libc, [("malloc", "", 0)])
    profile = Pprof()
    profile.sample("server", 201, [main, serve, parse], (1200, 0))
    profile.sample("server", 201, [main, serve, parse_again, allocate], (180, 8192))
    profile.sample("server", 201, [main, serve, cache], (60, 0))
    profile.sample("server", 201, [main, serve, read, vfs, copy], (260, 0))
    profile.sample("logger", 202, [main, read, vfs], (220, 0))
    profile.sample("logger", 202, [main, allocate], (80, 1024))
    return profile


def many_stacks(path):
    """150,000 different stacks, 24 frames deep, of 2,839 C++ names."""
    rng = random.Random(7)
    names = [f"ns{i % 17}::Class{i % 331}<std::string>::method{i}(int, std::string const&)"
             for i in range(2839)]
    seen, stack = set(), ["main"]
    with path.open("w") as out:
        while len(seen) < 150000:
            del stack[rng.randint(3, 23):]
            while len(stack) < 24:
                step = int(rng.paretovariate(0.7))
                stack.append(names[(step * 31 + len(stack) * 7) % len(names)])
            line = ";".join(stack)
            if line not in seen:
                seen.add(line)
                out.write(f"worker;{line} {min(int(rng.paretovariate(0.9)), 100000)}\n")


def requests(count):
    """A recording in perf script's text: requests of a server, between two probes. Each waits for
    20 ms until a worker wakes the server, and then runs. Every fourth one is 10 ms longer."""
    lines = []

    def sample(thread, ms, period_ms, event, *functions):
        frames = "".join(f"\t401000 {name}+0x0 (/bin/server)\n" for name in reversed(functions))
        lines.append((ms, f"{thread} [000] {ms / 1000:.6f}: {period_ms * 1000000} {event}:\n"
                          f"{frames}\n"))

    server, worker = "server 7/7", "worker 7/8"
    for i in range(count):
        start, runs = 1000 + 50 * i, 5 + (10 if i % 4 == 3 else 0)
        sample(server, start, 1, "probe:begin", "main", "handle")
        sample(server, start + 21, 20, "offcpu-time", "main", "handle", "wait_for_worker")
        sample(worker, start + 21, 20, "wakeup", "work", "notify")
        for ms in range(runs):
            sample(server, start + 22 + ms, 1, "cpu-clock", "main", "handle", "answer")
        sample(server, start + 22 + runs, 1, "probe:end", "main", "handle")
        for ms in range(2, 20):
            sample(worker, start + ms, 1, "cpu-clock", "work", "compute")
        sample(server, start + 49, 25 - runs, "offcpu-time", "main", "accept")
        sample(worker, start + 50, 28, "offcpu-time", "work", "next")
    sample(server, 999, 1, "offcpu-runnable-time", "main")
    sample(worker, 999, 1, "offcpu-runnable-time", "work")
    return "".join(text for _, text in sorted(lines, key=lambda line: line[0]))


def make_time_pages(convert, folder):
    """Recordings over time, and for why.html the critical path as perftape-report finds it."""
    testdata = Path(__file__).parents[2] / "testdata" / "perfdata"
    why = testdata / "why.perf-script.txt.gz"

    def run(source, page, *arguments):
        subprocess.run([convert, "-q", str(source), "-o", page, *arguments], check=True, cwd=folder)

    run(why, "why.html")
    run(why, "never.html", "--time-view", "never")
    run(testdata / "off-cpu.data", "tasks.html")
    run(why, "wall.html", "--wall")
    run(why, "path.html", "--path")
    (folder / "requests.perf-script.txt").write_text(requests(20))
    windows = ("--path", "--from-event", "probe:begin", "--to-event", "probe:end")
    run("requests.perf-script.txt", "windows.html", *windows)
    run("requests.perf-script.txt", "slowest.html", *windows, "--slowest", "1")
    crowd = "".join(f"other {100 + i}/{100 + i} [001] {1 + i / 1000 + k / 10:.6f}: 100000000 cpu-clock:\n"
                    f"\t401000 spin+0x0 (/bin/other)\n\n" for i in range(60) for k in range(10))
    (folder / "crowd.perf-script.txt").write_text(requests(20) + crowd)
    run("crowd.perf-script.txt", "crowd.html", *windows)
    run("requests.perf-script.txt", "against.html", *windows, "--slowest", "2", "--against")
    report = convert.with_name("perftape-report")
    hops = subprocess.run([report, "--path", "--hops", "--json", str(why)], check=True,
                          capture_output=True).stdout
    (folder / "why.json").write_bytes(hops)
    names = [name for name in HOSTILE if b"\n" not in name]
    (folder / "hostile.perf-script.txt").write_bytes(b"".join(
        name[:15] + f" 7/{8 + i} [000] {1 + k}.{i:06}: 400000000 {event}:\n\t401000 ".encode() + name +
        b"+0x0 (/bin/app)\n\n"
        for i, name in enumerate(names) for k, event in enumerate(("offcpu-time", "cpu-clock"))))
    run("hostile.perf-script.txt", "hostile-time.html")


def make_pages(convert, make_latency, folder):
    def run(*arguments):
        subprocess.run([convert, "-q", *arguments], check=True, cwd=folder)

    server_profile().write(folder / "server.pb")
    lines = [b"comm;" + b";".join(names.replace(b";", b",").replace(b"\n", b"") for names in
                                  HOSTILE[: i + 1]) + b" 10\n" for i in range(len(HOSTILE))]
    (folder / "hostile.folded").write_bytes(b"".join(lines))
    many_stacks(folder / "many.folded")
    recording = Path(__file__).parents[2] / "testdata" / "perfdata" / "quickstart.data"
    run(str(recording), "-o", "recording.html")
    newer_server_profile().write(folder / "newer.pb")
    run("server.pb", "-o", "server.html")
    run("--diff", "server.pb", "newer.pb", "-o", "diff.html")
    run("--diff", "server.pb", "newer.pb", "--event", "cpu", "-o", "diff.svg")
    run("server.pb", "--event", "cpu", "-o", "server.svg")
    run("server.pb", "--comm", "nobody", "-o", "empty.html")
    run("server.pb", "--event", "cpu", "--root", "none", "-o", "server.folded")
    run("hostile.folded", "--from", "folded", "--input-root", "comm", "-o", "hostile.html")
    run("hostile.folded", "--from", "folded", "--input-root", "comm", "-o", "hostile.svg")
    for output in ("hostile-diff.html", "hostile-diff.svg"):
        run("--diff", "hostile.folded", "hostile.folded", "--from", "folded", "--input-root", "comm",
            "-o", output)
    run("many.folded", "--input-root", "comm", "-o", "many.html")
    waits = [("worker-1", 400, "long")] + 4 * [("worker-2", 25, "short")]
    (folder / "wait.perf-script.txt").write_text("".join(
        f"{comm} 7/7 [000] 1.{i}: {ms}000000 offcpu-time:\n\t401000 {name}+0x0 (/bin/app)\n\n"
        for i, (comm, ms, name) in enumerate(waits)))
    run("wait.perf-script.txt", "-o", "wait.html")
    subprocess.run([make_latency, "latency.data"], check=True, cwd=folder)
    run("latency.data", "-o", "latency.html")
    make_time_pages(convert, folder)
    page = (folder / "server.html").read_text()
    (folder / "damaged.html").write_text(page.replace('id="data">H4s', 'id="data">H5s'))


def find_playwright():
    folders = [os.environ.get("PERFTAPE_PLAYWRIGHT")]
    if shutil.which("npm"):
        done = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(str(Path(done.stdout.strip()) / "playwright-core"))
    for folder in folders:
        if folder and Path(folder, "package.json").is_file():
            return Path(folder).resolve()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--make-latency", required=True, type=Path)
    parser.add_argument("--screenshots", type=Path, help="keep a picture of each step here")
    options = parser.parse_args()
    for program in ("node", "chromium"):
        if shutil.which(program) is None:
            print(f"{program} is not on the PATH")
            return SKIPPED
    playwright = find_playwright()
    if playwright is None:
        print("no playwright-core: npm install -g playwright-core, or PERFTAPE_PLAYWRIGHT names it")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="perftape-flame-graph-") as work:
        make_pages((options.bin / "perftape-convert").resolve(), options.make_latency.resolve(), Path(work))
        screenshots = options.screenshots or Path(work)
        screenshots.mkdir(parents=True, exist_ok=True)
        setting = {"playwright": str(playwright), "chromium": shutil.which("chromium"),
                   "pages": work, "screenshots": str(screenshots.resolve())}
        environment = {**os.environ, "PERFTAPE_BROWSER_TEST": json.dumps(setting)}
        scripts = [Path(__file__).with_name(f"{name}_browser.mjs")
                   for name in ("flame_graph", "time_view")]
        return subprocess.run(["node", "--test", *scripts], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

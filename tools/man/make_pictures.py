#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures of README.md: make_pictures.py --bin build/release/bin [--to tools/man/pictures]

    flame-graph.png    the page of a recording
    time.png           the page of waits, with the critical path
    differential.png   the page of what changed between the two halves of it
    report.png         perftape-report in a terminal

The recordings are those that come with the sources, so the pictures do not depend on the machine.
A headless Chromium, on the PATH, draws them. Nothing asks the network.
"""
import argparse
import fcntl
import html
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "testdata" / "perfdata" / "quickstart.data"
WAITS = ROOT / "testdata" / "perfdata" / "why.perf-script.txt.gz"
# The path of the main thread, in a sixth of the time: what the view over time shows (time_panel.js).
PATH = "#path=23276/23276&from=92000000&to=222000000&span=85000000-229000000"
NAMES = ["--debug-dir", ROOT / "testdata" / "buildid"]

COLUMNS, ROWS = 84, 30
COLOURS = {"1": "font-weight:bold", "31": "color:#ff8a80", "32": "color:#9be7a0",
           "33": "color:#ffd54f"}
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #16181d; color: #e9eaee; }}
pre {{ margin: 14px 18px; font: 13px/1.4 "DejaVu Sans Mono", monospace; }}
</style><pre>{}</pre>"""


def draw(url, picture, width, height):
    """Draws a page. The time is the page's own, so a slow machine draws the same picture."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                        "--hide-scrollbars", f"--user-data-dir={profile}",
                        "--virtual-time-budget=10000", f"--window-size={width},{height}",
                        f"--screenshot={picture}", url],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def in_terminal(command, folder):
    """Returns what a command in a folder writes to a terminal, with its escape sequences."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(command, stdout=slave, stdin=slave, cwd=folder,
                          env={**os.environ, "TERM": "xterm-256color"}) as child:
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            output += part
        if child.wait() != 0:
            raise SystemExit(f"{command[0]}: exit status {child.returncode}")
    os.close(master)
    return output.decode().replace("\r\n", "\n")


def markup_of(text):
    """Returns HTML of a text with the colours that escape sequences select."""
    markup = ""
    is_open = False
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code is None:
            markup += html.escape(part)
            continue
        markup += "</span>" if is_open else ""
        style = ";".join(COLOURS.get(each, "") for each in code[1].split(";")).strip(";")
        is_open = style != ""
        markup += f'<span style="{style}">' if is_open else ""
    return markup + ("</span>" if is_open else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--to", type=Path, default=Path(__file__).parent / "pictures")
    options = parser.parse_args()
    if shutil.which("chromium") is None:
        print("chromium is not on the PATH", file=sys.stderr)
        return 1
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="perftape-pictures-") as work:
        work = Path(work)

        def convert(*arguments):
            subprocess.run([options.bin / "perftape-convert", "-q", *arguments, *NAMES], check=True)

        def read(name):
            return (work / name).as_uri()

        convert(RECORDING, "-o", work / "page.html")
        draw(read("page.html"), options.to / "flame-graph.png", 1000, 420)
        convert(WAITS, "-o", work / "why.html")
        draw(read("why.html") + PATH, options.to / "time.png", 1100, 620)
        for half, part in (("old", "0%,50%"), ("new", "50%,100%")):
            convert(RECORDING, "--time", part, "-o", work / f"{half}.pb")
        convert("--diff", work / "old.pb", work / "new.pb", "-o", work / "diff.html")
        draw(read("diff.html"), options.to / "differential.png", 1100, 420)
        shutil.copy(RECORDING, work / "perf.data")
        report = in_terminal([options.bin.resolve() / "perftape-report", "--no-pager", "-n", "6",
                              *NAMES], work)
        lines = ["$ perftape-report -n 6", *report.strip("\n").split("\n")]
        (work / "report.html").write_text(TERMINAL.format(markup_of("\n".join(lines))))
        draw(read("report.html"), options.to / "report.png", 720, 30 + 18 * len(lines))
    for picture in sorted(options.to.glob("*.png")):
        print(f"{picture}: {picture.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

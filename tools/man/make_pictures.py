#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures of README.md: make_pictures.py --bin build/release/bin [--to tools/man/pictures]

    flame-graph.png    the page of a recording
    time.png           the page of waits, with the critical path
    differential.png   the page of what changed between the two halves of it
    report.png         perftape-report in a terminal

The recordings are those that come with the sources, so the pictures do not depend on the machine.
A headless Chromium, on the PATH, draws them. A picture is taken when the page says that it has drawn
(data-drawn); one without colours where lanes must be is an error. Nothing asks the network.
"""
import argparse
import base64
import fcntl
import html
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
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
LEAST_COLOURS = 4  # of the lanes: a state, its edge, the path and what is behind them
COUNT_COLOURS = """(() => {
  const lanes = document.getElementById('lanes');
  if (lanes === null || lanes.width === 0 || lanes.offsetParent === null) return null;
  const {data} = lanes.getContext('2d').getImageData(0, 0, lanes.width, lanes.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()"""
LONGEST_S = 60
TERMINAL = """<!DOCTYPE html><html data-drawn="true"><meta charset="utf-8"><style>
body {{ margin: 0; background: #16181d; color: #e9eaee; }}
pre {{ margin: 14px 18px; font: 13px/1.4 "DejaVu Sans Mono", monospace; }}
</style><pre>{}</pre>"""


class Browser:
    """Chromium, driven over pipes: messages of the DevTools protocol, which end with a zero byte."""

    def __init__(self, profile):
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()
        # Chromium reads the descriptor 3 and writes 4.
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        pipes = f'exec "$@" 3<&{from_us} 4>&{to_us}'
        self.process = subprocess.Popen(["bash", "-c", pipes, "bash", *command],
                                        pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.read, self.last_id, self.session = b"", 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method, **parameters):
        """Returns the answer to a command."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.read:
                part = os.read(self.from_browser, 1 << 20)
                if not part:
                    raise SystemExit("chromium ended")
                self.read += part
            text, self.read = self.read.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") != self.last_id:
                continue  # an event
            if "error" in answer:
                raise SystemExit(f"chromium: {method}: {answer['error']['message']}")
            return answer["result"]

    def value_of(self, expression):
        return self.ask("Runtime.evaluate", expression=expression)["result"].get("value")

    def draw(self, url, picture, width, height):
        """Writes a picture of a page that has drawn itself."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=url)
        until = time.monotonic() + LONGEST_S
        while self.value_of("document.documentElement.dataset.drawn") != "true":
            if time.monotonic() > until:
                raise SystemExit(f"{picture.name}: the page did not draw itself")
            time.sleep(0.05)
        colours = self.value_of(COUNT_COLOURS)
        if colours is not None and colours < LEAST_COLOURS:
            raise SystemExit(f"{picture.name}: {colours} colours in the lanes")
        png = self.ask("Page.captureScreenshot", format="png")["data"]
        picture.write_bytes(base64.b64decode(png))

    def close(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait()


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


def draw_all(browser, options, work):
    def convert(*arguments):
        subprocess.run([options.bin / "perftape-convert", "-q", *arguments, *NAMES], check=True)

    def draw(page, picture, width, height, state=""):
        browser.draw((work / page).as_uri() + state, options.to / picture, width, height)

    convert(RECORDING, "-o", work / "page.html")
    draw("page.html", "flame-graph.png", 1100, 480)
    convert(WAITS, "-o", work / "why.html")
    draw("why.html", "time.png", 1100, 620, PATH)
    for half, part in (("old", "0%,50%"), ("new", "50%,100%")):
        convert(RECORDING, "--time", part, "-o", work / f"{half}.pb")
    convert("--diff", work / "old.pb", work / "new.pb", "-o", work / "diff.html")
    draw("diff.html", "differential.png", 1100, 440)
    shutil.copy(RECORDING, work / "perf.data")
    report = in_terminal([options.bin.resolve() / "perftape-report", "--no-pager", "-n", "6", *NAMES],
                         work)
    lines = ["$ perftape-report -n 6", *report.strip("\n").split("\n")]
    (work / "report.html").write_text(TERMINAL.format(markup_of("\n".join(lines))))
    draw("report.html", "report.png", 720, 30 + 18 * len(lines))


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
        browser = Browser(Path(work) / "chromium")
        try:
            draw_all(browser, options, Path(work))
        finally:
            browser.close()
    for picture in sorted(options.to.glob("*.png")):
        print(f"{picture}: {picture.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

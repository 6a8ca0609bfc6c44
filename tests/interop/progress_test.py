#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the line of progress on a terminal: when it appears, and that it is gone at the end.

    progress_test.py --bin build/dev/bin

The input is a pipe that stays open until the line appears, so that no test depends on the speed of
the machine. Where no line may appear, it stays open longer than the two seconds without a line.
"""
import argparse
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

LINES = b"main;work 3\nmain;idle 2\n"
ERASE = b"\r\033[K"
LONGER_THAN_NO_LINE = 3  # seconds
GIVE_UP = 60  # seconds
arguments = None


class Slow:
    """A tool with a slow input, and a terminal or a pipe as stderr; perftape-convert, if none is
    named."""

    def __init__(self, options=(), terminal=True, term="xterm", tool=None):
        self.directory = tempfile.TemporaryDirectory(prefix="perftape-progress-")
        self.output = pathlib.Path(self.directory.name) / "out.folded"
        self.reads, writes = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [str(arguments.bin / word) if word.startswith("perftape") else word
             for word in tool or ("perftape-convert", "-", "-o", str(self.output), *options)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=writes,
            env=dict(os.environ, TERM=term))
        os.close(writes)
        self.process.stdin.write(LINES * 1000)
        self.process.stdin.flush()
        self.shown = b""

    def read(self, seconds):
        """Reads what is shown within this time. Returns whether there was something."""
        if not select.select([self.reads], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.reads, 65536)
        except OSError:  # the end of a terminal
            return False
        self.shown += piece
        return piece != b""

    def wait_for_line(self):
        limit = time.monotonic() + GIVE_UP
        while b" read" not in self.shown and time.monotonic() < limit:
            self.read(1)

    def finish(self):
        """Ends the input. Returns the exit status."""
        self.process.stdin.close()
        while self.read(GIVE_UP):
            pass
        status = self.process.wait(GIVE_UP)
        os.close(self.reads)
        self.directory.cleanup()
        return status


class ProgressTest(unittest.TestCase):
    def test_line_appears_and_is_gone_before_messages(self):
        slow = Slow()
        slow.wait_for_line()
        self.assertIn(b"\rperftape-convert: ", slow.shown)
        self.assertEqual(slow.finish(), 0)
        before, erased, messages = slow.shown.rpartition(ERASE)
        self.assertIn(b" read", before)
        self.assertEqual(erased, ERASE)
        self.assertTrue(messages.startswith(b"perftape-convert: stdin: "), messages)
        self.assertNotIn(b"\033", messages)

    def test_a_bundle_is_read_with_a_line(self):
        slow = Slow(tool=("perftape-bundle", "list", "-"))
        slow.wait_for_line()
        self.assertIn(b"\rperftape-bundle", slow.shown)
        self.assertEqual(slow.finish(), 1)  # it is none
        _, erased, messages = slow.shown.rpartition(ERASE)
        self.assertEqual(erased, ERASE)
        self.assertIn(b"stdin", messages)

    def shows_nothing(self, *options, **environment):
        slow = Slow(options, **environment)
        time.sleep(LONGER_THAN_NO_LINE)
        self.assertFalse(slow.read(0), slow.shown)
        self.assertEqual(slow.finish(), 0)
        self.assertNotIn(b"\033[K", slow.shown)

    def test_no_line_in_a_pipe(self):
        self.shows_nothing(terminal=False)

    def test_no_line_on_a_dumb_terminal(self):
        self.shows_nothing(term="dumb")

    def test_no_line_if_quiet(self):
        self.shows_nothing("-q")

    def test_no_line_if_refused(self):
        self.shows_nothing("--no-progress")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)

# SPDX-License-Identifier: Apache-2.0
"""Checks the line of progress of a recording on a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import harness

ERASE = b"\r\033[K"
LONGER_THAN_NO_LINE = 3  # seconds


class Progress(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.shown = b""
        self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)

    def start(self, *options):
        self.terminal, theirs = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        recorder = self.spawn(harness.RECORD, "-a", "--no-bundle", "-o", self.dir / "perf.data",
                              *options, stdout=subprocess.DEVNULL, stderr=theirs,
                              env=dict(os.environ, TERM="xterm"))
        os.close(theirs)
        return recorder

    def read(self, seconds):
        """Reads what is shown within this time. Returns whether there was something."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.terminal, 65536)
        except OSError:  # the end of a terminal
            return False
        self.shown += piece
        return piece != b""

    def finish(self, recorder):
        recorder.send_signal(signal.SIGINT)
        while self.read(harness.TIMEOUT_S):
            pass
        self.assertEqual(recorder.wait(harness.TIMEOUT_S), 0)

    def test_a_line_counts_and_is_gone_before_the_summary(self):
        recorder = self.start()
        limit = time.monotonic() + harness.TIMEOUT_S
        while self.shown.count(b" samples, ") < 3 and time.monotonic() < limit:
            self.read(1)
        self.finish(recorder)
        lines, _, summary = self.shown.rpartition(ERASE)
        found = re.findall(rb"\rperftape-record: [\d:]+ \w+, ([\d.]+)k? samples, [\d.]+ .iB", lines)
        self.assertGreaterEqual(len(found), 3, self.shown)
        self.assertNotEqual(found[0], found[-1])
        self.assertIn(b"samples", summary)
        self.assertNotIn(b"\033", summary)

    def test_no_line_if_refused(self):
        for option in "-q", "--no-progress":
            recorder = self.start(option)
            time.sleep(LONGER_THAN_NO_LINE)
            self.finish(recorder)
            self.assertNotIn(ERASE, self.shown, option)


if __name__ == "__main__":
    harness.main()

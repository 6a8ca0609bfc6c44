# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments, from the instant that the file appears under its name: perf opens it,
with all samples up to the last flush."""

import os
import random
import signal
import struct
import subprocess
import time

import harness

ROUNDS = int(os.environ.get("PERFTAPE_KILL_ROUNDS", "50"))


def committed_samples(path):
    """Counts SAMPLE records in [data.offset, data.offset + data.size) with no code of ours."""
    data = path.read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 40)
    at, end, samples = offset, offset + size, 0
    assert end <= len(data), f"data.size runs {end - len(data)} bytes ahead of the data"
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        assert length >= 8 and at + length <= end, f"torn record at {at:#x}"
        samples += kind == 9
        at += length
    return samples


class Kill(harness.RecordingTest):
    def test_a_killed_recording_opens_with_all_that_was_flushed(self):
        random.seed(20260101)
        load = subprocess.Popen([harness.BURNER, "--seconds", "600"], stdout=subprocess.DEVNULL)
        total = 0
        try:
            for attempt in range(ROUNDS):
                path = self.dir / f"{attempt}.data"
                recorder = subprocess.Popen([harness.RECORD, "-a", "-F", "4999", "-q", "-o", path],
                                            stderr=subprocess.DEVNULL)
                while not path.exists():
                    self.assertIsNone(recorder.poll(), "the recorder ended by itself")
                time.sleep(random.uniform(0, 1.2) if attempt % 5 else 0)
                recorder.send_signal(signal.SIGKILL)
                recorder.wait()
                flushed = committed_samples(path)
                self.assertGreater(harness.perf_stats(path)["MMAP2"], 0, f"attempt {attempt}")
                counts, err = harness.perf_report(path)
                self.assertEqual(sum(counts.values()), flushed, f"attempt {attempt}")
                # What opens but was killed before its first flush has no samples, and perf says so.
                said = f"Error:\nThe {path} data has no samples!\n" if flushed == 0 else ""
                self.assertEqual(err, said, f"attempt {attempt}")
                total += flushed
                path.unlink()
        finally:
            load.kill()
            load.wait()
        print(f"opened {ROUNDS} of {ROUNDS}, {total} samples")
        self.assertGreater(total, 1000)


if __name__ == "__main__":
    harness.require("perf")
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests recordings beside recorders that start and end. Each of those loads and unloads BPF
programs, and the kernel counts too many bytes in the headers of the records about them
(kernel_size.h in formats/perfdata). Our records must have the true size, and perf must open them
without a message. In perf's own recordings we must find the trailer.

--rounds N (default 2) repeats the whole test; `--rounds 10` needs a minute."""

import json
import subprocess
import sys

import harness

SHORT = 3  # recordings that start and end beside a long one
OF_BPF = ("KSYMBOL", "BPF_EVENT")
ROUNDS = 2


def records_of(data):
    """Returns the records of BPF programs, and the times of all samples."""
    status, out, err = harness.run(harness.INSPECT, "--records", "--json", data)
    assert status == 0, err
    records = [json.loads(line)["record"] for line in out.splitlines()]
    return ([record for record in records if record["type"] in OF_BPF],
            [record["time"] for record in records if record["type"] == "SAMPLE"])


def true_size(record):
    """Returns header, body and a trailer of TID, TIME, CPU and IDENTIFIER."""
    body = 16
    if record["type"] == "KSYMBOL":
        body += (len(record["name"]) + 1 + 7) // 8 * 8
    return 8 + body + 32


def ids_of(data):
    status, out, err = harness.run(harness.INSPECT, "--header", "--json", data)
    assert status == 0, err
    return {one for event in json.loads(out)["header"]["events"] for one in event["ids"]}


class Listeners(harness.RecordingTest):
    def test_records_of_bpf_programs_have_their_true_size_id_and_time(self):
        for turn in range(ROUNDS):
            with self.subTest(turn=turn):
                self.check_one_round()

    def check_one_round(self):
        clock = ["-k", "mono", "-e", "cpu-clock"]
        stop = self.dir / "stop"
        stop.unlink(missing_ok=True)
        wait = ["--", "sh", "-c", f"while ! test -e {stop}; do sleep 0.1; done"]
        theirs, ours = self.dir / "theirs.data", self.dir / "ours.data"
        perf = self.spawn("perf", "record", "-q", "-a", "-F", "49", *clock, "-o", theirs, *wait,
                          stderr=subprocess.PIPE, text=True, env=harness.perf_environment())
        long = self.spawn(harness.RECORD, "-q", "-a", "-F", "49", "-o", ours, *wait,
                          stderr=subprocess.PIPE, text=True)
        short = [self.dir / f"short.{number}.data" for number in range(SHORT)]
        for data in short:
            self.record("-q", "-a", "-F", "49", "--no-bundle", "-o", data, "--duration", "0.3")
        stop.touch()
        self.assertEqual(long.wait(harness.TIMEOUT_S), 0, long.stderr.read())
        self.assertEqual(perf.wait(harness.TIMEOUT_S), 0, perf.stderr.read())
        long.stderr.close()
        perf.stderr.close()

        for data in [ours, *short]:
            self.assert_true_records(data)
            self.assertEqual(harness.perf_report(data)[1], "", data)
        of_bpf, _ = records_of(ours)
        loads = [record for record in of_bpf if record.get("event_type") == 1]
        self.assertGreaterEqual(len(loads), SHORT)
        for record in of_bpf:
            self.assertEqual(record["size"], true_size(record), record)
        self.assert_true_records(theirs)

    def assert_true_records(self, data):
        """All records of BPF programs have an id of the file and a time of the recording, except
        those that the recorder synthesized."""
        ids = ids_of(data)
        of_bpf, times = records_of(data)
        second = 1_000_000_000
        for record in of_bpf:
            trailer = record["sample_id"]
            if record["offset"] in self.synthesized(of_bpf):
                continue
            self.assertIn(trailer["id"], ids, record)
            self.assertGreater(trailer["time"], min(times) - 5 * second, record)
            self.assertLess(trailer["time"], max(times) + 5 * second, record)

    @staticmethod
    def synthesized(of_bpf):
        """Returns the ids of programs that were loaded before: their records are at the front of
        the file."""
        front = set()
        for record in of_bpf:
            if record["sample_id"]["time"] != 0 or record["sample_id"]["id"] != 0:
                break
            if record.get("excess"):
                break
            front.add(record["offset"])
        return front


if __name__ == "__main__":
    if "--rounds" in sys.argv:
        at = sys.argv.index("--rounds")
        ROUNDS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    harness.require("perf")
    harness.main()

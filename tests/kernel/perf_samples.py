# SPDX-License-Identifier: Apache-2.0
"""Runs inside `perf script -s`: writes each sample of perf to $SAMPLES, in the format of
`perftape-inspect --samples`. Addresses are those of the process, not of its files."""

import os

COLUMNS = "event comm pid tid cpu time_ns period ip dso nframes frames".split()
NOT_RECORDED = 2**32 - 1
table = open(os.environ["SAMPLES"], "w", errors="backslashreplace")
table.write("\t".join(COLUMNS) + "\n")


def hexadecimal(address):
    return "%x" % (address & 2**64 - 1)


def write(event, sample, comm, dso, callchain):
    frames = [hexadecimal(frame["ip"]) for frame in callchain or []]
    cpu = sample.get("cpu", NOT_RECORDED)
    dso = dso or "[unknown]"
    cells = [event, comm, sample["pid"], sample["tid"], -1 if cpu == NOT_RECORDED else cpu,
             sample["time"], sample["period"], hexadecimal(sample["ip"]),
             dso.rsplit("/", 1)[-1] if dso.startswith("/") else dso, len(frames), ",".join(frames)]
    table.write("\t".join(map(str, cells)) + "\n")


def process_event(event):
    write(event["ev_name"], event["sample"], event["comm"], event.get("dso"),
          event.get("callchain"))


def trace_unhandled(_, __, fields, event):
    """Called by perf for a tracepoint."""
    write(event["ev_name"], event["sample"], event["comm"], event.get("dso"),
          fields.get("common_callchain"))


def trace_end():
    table.close()

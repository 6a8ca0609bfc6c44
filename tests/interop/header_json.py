# SPDX-License-Identifier: Apache-2.0
"""Parses the output of `perftape-inspect --header --json`.

    header = parse(text)
    header["events"][0]["name"] == "cycles" and header["events"][0]["config"] == 0
    header["features"]["NRCPUS"] == {"nr_cpus_online": 4, "nr_cpus_avail": 4}

Each event has the fields of its attribute beside its name and ids. sample_type, read_format and
flags are sets. sample_period is also set for a frequency."""

import json


def parse(text):
    header = json.loads(text)["header"]
    header["events"] = list(map(flattened, header["events"]))
    return header


def flattened(event):
    attr = event["attr"]
    period = attr.get("sample_period", attr.get("sample_freq"))
    # The flag precise_ip has two bits.
    flags = dict(flag.split("=") if "=" in flag else (flag, "1") for flag in attr["flags"])
    precise_ip = int(flags.pop("precise_ip", 0))
    return {"name": event["name"], "ids": event["ids"], "type": attr["type"],
            "size": attr["size"], "config": int(attr["config"], 16), "sample_period": period,
            "sample_type": set(attr["sample_type"]),
            "read_format": set(attr.get("read_format", [])), "flags": set(flags),
            "precise_ip": precise_ip,
            "branch_sample_type": int(attr.get("branch_sample_type", "0"), 16)}

# SPDX-License-Identifier: Apache-2.0
"""The attributes of hardware events that the recorder passes to the kernel, seen by strace, against
those of `perf record -vv`. Also where the machine has no counters: then the kernel refuses both. With
counters, the recorder must have samples of them."""

import re

import harness

# What decides which hits are counted, and which become samples.
COMPARED = ("type", "config", "rate", "freq", "exclude_user", "exclude_kernel", "exclude_hv")
RATE = 97


def hardware_events():
    """The names of the list, without aliases."""
    status, out, err = harness.run(harness.RECORD, "list")
    assert status == 0, err
    return re.findall(r"^\s*(\S+)(?: OR \S+)?\s+hardware (?:cache )?event", out, re.MULTILINE)


def attributes_of_strace(err):
    """The attributes of all perf_event_open calls, in order, each once."""
    found = []
    for text in re.findall(r"perf_event_open\(\{(.*?)\}", err):
        text = re.sub(r" /\*.*?\*/", "", text)
        fields = dict(field.split("=", 1) for field in text.split(", ") if "=" in field)
        fields["rate"] = fields.get("sample_freq") or fields.get("sample_period")
        numbers = {}
        for name in COMPARED:
            terms = [term.split("<<") for term in fields[name].split("|")]
            numbers[name] = sum(int(term[0], 0) << int((term + ["0"])[1], 0) for term in terms)
        if numbers not in found:
            found.append(numbers)
    return found


def attributes_of_perf(event):
    """The first that perf record opens."""
    _, _, err = harness.run("perf", "record", "-vv", "-F", RATE, "-e", event, "-o", "/dev/null", "true",
                            env=harness.perf_environment())
    block = re.search(r"^perf_event_attr:\n(.*?)\n-----", err, re.MULTILINE | re.DOTALL)
    assert block, err
    fields = dict(re.findall(r"^\s+(\w+|\{.*?\})\s+(0x[0-9a-f]+|\d+)\b", block.group(1), re.MULTILINE))
    fields["rate"] = fields.get("{ sample_period, sample_freq }", "0")
    return {name: int(fields.get(name, "0"), 0) for name in COMPARED}


class HardwareEvents(harness.RecordingTest):
    def test_the_attributes_are_those_of_perf(self):
        names = hardware_events()
        self.assertGreater(len(names), 30)
        # The modifiers in turn, so that all kinds of events have each.
        events = [name + ("", ":u", ":k")[number % 3] for number, name in enumerate(names)]
        status, _, err = harness.run(
            "strace", "-X", "raw", "-v", "-s", "0", "-e", "trace=perf_event_open", harness.RECORD,
            "--allow-missing-events", "-F", RATE, "-e", ",".join(["page-faults", *events]), "-o",
            self.dir / "perf.data", "true")
        self.assertEqual(status, 0, err)
        opened = attributes_of_strace(err)
        for event in events:
            self.assertIn(attributes_of_perf(event), opened, event)
        print(len(events), "events")

    def test_counters_have_samples(self):
        status, _, err = harness.run(harness.RECORD, "-q", "-F", "499", "-e",
                                     "cycles:u,instructions,cycles:k", "-o", "perf.data", "--",
                                     harness.BURNER, "--seconds", "1", cwd=self.dir)
        if "no hardware counter" in err:
            self.skipTest("no hardware counters on this machine")
        self.assertEqual(status, 0, err)
        rows = harness.inspect_samples(self.dir / "perf.data")
        for event, in_kernel in (("cycles:u", {False}), ("cycles:k", {True})):
            sides = {int(row["ip"], 16) >> 63 == 1 for row in rows if row["event"] == event}
            self.assertEqual(sides, in_kernel, event)
        self.assertTrue(any(row["event"] == "instructions" for row in rows))


if __name__ == "__main__":
    harness.require("perf", "strace")
    harness.main()

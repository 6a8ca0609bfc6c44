# SPDX-License-Identifier: Apache-2.0
"""The attributes of hardware events that the recorder passes to the kernel, seen by strace, against
those of `perf record -vv`. Also where the machine has no counters: then the kernel refuses both. With
counters, the recorder must have samples of them."""

import re

import harness

# What decides which hits are counted, and which become samples.
COMPARED = ("type", "config", "rate", "freq", "exclude_user", "exclude_kernel", "exclude_hv")
RATE = 97

# Options of perf record, and the attributes of the recording that they decide.
OPTIONS = (
    (["-F", "97"], ("rate", "freq", "exclude_user", "exclude_kernel")),
    (["-F 97"], ("rate", "freq")),
    (["-c", "1000000"], ("rate", "freq")),
    (["--all-user"], ("exclude_user", "exclude_kernel")),
    (["--all-user", "--no-all-user"], ("exclude_user", "exclude_kernel")),
    (["--all-kernel"], ("exclude_user", "exclude_kernel")),
    (["-g", "--call-graph", "fp"], ("exclude_callchain_user", "exclude_callchain_kernel")),
    (["-g", "--kernel-callchains"], ("exclude_callchain_user", "exclude_callchain_kernel")),
    (["--call-graph", "dwarf,16384"], ("exclude_callchain_user", "sample_stack_user", "sample_regs_user")),
    (["--no-call-graph"], ()),
    (["--namespaces"], ("namespaces",)),
    (["--all-cgroups"], ("cgroup",)),
    (["--no-bpf-event"], ("bpf_event", "ksymbol")),
    (["-a"], ("bpf_event", "ksymbol", "mmap_data")),
    (["-k", "mono"], ("use_clockid", "clockid")),
    *(([option], ()) for option in ("-T", "-P", "-N", "-B", "-i", "--sample-cpu", "--sample-identifier",
                                    "--timestamp-boundary", "--strict-freq", "--no-buffering", "--synth=all",
                                    "--num-thread-synthesize=2", "--proc-map-timeout=500", "--mmap-flush=1")),
)


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


def attributes_in(path):
    """The attributes of the first event, with those of process events, which perf has there or in a dummy."""
    _, out, err = harness.run("perf", "evlist", "-v", "-i", path, env=harness.perf_environment())
    lines = out.splitlines()
    assert lines and "sample_type" in lines[0], out + err
    events = [dict(re.findall(r"(\w+|\{.*?\}): ([\w|]+)", line)) for line in lines]
    first = events[0]
    first["rate"] = first["{ sample_period, sample_freq }"]
    for name in ("namespaces", "cgroup", "bpf_event", "ksymbol", "mmap_data"):
        first[name] = max(event.get(name, "0") for event in events)
    return first


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

    def test_options_of_perf_set_the_same_attributes(self):
        for options, names in OPTIONS:
            found = {}
            for program in ("perf", "perftape"):
                path = self.dir / f"{program}.data"
                words = ["perf", "record"] if program == "perf" else [harness.RECORD]
                status, _, err = harness.run(*words, "-q", "-e", "cpu-clock", *options, "-o", path, "--", "sleep", "0.01",
                                             env=harness.perf_environment())
                self.assertEqual(status, 0, (program, options, err))
                found[program] = attributes_in(path)
            for name in names:
                self.assertEqual(found["perftape"].get(name, "0"), found["perf"].get(name, "0"), (options, name, found))
            # What perf records only with an option may be in each of our samples. With copies of stacks, perf asks
            # for addresses, too, which a clock does not have.
            fields = {program: set(attributes["sample_type"].split("|")) for program, attributes in found.items()}
            self.assertLessEqual(fields["perf"] - {"ADDR", "DATA_SRC"}, fields["perftape"], options)
        print(len(OPTIONS), "command lines")

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

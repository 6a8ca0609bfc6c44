# SPDX-License-Identifier: Apache-2.0
"""The attributes of events that the recorder passes to the kernel, seen by strace, against those of
`perf record -vv`: hardware events, also where the machine has no counters, because then the kernel refuses
both; modifiers, raw events, breakpoints and PMUs. With counters, the recorder must have samples of them."""

import re

import harness

# What decides which hits are counted, and which become samples.
COMPARED = ("type", "config", "rate", "freq", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
            "exclude_host", "exclude_guest", "precise_ip", "pinned", "exclusive", "bp_type", "bp_addr", "bp_len")
RATE = 97
BREAKPOINT = "5"  # PERF_TYPE_BREAKPOINT


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
            terms = [term.split("<<") for term in fields.get(name, "0").split("|")]
            numbers[name] = sum(int(term[0], 0) << int((term + ["0"])[1], 0) for term in terms)
        if numbers not in found:
            found.append(numbers)
    return found


def attributes_of_perf(event, rate=("-F", RATE)):
    """The first that perf record opens."""
    _, _, err = harness.run("perf", "record", "-vv", *rate, "-e", event, "-o", "/dev/null", "true",
                            env=harness.perf_environment())
    block = re.search(r"^perf_event_attr:\n(.*?)\n-----", err, re.MULTILINE | re.DOTALL)
    assert block, err
    fields = dict(re.findall(r"^\s+(\w+|\{.*?\})\s+(0x[0-9a-f]+|\d+)\b", block.group(1), re.MULTILINE))
    fields["rate"] = fields.get("{ sample_period, sample_freq }", "0")
    if fields.get("type") == BREAKPOINT:
        fields["bp_addr"] = fields.get("{ bp_addr, config1 }", "0")
        fields["bp_len"] = fields.get("{ bp_len, config2 }", "0")
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

    def test_modifiers_raw_events_and_pmus_are_those_of_perf(self):
        modifiers = ("u k h H G p pp ppp P D I e W uk hu GH Gp up ukhp upp kDI uIe".split())
        events = ["page-faults:" + letters for letters in modifiers]
        events += ["cpu-clock:upp", "cpu-clock/name=other/pk", "dummy:u", "r1a8", "r1a8:k", "LLC-load-miss",
                   "L2", "software/config=5/", "software/config=6,period=7/u"]
        self.compare(events, ("-F", RATE))
        # perf gives these the frequency of -F, too.
        self.compare(["mem:0x1000", "mem:0x1000/8:w:u", "mem:0x1000/1:rw", "sched:sched_switch",
                      "sched:sched_wakeup:k"], ("-c", "1"))

    def compare(self, events, rate):
        status, _, err = harness.run(
            "strace", "-X", "raw", "-v", "-s", "0", "-e", "trace=perf_event_open", harness.RECORD,
            "--allow-missing-events", *rate, "-e", ",".join(["minor-faults", *events]), "-o",
            self.dir / "perf.data", "true")
        self.assertEqual(status, 0, err)
        opened = attributes_of_strace(err)
        for event in events:
            self.assertIn(attributes_of_perf(event, rate), opened, event)
        print(len(events), "events")

    def test_a_group_is_scheduled_as_one(self):
        status, _, err = harness.run(
            "strace", "-X", "raw", "-e", "trace=perf_event_open", harness.RECORD, "-q", "-e",
            "faulty{page-faults,minor-faults:u}:D,cpu-clock", "-o", self.dir / "perf.data", "true")
        self.assertEqual(status, 0, err)
        groups = re.findall(r"\}, (-?\d+), \d+, (-?\d+), \S+\) = (\d+)$", err, re.MULTILINE)
        leaders = {group for _, group, _ in groups if group != "-1"}
        self.assertEqual(len(leaders), harness.os.cpu_count(), groups)
        _, out, _ = harness.run("perf", "evlist", "-g", "-i", self.dir / "perf.data",
                                env=harness.perf_environment())
        self.assertIn("faulty{page-faults,minor-faults:u}", out)

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

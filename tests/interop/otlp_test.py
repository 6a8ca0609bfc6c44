#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads our OTLP profiles with code that protoc generated, and lets perftape read what it writes.

    otlp_test.py --bin build/dev/bin

Checks the rules of opentelemetry-proto 1.11 that its readers rely on, and that the totals are those
of the pprof of the same recording. Skipped (77) without protoc or python3-protobuf.
"""
import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import pprof_reader

SKIPPED = 77
HERE = Path(__file__).resolve().parent
RECORDINGS = HERE.parents[1] / "testdata/perfdata"
SCRIPT = RECORDINGS / "why.perf-script.txt.gz"
DEBIAN = "/usr/lib/python3/dist-packages"  # of python3-protobuf, also for another python3


def load_messages(folder):
    """Returns the generated module, and json_format; None without protoc or its library."""
    if shutil.which("protoc") is None:
        return None
    os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    sys.path += [str(folder), DEBIAN]
    subprocess.run(["protoc", f"--proto_path={HERE}", f"--python_out={folder}",
                    "otlp_profiles.proto"], check=True)
    try:
        return (importlib.import_module("otlp_profiles_pb2"),
                importlib.import_module("google.protobuf.json_format"))
    except ImportError:
        return None


def unknown_fields(message):
    """Returns how many fields of a message, and of those in it, the .proto does not have."""
    count = len(message.UnknownFields())
    for field, value in message.ListFields():
        if field.message_type is not None:
            values = value if field.label == field.LABEL_REPEATED else [value]
            count += sum(unknown_fields(each) for each in values)
    return count


class OtlpFiles(unittest.TestCase):
    bin = None
    pb2 = None
    json_format = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def convert(self, source, target, *options):
        done = subprocess.run([self.bin / "perftape-convert", "-q", "-f", "--no-symbols", source,
                               "-o", target, *options],
                              capture_output=True, cwd=self.folder, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / target

    def read(self, path):
        data = self.pb2.ProfilesData()
        data.ParseFromString(path.read_bytes())
        return data

    def profiles_of(self, data):
        for resource in data.resource_profiles:
            for scope in resource.scope_profiles:
                for profile in scope.profiles:
                    yield resource.resource, profile

    # What readers rely on.

    def check_dictionary(self, data):
        tables = data.dictionary
        texts = len(tables.string_table)
        self.assertEqual(tables.string_table[0], "")
        self.assertEqual(len(set(tables.string_table)), texts)
        for name in ("mapping", "location", "function", "attribute", "stack"):
            first = getattr(tables, f"{name}_table")[0]
            self.assertEqual(first, type(first)(), name)
        self.assertEqual(tables.link_table[0].trace_id, bytes(16))
        self.assertEqual(tables.link_table[0].span_id, bytes(8))
        for attribute in tables.attribute_table:
            self.assertIn(attribute.key_strindex, range(texts))
            self.assertIn(attribute.unit_strindex, range(texts))
        for mapping in tables.mapping_table:
            self.assertIn(mapping.filename_strindex, range(texts))
            self.check_attributes(tables, mapping)
        for function in tables.function_table:
            indexes = [function.name_strindex, function.system_name_strindex,
                       function.filename_strindex]
            self.assertTrue(all(index in range(texts) for index in indexes))
        for function in tables.function_table[1:]:
            self.assertTrue(function.name_strindex or function.system_name_strindex or
                            function.filename_strindex)
        for location in tables.location_table:
            self.assertIn(location.mapping_index, range(len(tables.mapping_table)))
            self.check_attributes(tables, location)
            for line in location.lines:
                self.assertIn(line.function_index, range(len(tables.function_table)))
        stacks = set()
        for stack in tables.stack_table:
            self.assertTrue(all(index in range(len(tables.location_table))
                                for index in stack.location_indices))
            stacks.add(tuple(stack.location_indices))
        self.assertEqual(len(stacks), len(tables.stack_table))

    def check_attributes(self, tables, message):
        """Each index is of an attribute, and each key is there once."""
        indexes = message.attribute_indices
        self.assertTrue(all(index in range(1, len(tables.attribute_table)) for index in indexes))
        keys = [tables.attribute_table[index].key_strindex for index in indexes]
        self.assertEqual(len(keys), len(set(keys)))

    def check_keys(self, attributes):
        keys = [attribute.key for attribute in attributes]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertIn("service.name", keys)

    def check(self, data):
        self.assertEqual(unknown_fields(data), 0)
        self.check_dictionary(data)
        tables = data.dictionary
        for resource, profile in self.profiles_of(data):
            self.check_keys(resource.attributes)
            self.check_attributes(tables, profile)
            self.assertNotEqual(tables.string_table[profile.sample_type.type_strindex], "")
            self.assertNotEqual(tables.string_table[profile.period_type.type_strindex], "")
            self.assertGreater(profile.period, 0)
            seen = set()
            for sample in profile.samples:
                self.check_attributes(tables, sample)
                self.assertIn(sample.stack_index, range(len(tables.stack_table)))
                self.assertIn(sample.link_index, range(len(tables.link_table)))
                times = len(sample.timestamps_unix_nano)
                self.assertTrue(len(sample.values) == 1 or times in (len(sample.values),) or
                                (times and not sample.values))
                seen.add((sample.stack_index, tuple(sorted(sample.attribute_indices)),
                          sample.link_index))
            self.assertEqual(len(seen), len(profile.samples))

    def type_of(self, data, value_type):
        texts = data.dictionary.string_table
        return texts[value_type.type_strindex], texts[value_type.unit_strindex]

    def event_of(self, data, profile):
        """Returns the name of the event that perftape keeps as an attribute."""
        texts = data.dictionary.string_table
        for index in profile.attribute_indices:
            attribute = data.dictionary.attribute_table[index]
            if texts[attribute.key_strindex] == "perftape.event":
                return attribute.value.string_value
        return None

    def totals(self, data):
        """Returns the sums of values by event, as (samples, periods)."""
        counts, periods, derived = Counter(), Counter(), Counter()
        for _, profile in self.profiles_of(data):
            event = self.event_of(data, profile)
            total = sum(sum(sample.values) if sample.values else len(sample.timestamps_unix_nano)
                        for sample in profile.samples)
            if self.type_of(data, profile.sample_type)[0] in ("samples", "context_switch"):
                counts[event] += total
                derived[event] += total * profile.period
            else:
                periods[event] += total
        return {event: (count, periods[event] if event in periods else derived[event])
                for event, count in counts.items()}

    def totals_of_pprof(self, path):
        profile = pprof_reader.read(path.read_bytes())
        sums = [sum(sample.values[i] for sample in profile.samples)
                for i in range(len(profile.types))]
        return {name.removesuffix("_sample"): (sums[i], sums[i + 1])
                for i, (name, _) in enumerate(profile.types) if name.endswith("_sample")}

    def test_totals_are_those_of_the_pprof(self):
        for source in (RECORDINGS / "quickstart.data", RECORDINGS / "off-cpu.data", SCRIPT):
            for labels in ([], ["--labels", "time,cpu,cgroup"]):
                with self.subTest(source=source.name, labels=labels):
                    data = self.read(self.convert(source, "a.otlp", *labels))
                    self.check(data)
                    pprof = self.totals_of_pprof(self.convert(source, "a.pb.gz"))
                    self.assertEqual(self.totals(data), pprof)
                    self.assertTrue(any(count for count, _ in pprof.values()))

    def test_times_are_on_the_wall_clock(self):
        data = self.read(self.convert(RECORDINGS / "quickstart.data", "a.otlp", "--labels", "time"))
        times = [time for _, profile in self.profiles_of(data) for sample in profile.samples
                 for time in sample.timestamps_unix_nano]
        profile = data.resource_profiles[0].scope_profiles[0].profiles[0]
        self.assertTrue(times)
        self.assertGreaterEqual(min(times), profile.time_unix_nano)
        self.assertLessEqual(max(times), profile.time_unix_nano + profile.duration_nano)

    def test_json_has_the_same_messages(self):
        for labels in ([], ["--labels", "time"]):
            binary = self.read(self.convert(RECORDINGS / "off-cpu.data", "a.otlp", *labels))
            text = self.convert(RECORDINGS / "off-cpu.data", "a.otlp.json", *labels).read_text()
            parsed = self.json_format.Parse(text, self.pb2.ProfilesData())
            # Protobuf's JSON has ids in base64, that of OTLP in hexadecimal.
            for data in (binary, parsed):
                del data.dictionary.link_table[:]
            self.assertEqual(parsed, binary)

    # What others write.

    def of_ebpf_profiler(self):
        pb2 = self.pb2
        tables = pb2.ProfilesDictionary(
            mapping_table=[{}, {"filename_strindex": 1, "attribute_indices": [1]}],
            location_table=[{}, {"mapping_index": 1, "address": 0x1010,
                                 "lines": [{"function_index": 1, "line": 7}],
                                 "attribute_indices": [2]}, {"address": 5}],
            function_table=[{}, {"name_strindex": 2}],
            link_table=[{"trace_id": bytes(16), "span_id": bytes(8)}],
            string_table=["", "/bin/app", "main", "samples", "count", "cpu", "nanoseconds",
                          "process.executable.build_id.gnu", "profile.frame.type", "thread.name",
                          "off_cpu"],
            attribute_table=[{}, {"key_strindex": 7, "value": {"string_value": "abcd"}},
                             {"key_strindex": 8, "value": {"string_value": "native"}},
                             {"key_strindex": 9, "value": {"string_value": "worker"}}],
            stack_table=[{}, {"location_indices": [1, 1]}, {"location_indices": [2]}])
        second = 1_700_000_000_000_000_000
        cpu = pb2.Profile(sample_type={"type_strindex": 3, "unit_strindex": 4},
                          period_type={"type_strindex": 5, "unit_strindex": 6}, period=50,
                          time_unix_nano=second, duration_nano=10,
                          samples=[{"stack_index": 1, "attribute_indices": [3],
                                    "timestamps_unix_nano": [second + 1, second + 2]},
                                   {"stack_index": 2, "attribute_indices": [3],
                                    "timestamps_unix_nano": [second + 3]}])
        waits = pb2.Profile(sample_type={"type_strindex": 10, "unit_strindex": 6},
                            samples=[{"stack_index": 1, "values": [30, 12],
                                      "timestamps_unix_nano": [second, second]}])
        return pb2.ProfilesData(dictionary=tables, resource_profiles=[{
            "resource": {"attributes": [{"key": "process.pid", "value": {"int_value": 7}}]},
            "scope_profiles": [{"scope": {"name": "ebpf-profiler"}, "profiles": [cpu, waits]}]}])

    def test_reads_files_of_others(self):
        data = self.of_ebpf_profiler()
        (self.folder / "in.bin").write_bytes(data.SerializeToString())
        (self.folder / "in.json").write_text(self.json_format.MessageToJson(data))
        for name in ("in.bin", "in.json"):
            with self.subTest(name=name):
                folded = self.convert(name, "out.folded", "--event", "cpu", "--values", "period")
                self.assertEqual(folded.read_text(),
                                 "worker;[unknown] 50\nworker;main;main 100\n")
                waits = self.convert(name, "out.folded", "--event", "offcpu-time", "--values",
                                     "period")
                self.assertEqual(waits.read_text().split()[-1], "42")

    def test_a_file_of_others_keeps_its_totals(self):
        (self.folder / "in.otlp").write_bytes(self.of_ebpf_profiler().SerializeToString())
        data = self.read(self.convert("in.otlp", "out.otlp"))
        self.check(data)
        self.assertEqual(self.totals(data), {"cpu": (3, 150), "offcpu-time": (2, 42)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path)
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_messages(Path(folder))
        if loaded is None:
            print("no protoc or no google.protobuf (Debian: protobuf-compiler, python3-protobuf)")
            return SKIPPED
        OtlpFiles.pb2, OtlpFiles.json_format = loaded
        OtlpFiles.bin = options.bin.resolve()
        result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
        return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates the JSON that the tools print against tools/schemas.

    json_schemas_test.py --bin build/dev/bin [--recording] [NAME...]

The schemas allow members that they do not describe, because later versions may add some. This test
does not: a new member must be described. With --recording, the outputs are of recordings of this
machine, which needs root.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "tools/schemas"
TESTDATA = ROOT / "testdata"
CONSTANTS = ROOT / "tools/common/cli/json_schema.h"
TOOLS = ("bundle", "convert", "doctor", "inspect", "perf", "record", "recover", "report", "serve", "symbolize",
         "view")
BIN = pathlib.Path("build/dev/bin")

sys.path.append("/usr/lib/python3/dist-packages")  # of python3-jsonschema, also for another python3
try:
    import jsonschema
except ImportError:
    print("Python has no module jsonschema (Debian: python3-jsonschema)")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)


def load(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def names():
    return sorted(path.stem for path in SCHEMAS.glob("*.json"))


def members(schema):
    """Yields (key, schema) of each member that a schema describes."""
    if isinstance(schema, list):
        for one in schema:
            yield from members(one)
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        for key, one in schema.items():
            yield from members(list(one.values()) if key in ("properties", "patternProperties", "$defs") else one)


class Schema:
    def __init__(self, name):
        self.document = load(name)
        self.validator = jsonschema.Draft202012Validator(self.document)

    def applicable(self, schema, value):
        """Yields the parts of a schema that describe this value."""
        yield schema
        if "$ref" in schema:
            yield from self.applicable(self.document["$defs"][schema["$ref"].rpartition("/")[2]], value)
        for one in schema.get("anyOf", ()):
            if self.validator.evolve(schema=one).is_valid(value):
                yield from self.applicable(one, value)

    def undescribed(self, value, schema=None, path=""):
        """Yields the paths of the members that the schema does not describe."""
        parts = list(self.applicable(self.document if schema is None else schema, value))
        if isinstance(value, list):
            for one in value:
                for part in parts:
                    if "items" in part:
                        yield from self.undescribed(one, part["items"], path + "[]")
        if not isinstance(value, dict):
            return
        for key, one in value.items():
            found = [part["properties"][key] for part in parts if key in part.get("properties", {})]
            found += [of_pattern for part in parts for pattern, of_pattern in part.get("patternProperties", {}).items()
                      if re.search(pattern, key)]
            found = found or [part["additionalProperties"] for part in parts
                              if isinstance(part.get("additionalProperties"), dict)]
            if not found:
                yield f"{path}.{key}"
            for of_member in found:
                yield from self.undescribed(one, of_member, f"{path}.{key}")

    def problems(self, value):
        """Returns what is wrong with an output, one sentence each."""
        errors = [f"{error.json_path}: {error.message}" for error in self.validator.iter_errors(value)]
        return errors + [f"${path} is not described" for path in dict.fromkeys(self.undescribed(value))]


class Checks(unittest.TestCase):
    """The check itself finds what it is for."""

    def test_a_wrong_type_a_missing_and_an_undescribed_member_are_found(self):
        schema = Schema("perftape-symbolize")
        counts = {"named": 1, "no_file": 0, "wrong_build_id": 0, "no_symbol": 0}
        symbols = {**counts, "named_before": 0, "unmapped": 0,
                   "mappings": [{"filename": "a", "build_id": "", **counts}]}
        good = {"schema": "perftape-symbolize/1", "input": "a", "output": "b", "symbols": symbols}
        self.assertEqual(schema.problems(good), [])
        self.assertIn("perftape-symbolize/1", schema.problems({**good, "schema": "perftape-symbolize/2"})[0])
        self.assertIn("is not of type", schema.problems({**good, "input": 7})[0])
        del symbols["unmapped"]
        self.assertIn("unmapped", schema.problems(good)[0])
        symbols["unmapped"] = 0
        symbols["mappings"][0]["new"] = 1
        self.assertEqual(schema.problems(good), ["$.symbols.mappings[].new is not described"])

    def test_members_of_a_free_form_are_described_but_not_those_beside_it(self):
        schema = Schema("perftape-inspect")
        record = {"offset": "0x0", "type": "COMM", "misc": 0, "size": 8, "pid": 7, "list": [{"a": [1]}]}
        self.assertEqual(schema.problems({"record": record}), [])
        self.assertEqual(list(schema.undescribed({"other": {}})), [".other"])


class Files(unittest.TestCase):
    """The schemas are complete, and the documents name them."""

    def test_each_is_a_schema_with_its_name_and_version(self):
        constants = re.findall(r'"(perftape-[a-z-]+)/(\d+)";', CONSTANTS.read_text())
        self.assertEqual(sorted(name for name, _ in constants), names())
        for name, version in constants:
            with self.subTest(name):
                schema = load(name)
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertEqual(schema["$id"], f"urn:perftape:schema:{name}:{version}")
                self.assertIs(schema["additionalProperties"], True)
                values = [member["const"] for key, member in members(schema) if key == "schema"]
                self.assertEqual(set(values), {f"{name}/{version}"})

    def test_each_member_is_described_and_of_a_known_type(self):
        for name in names():
            schema = load(name)
            self.assertTrue(schema["title"] and schema["description"])
            for key, member in members(schema):
                with self.subTest(name, member=key):
                    described = {**schema.get("$defs", {}).get(member.get("$ref", "").rpartition("/")[2], {}), **member}
                    self.assertRegex(described.get("description", ""), r"\.$")
                    self.assertTrue({"type", "enum", "const", "anyOf"} & set(described))

    def test_a_definition_that_several_have_is_the_same_in_each(self):
        known = {}
        for name in names():
            for key, definition in load(name).get("$defs", {}).items():
                if key in ("symbols", "hex"):
                    self.assertEqual(known.setdefault(key, definition), definition, f"{key} in {name}")
        self.assertIn("symbols", known)

    def test_each_member_is_one_that_the_sources_write(self):
        sources = "".join(path.read_text() for room in ("tools", "convert", "record", "formats")
                          for path in sorted((ROOT / room).rglob("*")) if path.suffix in (".cc", ".h"))
        for name in names():
            for key, _ in members(load(name)):
                self.assertIn(f'"{key}"', sources, f"{name}: no source has this member")

    def test_the_man_page_of_the_tool_names_it(self):
        for name in names():
            tool = re.match(r"perftape-[a-z]+", name)[0]
            pages = ROOT / "tools/man"
            page = pages / ("perftape.1.md" if tool == "perftape-version" else f"{tool}.1.md")
            self.assertTrue(f"{name}.json" in page.read_text(), f"{page.name} does not name {name}.json")


    def test_the_man_pages_list_the_members(self):
        sections = {"perftape-record": "JSON", "perftape-doctor": "THE JSON REPORT", "perftape-recover": "THE REPORT",
                    "perftape-inspect": "JSON"}
        for name, title in sections.items():
            page = (ROOT / "tools/man" / f"{name}.1.md").read_text()
            section = page.split(f"\n# {title}\n")[1].split("\n# ")[0]
            terms = " ".join(re.findall(r"^(.+)\n: ", section, re.MULTILINE))
            with self.subTest(name):
                self.assertEqual(set(re.findall(r"\w+", terms)), set(load(name)["properties"]))


class Outputs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name)

    def run_tool(self, tool, *words, status=(0,)):
        command = [BIN / tool if tool.startswith("perftape") else BIN.parent / "tests" / tool, *words]
        done = subprocess.run(list(map(str, command)), cwd=self.dir, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, "HOME": str(self.dir)})
        self.assertIn(done.returncode, status, f"{tool} {words}: {done.stderr}")
        return done

    def check(self, name, value):
        problems = Schema(name).problems(value)
        self.assertEqual(problems, [], f"{name}: {json.dumps(value)[:400]}")

    def outputs(self, name, tool, *words, status=(0,)):
        """Runs a tool, checks the object that it prints, and returns it."""
        value = json.loads(self.run_tool(tool, *words, status=status).stdout)
        self.assertEqual(next(iter(value)), "schema")
        self.check(name, value)
        return value

    def lines(self, *words, status=(0,)):
        """Runs perftape-inspect, checks each line, and returns the keys."""
        keys = set()
        schema = Schema("perftape-inspect")
        for line in self.run_tool("perftape-inspect", "-q", "--json", *words, status=status).stdout.splitlines():
            value = json.loads(line)
            self.assertEqual(schema.problems(value), [], line[:400])
            keys.update(value)
        return keys


class OfFiles(Outputs):
    """The outputs for recordings of testdata, and for others that the test makes."""

    def recordings(self):
        found = sorted(TESTDATA.glob("perfdata/*.data"))
        self.assertGreater(len(found), 1)
        self.run_tool("make_latency", "latency.data")
        return [*found, self.dir / "latency.data"]

    def made(self):
        """Returns a recording with names, labels and damage of all sorts, and an end that is cut off."""
        bytes_made = subprocess.run([BIN.parent / "tests/make_perfdata"], check=True, capture_output=True).stdout
        whole, cut = self.dir / "whole.data", self.dir / "cut.data"
        whole.write_bytes(bytes_made)
        cut.write_bytes(bytes_made[:900])
        return whole, cut

    def bundle(self):
        path = self.dir / "made.tar.bz2"
        with tarfile.open(path, "w:bz2") as tar:
            tar.add(TESTDATA / "buildid", ".")
        return path

    def test_versions(self):
        tools = [tool for tool in TOOLS if (BIN / f"perftape-{tool}").exists()]
        self.assertGreaterEqual(len(tools), len(TOOLS) - 1)
        for tool in tools:
            value = self.outputs("perftape-version", f"perftape-{tool}", "--version=json")
            self.assertEqual(value["name"], f"perftape-{tool}")

    def test_the_diagnosis_of_this_machine(self):
        value = self.outputs("perftape-doctor", "perftape-doctor", "--json", status=(0, 1))
        self.assertTrue(value["events"])
        self.outputs("perftape-doctor", "perftape-record", "doctor", "--json", status=(0, 1))

    def test_the_sections_of_a_recording(self):
        for recording in [*self.recordings(), *self.made(), *sorted(TESTDATA.glob("damaged/*.data"))]:
            with self.subTest(recording.name):
                keys = self.lines("--header", "--stats", "--losses", "--validate", "--records", "--samples", recording,
                                  status=(0, 3))
                self.assertLessEqual({"header", "stats", "losses", "validate"}, keys)
        self.assertLessEqual({"record", "sample"}, self.lines("--records", "--samples", self.dir / "whole.data"))
        self.assertEqual(self.lines(self.dir / "whole.data"), {"header", "stats"})

    def test_an_unwind_table(self):
        elf, = TESTDATA.glob("buildid/**/elf")
        for binary in (elf, TESTDATA / "elf/frames-aarch64.so"):
            self.assertEqual(self.lines("--unwind-table", binary), {"unwind_row"})

    def test_bundles(self):
        bundle = self.bundle()
        value = self.outputs("perftape-bundle-list", "perftape-bundle", "list", "--json", bundle)
        self.assertTrue(value["files"])
        self.outputs("perftape-bundle-verify", "perftape-bundle", "verify", "--json", bundle, status=(0, 3))
        value = self.outputs("perftape-bundle-verify", "perftape-bundle", "verify", "--json", bundle,
                             TESTDATA / "perfdata/quickstart.data", status=(3,))
        self.assertTrue(value["missing"])
        recording = self.dir / "copy.data"
        recording.write_bytes((TESTDATA / "perfdata/quickstart.data").read_bytes())
        self.run_tool("perftape-bundle", "create", "-q", recording, "-o", "created.tar.zst", status=(0, 3))
        self.outputs("perftape-bundle-list", "perftape-bundle", "list", "--json", "created.tar.zst")

    def test_a_recovery(self):
        for recording in [*self.recordings(), *self.made()]:
            value = self.outputs("perftape-recover", "perftape-recover", "--json", "-f", recording, "-o", "out.data",
                                 status=(0, 3))
        self.assertFalse(value["whole"])

    def convert(self, *words, name="perftape-convert", status=(0, 3)):
        return self.outputs(name, "perftape-convert", "-q", "-f", "--no-local", "--json", *words, status=status)

    def test_conversions(self):
        quickstart = TESTDATA / "perfdata/quickstart.data"
        for recording in [*self.recordings(), *self.made()]:
            self.convert(recording, "-o", "out.pb.gz")
            self.convert(recording, "-o", "out.folded")
        value = self.convert(quickstart, "--debug-dir", TESTDATA / "buildid", "-o", "out.pb.gz")
        self.assertTrue(any("source" in mapping for mapping in value["symbols"]["mappings"]))
        value = self.convert("--diff", quickstart, quickstart, "-o", "out.html")
        self.assertTrue(value["base"])
        value = self.convert(TESTDATA / "perfdata/off-cpu.data", "-o", "out-%e.folded")
        self.assertGreater(len(value["files"]), 1)
        value = self.convert(quickstart, "--comm", "no-such-thread", "-o", "out.folded")
        self.assertTrue(value["events"][0]["dropped"])
        self.assertIn("empty_because", value)
        (self.dir / "in.folded").write_text("a;b 1.25\nno count\n")
        self.assertIn("decimals", self.convert("--lenient", "in.folded", "-o", "out.pb.gz")["events"][0])

    def test_a_recording_that_is_written_again(self):
        for recording in [*self.recordings(), *self.made()]:
            value = self.convert(recording, "-o", "out.data", name="perftape-convert-rewrite")
        self.assertIn("damage", value)

    def test_a_symbolization(self):
        quickstart = TESTDATA / "perfdata/quickstart.data"
        words = ("--json", "-q", "-f", "--debug-dir", TESTDATA / "buildid")
        self.run_tool("perftape-convert", "-q", "--no-symbols", quickstart, "-o", "out.pb.gz")
        for source, target in ((quickstart, "named.data"), ("out.pb.gz", "named.pb.gz")):
            value = self.outputs("perftape-symbolize", "perftape-symbolize", *words, source, "-o", target,
                                 status=(0, 3))
            self.assertTrue(value["symbols"]["mappings"])

    def report(self, *words, name="perftape-report", status=(0,)):
        return self.outputs(name, "perftape-report", "-q", "--no-local", "--json", *words, status=status)

    def test_reports(self):
        for recording in [*self.recordings(), *self.made()]:
            value = self.report(recording, "--by", "comm,pid,dso,cpu", "--tree", "--stacks=3", status=(0, 3))
            self.assertIn("histogram", value["inputs"][0])
            event = value["events"][0]
            self.assertTrue(event["functions"] and event["by"]["comm"] and event["tree"] and event["stacks"])
        value = self.report(TESTDATA / "perfdata/quickstart.data", "--debug-dir", TESTDATA / "buildid", "--lines", ".")
        self.assertIn("lines", value["events"][0])
        (self.dir / "in.folded").write_text("a;b 1.25\n")
        self.assertIn("decimals", self.report("in.folded")["events"][0])

    def test_reports_over_time(self):
        why = TESTDATA / "perfdata/why.perf-script.txt.gz"
        path = self.report("--path", "--hops", why)["path"]
        self.assertTrue(path["hops"] and path["parts"] and path["reasons"])
        path = self.report("--path", "--slowest", "1", "--against", why)["path"]
        self.assertIn("against", path)
        value = self.report("--latency", why)
        self.assertTrue(any("latency" in event for event in value["events"]))

    def test_a_comparison(self):
        (self.dir / "old.folded").write_text("main;sort 2000\nmain;parse 8000\n")
        (self.dir / "new.folded").write_text("main;sort 2500\nmain;parse 7500\n")
        value = self.report("--diff", "old.folded", "new.folded", "--stacks=1", "--fail-on", "sort self +5%",
                            name="perftape-report-diff", status=(3,))
        event, = value["events"]
        self.assertTrue(event["functions"] and event["stacks"] and event["violations"])
        self.report("--diff", "old.folded", "new.folded", "--absolute", name="perftape-report-diff")

    def test_a_diagnosis_and_its_rules(self):
        self.run_tool("make_latency", "latency.data")
        value = self.report("--diagnose", "latency.data", name="perftape-report-diagnosis")
        self.assertTrue(value["findings"] and value["slow_calls"] and value["calls"] and value["cgroups"])
        self.report("--diagnose", *self.made()[:1], name="perftape-report-diagnosis")
        self.assertTrue(self.report("--list-rules", name="perftape-report-rules")["rules"])


BURN = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo > file; sleep 0.3; cat file"


class OfRecordings(Outputs):
    """The outputs of the recorder, and for its recordings."""

    def record(self, *words, script=BURN, status=(0,)):
        """Records a script; returns the summary and stderr."""
        done = self.run_tool("perftape-record", "--json", "summary.json", *words, "--", "sh", "-c", script, status=status)
        summary = json.loads((self.dir / "summary.json").read_text())
        self.check("perftape-record", summary)
        self.assertEqual(next(iter(summary)), "schema")
        return summary, done.stderr

    def test_a_recording_with_symbols(self):
        summary, _ = self.record("-q", "-o", "a.data", "-F", "999", "-z")
        self.assertGreater(summary["samples"], 0)
        self.assertTrue(summary["compression"] and summary["bundle"])
        self.assertLessEqual({"header", "stats", "losses", "validate", "record", "sample"}, self.lines(
            "--header", "--stats", "--losses", "--validate", "--records", "--samples", "a.data", status=(0, 3)))
        self.outputs("perftape-bundle-list", "perftape-bundle", "list", "--json", "a.data")
        self.outputs("perftape-bundle-verify", "perftape-bundle", "verify", "--json", "a.data", status=(0, 3))
        self.outputs("perftape-report", "perftape-report", "-q", "--json", "--tree", "a.data")

    def test_what_is_merged_and_limited(self):
        summary, _ = self.record("-q", "-o", "a.data", "--no-bundle", "-F", "999", "--aggregate", "1", "--max-cpu", "50")
        self.assertTrue(summary["aggregate_ns"] and summary["rates"])
        self.assertEqual(self.lines("--losses", "a.data"), {"losses"})

    def test_calls_of_probes(self):
        _, err = self.record("-q", "-o", "a.data", "--no-bundle", "-e", "latency:fs,latency:cpu", "--cgroup-usage",
                             "--interval", "100ms")
        lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
        self.assertTrue(lines, err)
        for line in lines:
            self.check("perftape-record-latency", line)
        self.assertTrue(any(line["latency"] for line in lines))
        self.assertEqual(self.lines("--losses", "a.data"), {"losses"})
        self.outputs("perftape-report-diagnosis", "perftape-report", "-q", "--json", "--diagnose", "a.data")

    def test_waits_and_wakeups(self):
        self.record("-q", "-o", "a.data", "--no-bundle", "--why")
        self.assertEqual(self.lines("--samples", "a.data"), {"sample"})
        value = self.outputs("perftape-report", "perftape-report", "-q", "--json", "a.data")
        self.assertTrue(any("wakeups" in event for event in value["events"]))
        self.assertIn("path", self.outputs("perftape-report", "perftape-report", "-q", "--json", "--path", "a.data"))

    def test_a_flight_recording(self):
        crash = BURN + "; kill -SEGV $$"
        summary, _ = self.record("-q", "-o", "r.%n", "--no-bundle", "--flight", "5", script=crash, status=(139,))
        self.assertEqual(summary["command_status"], 139)
        file, = summary["flight"]["files"]
        self.assertEqual(self.lines("--header", "--losses", file["file"]), {"header", "losses"})

    def test_a_command_that_cannot_be_run(self):
        self.run_tool("perftape-record", "-q", "--json", "summary.json", "-o", "a.data", "--", "./no-such-file",
                      status=(127,))
        summary = json.loads((self.dir / "summary.json").read_text())
        self.check("perftape-record", summary)
        self.assertIn("command_failure", summary)


def reason_to_skip():
    if os.geteuid() != 0:
        return "not root: BPF programs cannot be loaded"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "the kernel has no BTF (/sys/kernel/btf/vmlinux)"
    return None


def main():
    global BIN
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--recording", action="store_true")
    options, rest = parser.parse_known_args()
    BIN = options.bin.resolve()
    if options.recording and (reason := reason_to_skip()):
        print(f"skipped: {reason}")
        return SKIPPED
    classes = [OfRecordings] if options.recording else [Checks, Files, OfFiles]
    suite = unittest.TestSuite()
    for one in classes:
        for name in unittest.defaultTestLoader.getTestCaseNames(one):
            if not rest or name in rest:
                suite.addTest(one(name))
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

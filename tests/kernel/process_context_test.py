# SPDX-License-Identifier: Apache-2.0
"""A program publishes which service it is part of, as an OpenTelemetry SDK does: its samples have the
labels, and those of other programs, of its children and of the time before an exec have not."""

import json
import pathlib
import subprocess

import harness

SOURCE = pathlib.Path(__file__).with_name("published.c")
CONVERT = str(harness.BIN / "perftape-convert")


def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


def context(**attributes):
    """A ProcessContext message in hexadecimal digits: service_name="cart"."""
    resource = b"".join(field(1, field(1, key.replace("_", ".").encode()) +
                              field(2, field(1, text.encode()))) for key, text in attributes.items())
    return field(1, resource).hex()


CART = context(service_name="cart", service_version="1.2", telemetry_sdk_name="x")
PAY = context(service_name="pay")


class ProcessContext(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "published"
        self.data = self.dir / "perf.data"
        subprocess.run(["cc", "-O1", "-o", self.program, SOURCE], check=True)

    def record(self, *steps, payload=CART, memory="memfd"):
        """Records the program."""
        status, _, err = harness.run(harness.RECORD, "-q", "-F", "199", "-o", self.data, "--",
                                     self.program, memory, payload, *steps)
        self.assertEqual(status, 0, err)

    def resources(self):
        """[{attribute: text}] of each resource of the OTLP of the recording."""
        out = self.dir / "out.otlp.json"
        status, _, err = harness.run(CONVERT, "--to", "otlp", "--force", "-o", out, self.data)
        self.assertEqual(status, 0, err)
        found = []
        for one in json.loads(out.read_text())["resourceProfiles"]:
            found.append({each["key"]: next(iter(each["value"].values()))
                          for each in one["resource"]["attributes"]})
        return found

    def services(self):
        """{service: samples} of perftape-report."""
        status, out, err = harness.run(harness.BIN / "perftape-report", "--json", "--by", "service",
                                       self.data)
        self.assertEqual(status, 0, err)
        groups = json.loads(out)["events"][0]["by"]["service"]
        return {group["name"]: group["amount"]["samples"] for group in groups}

    def test_names_the_service_of_each_program(self):
        self.record("publish", "spin=3", f"exec={PAY}", "publish", "spin=3")
        shown = {(one["service.name"], one.get("service.version")) for one in self.resources()}
        self.assertEqual(shown, {("cart", "1.2"), ("pay", None)})
        services = self.services()
        self.assertEqual(set(services), {"cart", "pay"})
        self.assertGreater(min(services.values()), 20)

    def test_is_found_in_anonymous_memory(self):
        if harness.run(self.program, "anon", CART, "publish")[0] != 0:
            self.skipTest("this kernel has no names of anonymous memory (CONFIG_ANON_VMA_NAME)")
        self.record("publish", "spin=3", memory="anon")
        self.assertEqual({one["service.name"] for one in self.resources()}, {"cart"})

    def test_a_child_has_none(self):
        self.record("publish", "spin=3", "fork", "spin=1")
        by_process = {one["process.pid"]: one["service.name"] for one in self.resources()}
        self.assertEqual(sorted(by_process.values()), ["cart", "unknown_service:published"])

    def test_what_is_no_context_is_no_name(self):
        self.record("publish", "spin=1", payload="ff00ff")
        self.assertEqual({one["service.name"] for one in self.resources()},
                         {"unknown_service:published"})

    # The kernel does not wait for a page of userfaultfd when another process reads it.
    def test_memory_that_is_withheld_stops_nothing(self):
        self.record("withhold", "spin=1")
        self.assertEqual({one["service.name"] for one in self.resources()},
                         {"unknown_service:published"})


if __name__ == "__main__":
    harness.require()
    harness.require_sample_rate(199)
    harness.main()

# SPDX-License-Identifier: Apache-2.0
"""Records in a guest, and checks the files here with perf and with our own tools.

PERFTAPE_GUEST_DIR (default build/guest) keeps packages, initramfs, and what each guest wrote.
PERFTAPE_GUEST_REUSE=1 checks what the guest wrote last time, without a boot."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernel"))
import debian  # noqa: E402
import harness  # noqa: E402
import machine  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
DIRECTORY = pathlib.Path(os.environ.get("PERFTAPE_GUEST_DIR", SOURCE / "build/guest")).resolve()

# A recording: options, the command, and what at least `least` stacks match. A static file that
# records also converts the recording there.
Case = collections.namedtuple("Case", "options stack least command program",
                              defaults=(1, ("/work-fp", "1"), ("perftape-record",)))
STATIC = ("/static/perftape", "record")
# The debug information of the workload, which has the inlined functions, is only in the guest.
PLAIN = ("-q", "--no-inline")


def add_static_file(initramfs, preset):
    """Adds the static file that a preset has built, if there is one."""
    path = SOURCE / "build" / preset / "bin/perftape"
    if path.exists():
        initramfs.add(path, STATIC[0].lstrip("/"))


def require(*programs):
    for program in (*programs, "apt-get", "apt-cache", "dpkg-deb", "busybox", "cpio", "perf"):
        if shutil.which(program) is None:
            harness.skip(f"{program} is not installed")


def compile_work(compiler, flags, directory):
    """Compiles the workload with frame pointers, and without. Both are static."""
    for name, choice in (("work-fp", ("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")),
                         ("work-eh", ("-fomit-frame-pointer",))):
        subprocess.run([compiler, "-O2", "-g1", "-static", "-fno-optimize-sibling-calls",
                        "-fasynchronous-unwind-tables", *choice, *flags, HERE / "work.c", "-o",
                        directory / name], check=True)
        yield name, directory / name


def record_all(architecture, kernel, initramfs, cases, preparations=()):
    """Boots the guest once and records each case there. Returns the directory of the files."""
    directory = DIRECTORY / "out" / architecture
    if os.environ.get("PERFTAPE_GUEST_REUSE") == "1" and (directory / "out").exists():
        return directory / "out"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    commands = []
    has_static = (initramfs.root / STATIC[0].lstrip("/")).exists()
    for name, case in cases.items():
        if case.program == STATIC and not has_static:
            continue
        output = [] if "-o" in case.options else ["-o", f"{name}.data"]
        commands.append((name, [*case.program, *case.options, *output, "--", *case.command]))
        if case.program == STATIC:
            commands.append((f"{name}-convert", [STATIC[0], "convert", *PLAIN, f"{name}.data",
                                                 "-o", f"{name}.folded"]))
    script = directory / "battery.sh"
    script.write_text(machine.battery(commands, preparations))
    initramfs.add(script, "battery.sh")
    packed = initramfs.pack(directory / "initramfs.gz")
    out, console = machine.boot(architecture, kernel, packed, directory)
    print(console.strip())
    return out


class GuestTest(harness.RecordingTest):
    """Subclasses have `cases`, and `record`, which returns the directory of the files."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.out = cls.record()
        except debian.Unavailable as reason:
            harness.skip(str(reason))

    def check_case(self, name):
        case = self.cases[name]
        if case.program == STATIC:
            self.check_conversion(name)
        messages = (self.out / f"{name}.err").read_text(errors="replace")
        self.assertEqual((self.out / f"{name}.status").read_text().strip(), "0", messages)
        files = sorted(self.out.glob(f"{name}.data*"))
        self.assertTrue(files, messages)
        for file in files:
            self.check_file(file, messages)
        found = sum(self.matching_stacks(file, case.stack) for file in files)
        self.assertGreaterEqual(found, case.least, messages)

    def check_conversion(self, name):
        """Checks that the static file has converted the recording to what our tool makes of it."""
        if not (self.out / f"{name}.status").exists():
            self.skipTest("preset static or static-arm64 is not built")
        messages = (self.out / f"{name}-convert.err").read_text(errors="replace")
        self.assertEqual(messages, "")
        expected = self.dir / "expected.folded"
        status, _, err = harness.run(harness.CONVERT, *PLAIN, self.out / f"{name}.data", "-o", expected)
        self.assertEqual(status, 0, err)
        self.assertEqual((self.out / f"{name}.folded").read_bytes(), expected.read_bytes())

    def check_file(self, file, messages):
        # An emulated guest is slow, so the kernel throttles its timers.
        counts, err = harness.perf_report(file, extra=["--kallsyms", self.out / "kallsyms"])
        # A rotating recording may end right after a file began.
        empty = rf"({harness.NO_SAMPLES})?" if not counts else ""
        self.assertRegex(err, rf"\A{harness.LOSSES}{empty}\Z", messages)
        status, out, err = harness.run(harness.INSPECT, "--validate", file)
        if status == 0:  # else it names readers that are too old for compressed records
            self.assertNotRegex(out, r"(?m)^0x\S+ error ", messages)

    def matching_stacks(self, file, pattern):
        """Returns how many samples of any event have a stack that matches."""
        bundle = file.with_suffix(".bundle")
        names = ["--bundle", bundle] if bundle.exists() else []
        status, _, err = harness.run(harness.CONVERT, *names, file, "-o", self.dir / "x-%e.folded")
        self.assertEqual(status, 0, err)
        stacks = [path for path in self.dir.glob("x-*.folded")]
        counts = (harness.folded_counts(path)[2] for path in stacks)
        found = sum(count for of_file in counts for stack, count in of_file.items()
                    if re.search(pattern, stack))
        for path in stacks:
            path.unlink()
        return found


def add_tests(cls, cases):
    """Adds a test method for each case."""
    cls.cases = cases
    for name in cases:
        setattr(cls, f"test_{name}", lambda self, name=name: self.check_case(name))

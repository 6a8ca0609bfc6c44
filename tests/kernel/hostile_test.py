# SPDX-License-Identifier: Apache-2.0
"""Tests that no file of another user keeps a recording from its start, its records or its end."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import harness
import hostile_files

SCRIPT = str(pathlib.Path(hostile_files.__file__).resolve())
ROUNDS = int(os.environ.get("PERFTAPE_HOSTILE_ROUNDS", "1"))
HANG_S = 3 * harness.TIMEOUT_S


class Hostile(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.innocent = self.spawn(harness.BURNER, "--seconds", "600", stdout=subprocess.DEVNULL)

    def spawn_and_wait_for(self, word, *command, **options):
        process = self.spawn(*command, stdout=subprocess.PIPE, text=True, **options)
        self.assertIn(word, process.stdout.readline(), command)
        return process

    def run_as_other(self, path):
        return self.spawn_and_wait_for("runs", sys.executable, SCRIPT, "run", str(path))

    def assert_recorded(self, *options):
        """Records the whole system for two seconds; returns stderr. The timeout is a hang, not a
        measurement."""
        data = self.dir / "hostile.data"
        begun = time.monotonic()
        status, _, err = harness.run(harness.RECORD, "-a", "-F", "199", "--duration", "2", "-o", data,
                                     *options, cwd=self.dir, timeout=HANG_S)
        seconds = time.monotonic() - begun
        self.assertEqual(status, 0, err)
        count = sum(row["pid"] == str(self.innocent.pid) for row in harness.inspect_samples(data))
        self.assertGreater(count, 0, err)
        print(f"{self.id()}: {seconds:.1f} s, {count} samples of the innocent program", flush=True)
        data.unlink()
        return err

    def test_elf_files_cost_a_limited_time(self):
        for kind, write in hostile_files.ELF_KINDS.items():
            write(self.dir / kind)
            self.run_as_other(self.dir / kind)
        for _ in range(ROUNDS):
            self.assert_recorded()

    def test_a_recording_meets_a_hostile_file_in_its_middle(self):
        path = self.dir / "hostile.elf"
        hostile_files.write_functions(path)
        recorder = self.spawn(harness.RECORD, "-a", "-q", "-o", "perf.%n", "--switch-output=1s",
                              "--duration", "4", cwd=self.dir)
        while not list(self.dir.glob("perf.*")) and recorder.poll() is None:
            time.sleep(0.01)
        self.run_as_other(path)
        self.assertEqual(recorder.wait(timeout=HANG_S), 0)

    def test_sigint_ends_it_at_once(self):
        path = self.dir / "hostile.elf"
        hostile_files.write_functions(path)
        self.run_as_other(path)
        recorder = self.spawn(harness.RECORD, "-a", "-q", "-o", "perf.data", cwd=self.dir)
        self.wait_for_file(self.dir / "perf.data", recorder)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(timeout=HANG_S), 0)

    def mount_fuse(self, runs=True):
        """Mounts a FUSE file system with a program, and runs it. Returns (its path, the file that stops
        the file system). At the end the server is killed first, which frees all who wait for it."""
        if not os.path.exists("/dev/fuse"):
            self.skipTest("no /dev/fuse")
        directory, stop, content = self.dir / "mount", self.dir / "stop", self.dir / "content"
        directory.mkdir()
        # It must not be taken for the innocent program, which is the same.
        identity = bytes.fromhex(harness.build_id(harness.BURNER))
        content.write_bytes(pathlib.Path(harness.BURNER).read_bytes().replace(identity, identity[::-1]))
        server = self.spawn_and_wait_for("mounted", sys.executable, SCRIPT, "serve", str(directory),
                                         str(content), str(stop))
        self._stack.callback(hostile_files.unmount, directory)
        program = directory / "program"
        if runs:
            self.spawn(program, "--seconds", "600", stdout=subprocess.DEVNULL)
        self._stack.callback(server.wait)
        self._stack.callback(server.kill)
        return program, stop

    def test_a_file_system_that_does_not_answer_is_left_behind(self):
        program, stop = self.mount_fuse()
        time.sleep(0.3)  # it has read its pages
        stop.touch()
        for _ in range(ROUNDS):
            err = self.assert_recorded()
            self.assertRegex(err, rf"{re.escape(str(program))}: its file system did not answer")

    def test_a_silent_file_system_as_tmp_of_generated_code_is_left_behind(self):
        """There the recorder looks for the perf map. No program of the file system runs, for which the
        recorder would also wait, in the same budget of time."""
        self.need_mount_namespace()
        program, stop = self.mount_fuse(runs=False)
        self.spawn_and_wait_for("runs", sys.executable, SCRIPT, "generate", str(program.parent))
        stop.touch()
        for _ in range(ROUNDS):
            err = self.assert_recorded()
            self.assertRegex(err, r"/tmp/perf-\d+\.map: its file system did not answer")

    def test_a_file_system_that_answers_gives_its_symbols(self):
        program, _ = self.mount_fuse()
        self.assert_recorded("--bundle", "symbols.bundle")
        status, out, err = harness.run(harness.BUNDLE, "list", self.dir / "symbols.bundle")
        self.assertEqual(status, 0, err)
        self.assertIn(str(program), out)


if __name__ == "__main__":
    harness.require()
    harness.unittest.main()

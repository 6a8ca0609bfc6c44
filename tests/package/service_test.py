#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks perftape-record@.service with systemd's own tools, and runs its command with its capabilities and limits."""
import os
import pathlib
import pwd
import re
import signal
import subprocess
import tempfile
import time
import unittest

from chroot import ROOT, require

BIN = pathlib.Path(os.environ.get("PERFTAPE_BIN_DIR", ROOT / "build/dev/bin")).resolve()
SOURCE = ROOT / "tools/packaging/systemd/perftape-record@.service.in"
MAX_EXPOSURE = 2.5  # "OK" is below 5, and most services of Debian have 9


class Service(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.text = SOURCE.read_text().replace("@CMAKE_INSTALL_FULL_BINDIR@", str(BIN))
        self.unit = self.directory / "perftape-record@all.service"
        self.unit.write_text(self.text)

    def setting(self, name):
        return re.search(rf"^{name}=(.*)$", self.text, re.M)[1]

    def test_systemd_finds_nothing_wrong(self):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", self.unit], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_is_hardened(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", self.unit],
                              capture_output=True, text=True)
        line = re.search(r"Overall exposure level.*: ([\d.]+) \w+", done.stdout)
        print(line[0])
        self.assertLessEqual(float(line[1]), MAX_EXPOSURE)

    def command(self, output):
        """The words of ExecStart, as systemd makes them."""
        variables = dict(re.findall(r'^Environment="(\w+)=(.*)"$', self.text, re.M))
        variables["PERFTAPE_ROTATION"] = re.sub(r"=\S+", "=2s", variables["PERFTAPE_ROTATION"], count=1)
        words = []
        for word in self.setting("ExecStart").split():
            name = word.removeprefix("$")
            if word.startswith("$") and name in variables:
                words += variables[name].split()
            else:
                words.append(word.strip('"').replace("${STATE_DIRECTORY}", str(output)).replace("%%", "%"))
        return words

    def test_records_with_its_capabilities(self):
        user = pwd.getpwnam("nobody")
        output = self.directory / "state"
        output.mkdir(mode=0o700)
        os.chown(output, user.pw_uid, user.pw_gid)
        self.directory.chmod(0o755)
        capabilities = ",".join(self.setting("AmbientCapabilities").lower().split())
        # What it needs must be executable for the user.
        recorder = self.directory / "perftape-record"
        recorder.write_bytes((BIN / "perftape-record").read_bytes())
        recorder.chmod(0o755)
        words = [str(recorder), *self.command(output)[1:]]
        running = subprocess.Popen(
            ["unshare", "--net", "--ipc", "setpriv", f"--reuid={user.pw_uid}",
             f"--regid={user.pw_gid}", "--clear-groups", "--no-new-privs",
             *(f"--{kind}=-all,{','.join('+' + name.removeprefix('cap_') for name in capabilities.split(','))}"
               for kind in ("inh-caps", "ambient-caps", "bounding-set")), *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(6)
        running.send_signal(getattr(signal, self.setting("KillSignal")))
        message = running.communicate(timeout=60)[0]
        self.assertEqual(running.returncode, 0, message)
        files = sorted(output.glob("*.data"))
        print([path.name for path in files], message)
        self.assertGreaterEqual(len(files), 2)
        for path in files:
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            subprocess.run([BIN / "perftape-inspect", "--header", path], check=True, capture_output=True)


if __name__ == "__main__":
    require("systemd-analyze", "setpriv", "unshare")
    unittest.main(verbosity=2)

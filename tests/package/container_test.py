#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records and answers requests with the privileges of the DaemonSets' containers, without a cluster: user 0 with exactly
the capabilities in the file, its arguments, a read-only root, and namespaces of its own except that of processes."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from chroot import ROOT, require, skip

try:
    import yaml
except ImportError:
    skip("python3-yaml is not installed")

BIN = pathlib.Path(os.environ.get("PERFTAPE_BIN_DIR", ROOT / "build/dev/bin")).resolve()
FOLDER = ROOT / "tools/packaging/container"
# The container: $1 is where it may write; the rest is its command.
CONTAINER = """
ip link set lo up
mount --make-rprivate /
mount --bind "$1" /mnt
mount -t tmpfs tmpfs /tmp
mount -o remount,bind,ro /
mount -o remount,bind,ro /sys 2>/dev/null || true
shift
exec capsh --drop="$DROP" --noamb -- -c 'exec "$@"' container "$@"
"""


class Container(unittest.TestCase):
    file = "daemonset.yaml"

    def setUp(self):
        documents = list(yaml.safe_load_all((FOLDER / self.file).read_text()))
        self.pod = documents[1]["spec"]["template"]["spec"]
        self.container = self.pod["containers"][0]
        security = self.container["securityContext"]
        self.kept = {f"cap_{name.lower()}" for name in security["capabilities"]["add"]}
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.output = pathlib.Path(temporary.name)

    def arguments(self):
        """The arguments of the file, with the output in the directory of the test and shorter files."""
        words = [word.replace("/var/lib/perftape", "/mnt") for word in self.container["args"]]
        return [re.sub(r"^--switch-output=.*", "--switch-output=2s", word) for word in words]

    def start(self, kept, *command):
        held = subprocess.run(["capsh", "--print"], check=True, capture_output=True, text=True).stdout
        known = set(re.search(r"Bounding set =(\S+)", held)[1].split(","))
        self.assertEqual(kept - known, set())
        return subprocess.Popen(
            ["unshare", "--mount", "--net", "--ipc", "--uts", "sh", "-euc", CONTAINER, "container", str(self.output),
             *command], env=os.environ | {"DROP": ",".join(sorted(known - kept))},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_gives_no_other_privilege(self):
        security = self.container["securityContext"]
        self.assertEqual(security["capabilities"]["drop"], ["ALL"])
        self.assertFalse(security["allowPrivilegeEscalation"])
        self.assertTrue(security["readOnlyRootFilesystem"])
        self.assertNotIn("privileged", security)
        self.assertNotIn("hostNetwork", self.pod)
        self.assertFalse(self.pod["automountServiceAccountToken"])


class Recorder(Container):
    def record(self, kept):
        recorder = self.start(kept, str(BIN / "perftape-record"), *self.arguments())
        time.sleep(6)
        recorder.send_signal(signal.SIGTERM)
        message = recorder.communicate(timeout=60)[0]
        return recorder.returncode, message

    def test_records_the_whole_machine(self):
        status, message = self.record(self.kept)
        self.assertEqual(status, 0, message)
        files = sorted(self.output.glob("*.data"))
        self.assertGreaterEqual(len(files), 2, message)
        shown = subprocess.run([BIN / "perftape-inspect", "--header", files[0]], capture_output=True, text=True)
        print(message, [path.name for path in files])
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_needs_the_capabilities_of_the_kernel_s_doors(self):
        for name in ("cap_bpf", "cap_perfmon"):
            with self.subTest(without=name):
                status, message = self.record(self.kept - {name})
                self.assertNotEqual(status, 0)
                self.assertIn(name.upper(), message)

    def test_the_container_file_has_the_same_capabilities(self):
        text = (FOLDER / "Containerfile").read_text()
        added = re.search(r"--cap-add=(\S+)", text)[1].split(",")
        self.assertEqual({f"cap_{name.lower()}" for name in added}, self.kept)


class Service(Container):
    file = "daemonset-serve.yaml"

    def get(self, service, path):
        """Asks in the network namespace of the container, as kubectl port-forward does."""
        return subprocess.run(["nsenter", "--net", f"--target={service.pid}", "curl", "--silent", "--show-error", "--fail",
                               "--max-time", "30", f"http://127.0.0.1:4040{path}"], capture_output=True, text=True, check=False)

    def test_answers_requests(self):
        burner = subprocess.Popen([BIN / "perftape-burner", "--seconds", "600"], stdout=subprocess.DEVNULL)
        self.addCleanup(burner.kill)
        service = self.start(self.kept, str(BIN / "perftape-serve"), *self.arguments())
        self.addCleanup(service.kill)
        for _ in range(100):
            if self.get(service, "/healthz").returncode == 0 or service.poll() is not None:
                break
            time.sleep(0.1)
        folded = self.get(service, "/flamegraph/collapsed?seconds=4&event=cpu")
        service.send_signal(signal.SIGTERM)
        message = service.communicate(timeout=60)[0]
        self.assertEqual(service.returncode, 0, message)
        self.assertEqual(folded.returncode, 0, folded.stderr)
        self.assertIn(";burn_", folded.stdout, message)


del Container  # has no container of its own

if __name__ == "__main__":
    require("unshare", "capsh", "nsenter", "curl", "ip")
    if not shutil.which(BIN / "perftape-record"):
        skip("perftape-record is not built")
    unittest.main(verbosity=2)

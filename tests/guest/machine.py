# SPDX-License-Identifier: Apache-2.0
"""Makes the initramfs of a guest, boots it in qemu, and returns the files that it wrote."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
BOOT_SECONDS = int(os.environ.get("PERFTAPE_GUEST_SECONDS", "900"))
# The files arrive on a disk. A serial port is emulated byte by byte, and takes minutes.
DISK_BYTES = 512 << 20
QEMU = {
    "amd64": ["qemu-system-x86_64", "-cpu", "max,-la57"],
    "arm64": ["qemu-system-aarch64", "-machine", "virt", "-cpu", "max,pauth-impdef=on"],
}
CONSOLE = {"amd64": "ttyS0", "arm64": "ttyAMA0"}


def needed_libraries(program, readelf):
    done = subprocess.run([readelf, "-d", program], capture_output=True, text=True, check=True)
    return re.findall(r"NEEDED.*\[(.*)\]", done.stdout)


class Initramfs:
    def __init__(self, directory, libraries, readelf="readelf"):
        """`libraries` are the directories that are searched for shared libraries."""
        self.root = pathlib.Path(directory)
        self.libraries = [pathlib.Path(path) for path in libraries]
        self.readelf = readelf
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "lib").mkdir(parents=True)
        (self.root / "lib64").symlink_to("lib")
        self.add(HERE / "init.sh", "init")

    def add(self, source, name):
        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755)

    def add_program(self, source, name):
        """Adds a program with all the libraries that it needs."""
        self.add(source, name)
        waiting = [source]
        while waiting:
            for library in needed_libraries(waiting.pop(), self.readelf):
                if (self.root / "lib" / library).exists():
                    continue
                found = next(path / library for path in self.libraries if (path / library).exists())
                self.add(found, f"lib/{library}")
                waiting.append(found)

    def pack(self, path):
        names = subprocess.run(["find", "."], cwd=self.root, capture_output=True, check=True).stdout
        with open(path, "wb") as packed:
            cpio = subprocess.Popen(["cpio", "-o", "-H", "newc", "--quiet"], cwd=self.root,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            gzip = subprocess.Popen(["gzip", "-1"], stdin=cpio.stdout, stdout=packed)
            cpio.stdin.write(names)
            cpio.stdin.close()
            cpio.stdout.close()
            assert cpio.wait() == 0 and gzip.wait() == 0
        return path


def battery(cases, preparations=()):
    """Returns a shell script that runs each case, (name, words). It keeps status and messages."""
    lines = ["# SPDX-License-Identifier: Apache-2.0", *preparations]
    for name, words in cases:
        lines += (f"{shlex.join(words)} >{name}.out 2>{name}.err; echo $? >{name}.status; "
                     f"echo '{name}' $(cat {name}.status)",
                     # The console has the reason, even if the files do not arrive.
                     f"[ $(cat {name}.status) = 0 ] || head -c 2000 {name}.err")
    return "\n".join(lines) + "\n"


def boot(architecture, kernel, initramfs, directory):
    """Runs a guest until it switches itself off; returns (directory of its files, its console)."""
    console, disk = directory / "console", directory / "out.tar"
    with open(disk, "wb") as created:
        created.truncate(DISK_BYTES)
    devices = ["-serial", f"file:{console}", "-drive", f"file={disk},format=raw,if=none,id=out",
               "-device", "nvme,serial=out,drive=out", "-nic", "none", "-display", "none",
               "-monitor", "none"]
    start = ["-kernel", kernel, "-initrd", initramfs, "-append",
             f"console={CONSOLE[architecture]} quiet panic=1 mitigations=off"]
    subprocess.run(
        ["nice", "-n", os.environ.get("PERFTAPE_GUEST_NICE", "19"), *QEMU[architecture], "-accel",
         "tcg,thread=multi", "-smp", "2", "-m", "1024", "-no-reboot", *devices, *start],
        check=True, stdin=subprocess.DEVNULL, timeout=BOOT_SECONDS)
    messages = console.read_text(errors="replace")
    assert re.search(r"(?m)^sent the files$", messages), messages
    with tarfile.open(disk, "r:") as files:
        files.extractall(directory, filter="data")
    disk.unlink()
    return directory / "out", messages

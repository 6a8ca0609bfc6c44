# SPDX-License-Identifier: Apache-2.0
"""Gets packages of Debian for the guests, of any architecture, without root's package database.

    debian.py ARCHITECTURE DIRECTORY

makes DIRECTORY/ARCHITECTURE/root with the libraries that the tools are compiled with."""

import os
import pathlib
import subprocess
import sys

PACKAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/packages.txt"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCES = """deb [signed-by={key}] http://deb.debian.org/debian bookworm main
deb [signed-by={key}] http://deb.debian.org/debian bookworm-updates main
deb [signed-by={key}] http://deb.debian.org/debian-security bookworm-security main
"""
CONFIGURATION = """APT::Architecture "{architecture}";
APT::Architectures {{"{architecture}";}};
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Dir::State "{root}";
Dir::State::Lists "{root}/lists";
Dir::State::status "{root}/status";
Dir::Cache "{root}/cache";
Dir::Etc::sourcelist "{root}/sources.list";
Dir::Etc::sourceparts "-";
"""


class Unavailable(Exception):
    """The packages cannot be downloaded; the text is the reason."""


def call(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
    return done.stdout


def build_libraries():
    """Returns the packages of the libraries that the tools are compiled with."""
    rows = (line.split() for line in PACKAGES.read_text().splitlines())
    # A library is told by its header.
    named = [row[1] for row in rows if len(row) == 3 and row[0] == "build" and row[2][0] == "<"]
    return ["libc6-dev", "libstdc++-12-dev", "linux-libc-dev", *named]


class Packages:
    """The packages of one architecture, kept in `directory`. What was downloaded once is used
    again."""

    def __init__(self, architecture, directory):
        self.root = pathlib.Path(directory).resolve() / architecture
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        (self.root / "sources.list").write_text(SOURCES.format(key=KEYRING))
        (self.root / "apt.conf").write_text(
            CONFIGURATION.format(architecture=architecture, root=self.root))
        self.environment = dict(os.environ, APT_CONFIG=str(self.root / "apt.conf"))

    def update(self):
        if not any((self.root / "lists").glob("*Packages*")):
            call("apt-get", "-qq", "update", env=self.environment)

    def newest(self, pattern):
        """Returns the name of the newest package whose name matches the regular expression."""
        self.update()
        names = call("apt-cache", "search", "--names-only", pattern, env=self.environment)
        found = [line.split()[0] for line in names.splitlines()]
        if not found:
            raise Unavailable(f"no package is named {pattern}")
        return max(found, key=lambda name: [int(part) if part.isdigit() else 0
                                            for part in name.replace("-", ".").split(".")])

    def unpacked(self, name):
        """Returns a directory with the files of one package, without what it depends on."""
        directory = self.root / "packages" / name
        if not directory.exists():
            self.update()
            call("apt-get", "-q", "download", name, env=self.environment, cwd=self.root / "cache")
            archive = next((self.root / "cache").glob(f"{name}_*.deb"))
            call("dpkg-deb", "-x", archive, directory)
        return directory

    def unpack_all(self, names, directory):
        """Unpacks packages, and all that they depend on, into one directory."""
        if directory.exists():
            return
        self.update()
        call("apt-get", "-q", "-y", "--download-only", "install", *names, env=self.environment)
        for archive in sorted((self.root / "cache/archives").glob("*.deb")):
            call("dpkg-deb", "-x", archive, directory)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Packages(*sys.argv[1:]).unpack_all(build_libraries(), pathlib.Path(sys.argv[2], sys.argv[1], "root"))

# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of its own, and pgbench with it."""

import os
import pathlib
import pwd
import re
import shutil
import subprocess
import time

SCALE = 10
CLIENTS = 4
# After this the server has reaped the processes of connections that were closed.
SETTLE_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


def is_installed():
    return any(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def fields_of(pid):
    """The fields of /proc/PID/stat from the state on; the first is number 3 there. None if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def cpu_seconds(pid, with_children=False):
    """The CPU time of a process; with that of its children, also of those that have ended."""
    fields = fields_of(pid)
    if fields is None:
        return 0
    ticks = sum(map(int, fields[11:15] if with_children else fields[11:13]))
    if not with_children:
        return ticks / TICKS
    pids = [path.name for path in pathlib.Path("/proc").glob("[0-9]*")]
    children = [child for child in pids if (found := fields_of(child)) and found[1] == str(pid)]
    return ticks / TICKS + sum(cpu_seconds(child) for child in children)


class Postgres:
    """It listens on a Unix socket in `directory`, which every user can enter, and does not wait for the disk, so that
    the CPUs are busy. It runs within a with block."""

    def __init__(self, directory):
        self.binaries = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")).parent
        self.user = pwd.getpwnam("postgres")
        self.home = pathlib.Path(directory) / "postgres"
        self.home.mkdir()
        os.chown(self.home, self.user.pw_uid, self.user.pw_gid)

    def run(self, program, *arguments, capture=False):
        """Returns (stdout, CPU seconds)."""
        output = subprocess.PIPE if capture else subprocess.DEVNULL
        before = os.times()
        done = subprocess.run([self.binaries / program, *arguments], check=True, cwd=self.home, text=True,
                              stdout=output, stderr=subprocess.DEVNULL, user="postgres", group=self.user.pw_gid)
        after = os.times()
        return done.stdout, sum(after[2:4]) - sum(before[2:4])

    def __enter__(self):
        self.run("initdb", "-D", self.home / "data", "-A", "trust")
        self.run("pg_ctl", "-D", self.home / "data", "-w", "-l", self.home / "log", "-o",
                 f"-k {self.home} -c listen_addresses= -c fsync=off", "start")
        self.pid = int((self.home / "data/postmaster.pid").read_text().split()[0])
        self.run("pgbench", "-h", self.home, "-i", "-s", str(SCALE), "postgres")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.home / "data", "-m", "fast", "-w", "stop")
        shutil.rmtree(self.home)

    def cpu_seconds(self):
        time.sleep(SETTLE_SECONDS)
        return cpu_seconds(self.pid, with_children=True)

    def measure(self, seconds, *script):
        """Runs pgbench. Returns (transactions a second, transactions, CPU seconds of the server, those of pgbench)."""
        before = self.cpu_seconds()
        out, client = self.run("pgbench", "-h", self.home, "-c", str(CLIENTS), "-j", "2", "-T", str(seconds), *script,
                               "postgres", capture=True)
        server = self.cpu_seconds() - before
        count = int(re.search(r"actually processed: (\d+)", out).group(1))
        return float(re.search(r"tps = ([\d.]+)", out).group(1)), count, server, client

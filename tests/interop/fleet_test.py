#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the fleet section of README. 200 recordings are converted in parts by the tasks of a Slurm
array and by GNU parallel. A last task merges the parts, and the bytes must equal those of one
process. The test starts and stops its own Slurm with four nodes on this machine."""
import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

RECORDINGS = 200
TASKS = 4
SKIPPED = 77


def missing(*programs):
    return [program for program in programs if shutil.which(program) is None]


class Slurm:
    """A Slurm controller and four nodes under `directory`. Their ports distinguish them from
    others."""

    def __init__(self, directory):
        self.directory = directory
        self.daemons = []
        self.environment = dict(os.environ, SLURM_CONF=str(directory / "slurm.conf"))

    def __enter__(self):
        try:
            self.start_munge()
            self.write_configuration()
            self.daemons.append(self.start("slurmctld", "-D"))
            for node in range(1, TASKS + 1):
                self.daemons.append(self.start("slurmd", "-D", "-N", f"n{node}"))
            self.wait_until_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def start(self, *command):
        log = open(self.directory / f"{command[0]}{len(self.daemons)}.log", "wb")
        return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log,
                                start_new_session=True)

    def start_munge(self):
        munge = self.directory / "munge"
        munge.mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(128))
        for path in (munge, munge / "key"):
            shutil.chown(path, "munge", "munge")
        (munge / "key").chmod(0o600)
        self.daemons.append(self.start(
            "runuser", "-u", "munge", "--", "munged", "--force", "--foreground",
            f"--key-file={munge}/key", f"--socket={munge}/munge.sock", f"--pid-file={munge}/pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed"))
        wait_for(lambda: (munge / "munge.sock").exists(), "munged")

    def write_configuration(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(TASKS + 1)
        spool = self.directory / "spool"
        spool.mkdir()
        (self.directory / "slurm.conf").write_text(f"""\
ClusterName=perftape
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={self.directory}/munge/munge.sock
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmctldPort={ports[0]}
SlurmctldPidFile={self.directory}/slurmctld.pid
SlurmdPidFile={self.directory}/slurmd-%n.pid
SlurmdSpoolDir={spool}/%n
StateSaveLocation={spool}
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
""" + "".join(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs=1\n"
              for i in range(1, TASKS + 1)) + "PartitionName=batch Nodes=ALL Default=YES State=UP\n")

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def wait_until_idle(self):
        def idle():
            states = self.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()
            return len(states) == TASKS and set(states) == {"idle"}
        wait_for(idle, "slurmd", lambda: self.run("sinfo", "-N").stdout + self.logs())

    def logs(self):
        return "".join(f"{log.name}: {log.read_text(errors='replace')[-500:]}\n"
                       for log in sorted(self.directory.glob("*.log")))


def wait_for(condition, what, describe=str):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    sys.exit(f"{what} does not become ready\n{describe()}")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def write_job(path, *lines):
    path.write_text("\n".join(["#!/bin/bash", "set -eu", *lines]) + "\n")
    return str(path)


def convert_by_slurm(directory, tool):
    """Runs the two job scripts of README."""
    array = write_job(
        directory / "array.sh",
        f"find {directory}/recordings -name '*.data' -print0 | sort -z |",
        f"  {tool} -q --files-from0 - --shard auto -o {directory}/part-$SLURM_ARRAY_TASK_ID.pb.gz")
    merge = write_job(directory / "merge.sh",
                      f"{tool} -q {directory}/part-*.pb.gz -o {directory}/slurm.pb.gz")
    with Slurm(directory) as slurm:
        output = f"--output={directory}/job-%A-%a.txt"
        first = slurm.run("sbatch", "--parsable", output, f"--array=0-{TASKS - 1}", array)
        job = first.stdout.strip()
        last = slurm.run("sbatch", "--parsable", output, f"--dependency=afterok:{job}",
                         "--kill-on-invalid-dep=yes", merge)
        if first.returncode != 0 or last.returncode != 0:
            sys.exit(f"sbatch: {first.stderr}{last.stderr}")
        wait_for(lambda: not slurm.run("squeue", "-h").stdout.strip(), "the queue",
                 lambda: slurm.run("squeue").stdout + slurm.logs())
    messages = "".join(log.read_text() for log in directory.glob("job-*.txt"))
    if messages or not (directory / "slurm.pb.gz").exists():
        sys.exit(f"messages of Slurm's jobs: {messages}")
    return (directory / "slurm.pb.gz").read_bytes()


def convert_by_parallel(directory, tool):
    """Runs the two commands of README."""
    parts = directory / "parallel"
    parts.mkdir()
    environment = dict(os.environ, HOME=str(directory))  # for the citation notice of parallel
    subprocess.run(
        ["bash", "-c", f"""
         set -eu
         find {directory}/recordings -name '*.data' -print0 | sort -z > {parts}/list
         seq {TASKS} | parallel --will-cite -j2 \\
           {tool} -q --files-from0 {parts}/list --shard auto/{TASKS} -o {parts}/{{}}.pb.gz
         {tool} -q {parts}/*.pb.gz -o {directory}/parallel.pb.gz"""],
        env=environment, check=True)
    return (directory / "parallel.pb.gz").read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--make", required=True)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.bin).resolve() / "perftape-convert")

    ways = {"GNU parallel": (convert_by_parallel, missing("parallel")),
            "a Slurm array": (convert_by_slurm,
                              missing("slurmctld", "slurmd", "sbatch", "munged", "runuser"))}
    if os.geteuid() != 0:
        ways["a Slurm array"][1].append("the right to be root")
    complaints, tried = 0, 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)  # munged runs as another user
        recordings = directory / "recordings"
        recordings.mkdir()
        subprocess.run([options.make, recordings, str(RECORDINGS)], check=True)
        alone = directory / "alone.pb.gz"
        subprocess.run([tool, "-q", *sorted(recordings.glob("*.data")), "-o", alone], check=True)
        for way, (convert, lacks) in ways.items():
            if lacks:
                print(f"{way}: skipped: {', '.join(lacks)} missing")
                continue
            tried += 1
            same = convert(directory, tool) == alone.read_bytes()
            complaints += not same
            print(f"{way}: {RECORDINGS} recordings in {TASKS} parts, merged: "
                  f"{'the same bytes' if same else 'OTHER BYTES'} as by one process")
    if tried == 0:
        return SKIPPED
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests that limit programs by cgroups, of version 1 or 2."""

import os
import pathlib
import time

import cgroups

V1_NAMES = {"io": "blkio"}


def _v1_mount(controller):
    name = V1_NAMES.get(controller, controller)
    return next((mount for mount, options in cgroups.mounts_of("cgroup")
                 if name in options and cgroups.is_writable(mount)), None)


def _v2_mount(controller):
    """The hierarchy of version 2, with the controller enabled for new cgroups; None without it."""
    mount = cgroups.version_2()
    if mount is None or controller not in (mount / "cgroup.controllers").read_text().split():
        return None
    try:
        (mount / "cgroup.subtree_control").write_text(f"+{controller}")
    except OSError:
        return None
    return mount


class Cgroup:
    """A cgroup with one limit, removed at the end of a with block. `directory` is None if this machine
    has no writable hierarchy with the controller."""

    def __init__(self, controller, v1_limits, v2_limits):
        v1, v2 = _v1_mount(controller), _v2_mount(controller)
        mount, limits = (v1, v1_limits) if v1 else (v2, v2_limits)
        self.path = f"/perftape-limit-{os.getpid()}"
        self.directory = mount and pathlib.Path(f"{mount}{self.path}")
        self.limits = limits

    def __enter__(self):
        if self.directory:
            self.directory.mkdir()
            for name, value in self.limits.items():
                (self.directory / name).write_text(str(value))
        return self

    def __exit__(self, *_):
        for _ in range(100 if self.directory else 0):  # it stays busy for a moment after its last process
            try:
                self.directory.rmdir()
                return
            except OSError:
                time.sleep(0.02)


def cpu(quota_us):
    """Limits the CPU time in each 100 ms."""
    return Cgroup("cpu", {"cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": quota_us},
                  {"cpu.max": f"{quota_us} 100000"})


def memory(size):
    return Cgroup("memory", {"memory.limit_in_bytes": size}, {"memory.max": size})


def writes(device, bytes_per_second):
    """`device` is "7:0"."""
    return Cgroup("io", {"blkio.throttle.write_bps_device": f"{device} {bytes_per_second}"},
                  {"io.max": f"{device} wbps={bytes_per_second}"})


def reads(device, requests_per_second):
    """`device` is a whole disk."""
    return Cgroup("io", {"blkio.throttle.read_iops_device": f"{device} {requests_per_second}"},
                  {"io.max": f"{device} riops={requests_per_second}"})


def disk_of(path):
    """The whole disk that has this file, or None."""
    device = os.stat(path).st_dev
    found = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if (found / "partition").exists():
        found = found.resolve().parent
    return (found / "dev").read_text().strip() if found.exists() else None

# SPDX-License-Identifier: Apache-2.0
"""Records every kind of event on Debian's Linux 6.1 for x86-64: with kprobes, fentry and modules,
which machines of continuous integration may lack."""

import pathlib

import recordings
from recordings import Case

import debian
import harness
import latency_cases
import machine

# GCC makes no frame in work_leaf, so a walk by frame pointers loses its caller.
FP = "main;work_outer;(work_middle;)?work_leaf"
CASES = {
    "clock": Case(["-e", "cpu-clock", "-F", "499"], FP, 20),
    "compressed": Case(["-z", "-F", "499"], FP, 20),
    "rotating": Case(["--switch-output=1s", "-F", "499", "-o", "rotating.data.%n"], FP, 20,
                     ("/work-fp", "3")),
    # With all processes, the table of the program is loaded late.
    "all_processes": Case(["-a", "-F", "499"], FP, 20, ("/work-fp", "20")),
    "eh": Case(["--call-graph", "eh", "-F", "499"], "main;work_outer;work_middle;work_leaf",
               10, ("/work-eh", "4")),
    "dwarf": Case(["--call-graph", "dwarf", "-F", "199"], "work_leaf", 5, ("/work-eh", "1")),
    # The C library has no frame pointers, so its callers are missing.
    "off_cpu": Case(["-e", "offcpu"], "main;.*nanosleep", 1),
    "wakers": Case(["-e", "offcpu", "--wakers"], "main;.*nanosleep", 1),
    "faults": Case(["-e", "page-faults/period=1/"], "work_fault", 20),
    "switches": Case(["-e", "context-switches/period=1/"], "main;.*nanosleep", 5),
    "tracepoint": Case(["-e", "sched:sched_switch"], "main;.*nanosleep", 5),
    "system_call": Case(["-e", "syscalls:sys_enter_pread64"], "main;.*pread", 5),
    "latency": Case(["-e", "latency:*/min=0ns/"], "main;.*nanosleep", 5),
    "latency_fp": Case(["-e", "latency:*/min=0ns/", "--call-graph", "fp"], "main;.*nanosleep", 5),
    "latency_dwarf": Case(["-e", "latency:*/min=0ns/", "--call-graph", "dwarf"], "main;.*nanosleep", 5,
                          ("/work-eh", "1")),
    "lock": Case(["-e", "cpu-clock", "-e", "lock", "-a"], FP, 1, ("/work-fp", "4")),
    "uprobe": Case(["-e", "uprobe:/work-fp:work_middle"], "work_outer;work_middle", 20),
    "uretprobe": Case(["-e", "uretprobe:/work-fp:work_middle"], "work_outer", 20),
    "kprobe": Case(["-e", "kprobe:vfs_read"], "main;.*vfs_read", 5),
    "kretprobe": Case(["-e", "kretprobe:vfs_read"], "main;", 5),
    "fentry": Case(["-e", "fentry:vfs_read"], "main;.*vfs_read", 5),
    "fexit": Case(["-e", "fexit:vfs_read"], "main;", 5),
    "module": Case(["-e", "kprobe:dummy_xmit", "-a"], "dummy_xmit", 1,
                   ("/bin/sh", "-c", "ping -c 1 -W 1 192.0.2.2; true")),
    "several": Case(["-e", "cpu-clock,page-faults/period=1/,sched:sched_switch,offcpu"], FP, 5,
                    ("/work-fp", "3")),
    "static": Case(["-e", "cpu-clock", "-F", "499"], FP, 20, program=recordings.STATIC),
    "static_eh": Case(["--call-graph", "eh", "-F", "499"], "main;work_outer;work_middle;work_leaf",
                      10, ("/work-eh", "4"), recordings.STATIC),
    **latency_cases.CASES,
}
PREPARATIONS = ("insmod /dummy.ko numdummies=1", "ip addr add 192.0.2.1/24 dev dummy0",
                "ip link set dummy0 up")


class X8664Guest(latency_cases.LatencyTests, recordings.GuestTest):
    @staticmethod
    def record():
        packages = debian.Packages("amd64", recordings.DIRECTORY)
        kernel = packages.unpacked(packages.newest(r"^linux-image-6\.1\.0-[0-9]+-cloud-amd64$"))
        initramfs = machine.Initramfs(recordings.DIRECTORY / "amd64/initramfs",
                                      ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"])
        initramfs.add_program("/bin/busybox", "bin/busybox")
        initramfs.add_program(pathlib.Path(harness.RECORD), "usr/bin/perftape-record")
        recordings.add_static_file(initramfs, "static")
        initramfs.add(next(kernel.glob("lib/modules/*/kernel/drivers/net/dummy.ko")), "dummy.ko")
        for name, path in recordings.compile_work("gcc", [], recordings.DIRECTORY / "amd64"):
            initramfs.add(path, name)
        initramfs.add(*latency_cases.compile_program("gcc", [], recordings.DIRECTORY / "amd64"))
        return recordings.record_all("amd64", next(kernel.glob("boot/vmlinuz-*")), initramfs, CASES,
                                     PREPARATIONS)


recordings.add_tests(X8664Guest, CASES)

if __name__ == "__main__":
    recordings.require("qemu-system-x86_64", "gcc")
    harness.main()

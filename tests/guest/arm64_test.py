# SPDX-License-Identifier: Apache-2.0
"""Records on Debian's Linux 6.1 for arm64, with a recorder that is compiled here. Hardware events
count there, because qemu emulates the counters."""

import os
import subprocess

import recordings
from recordings import Case

import debian
import latency_cases
import machine

# GCC makes no frame in work_leaf, so a walk by frame pointers loses its caller.
FP = "main;work_outer;(work_middle;)?work_leaf"
# Linux 6.1 has no fentry on arm64.
CASES = {
    "clock": Case(["-e", "cpu-clock", "-F", "499"], FP, 20),
    "cycles": Case(["-e", "cycles", "-F", "499"], FP, 20),
    "cycles_of_the_kernel": Case(["-e", "cycles:k", "-c", "1000000"], r"work_\w+;.*", 1),
    "compressed": Case(["-z", "-F", "499"], FP, 20),
    "rotating": Case(["--switch-output=1s", "-F", "499", "-o", "rotating.data.%n"], FP, 20,
                     ("/work-fp", "3")),
    # With all processes, the table of the program is loaded late.
    "all_processes": Case(["-a", "-F", "499"], FP, 20, ("/work-fp", "20")),
    "eh": Case(["--call-graph", "eh", "-F", "499"], "main;work_outer;work_middle;work_leaf",
               10, ("/work-eh", "4")),
    "dwarf": Case(["--call-graph", "dwarf", "-F", "199"], "work_leaf", 5, ("/work-eh", "1")),
    "off_cpu": Case(["-e", "offcpu"], "main;.*nanosleep", 1),
    "faults": Case(["-e", "page-faults/period=1/"], "work_fault", 20),
    "tracepoint": Case(["-e", "sched:sched_switch"], "main;.*nanosleep", 5),
    "uprobe": Case(["-e", "uprobe:/work-fp:work_middle"], "work_outer;work_middle", 20),
    "uretprobe": Case(["-e", "uretprobe:/work-fp:work_middle"], "work_outer", 20),
    "kprobe": Case(["-e", "kprobe:vfs_read"], "main;.*vfs_read", 5),
    "kretprobe": Case(["-e", "kretprobe:vfs_read"], "main;", 5),
    "static": Case(["-e", "cpu-clock", "-F", "499"], FP, 20, program=recordings.STATIC),
    "static_eh": Case(["--call-graph", "eh", "-F", "499"], "main;work_outer;work_middle;work_leaf",
                      10, ("/work-eh", "4"), recordings.STATIC),
    "several": Case(["-e", "cycles,cpu-clock,page-faults/period=1/,offcpu"], FP, 5),
    "latency": Case(["-e", "latency:*/min=0ns/"], "main;.*nanosleep", 5),
    **latency_cases.CASES,
}
CROSS = "aarch64-linux-gnu"


def build_recorder(root):
    """Returns the recorder, compiled with the libraries in `root`."""
    environment = dict(os.environ, PERFTAPE_ARM64_ROOT=str(root))
    build = recordings.DIRECTORY / "arm64/build"
    subprocess.run(["cmake", "-S", recordings.SOURCE, "-B", build, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", "-DPERFTAPE_FAST_BUILD=ON", "--log-level=WARNING",
                    f"-DCMAKE_TOOLCHAIN_FILE={recordings.HERE / 'arm64.cmake'}"],
                   check=True, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(["nice", "-n", "19", "cmake", "--build", build, "--parallel", "1", "--target",
                    "perftape-record"], check=True, env=environment, stdout=subprocess.DEVNULL)
    return build / "bin/perftape-record"


class Arm64Guest(latency_cases.LatencyTests, recordings.GuestTest):
    @staticmethod
    def record():
        packages = debian.Packages("arm64", recordings.DIRECTORY)
        kernel = packages.unpacked(packages.newest(r"^linux-image-6\.1\.0-[0-9]+-cloud-arm64$"))
        busybox = packages.unpacked("busybox-static")
        root = (recordings.DIRECTORY / "arm64/root").resolve()
        packages.unpack_all(debian.build_libraries(), root)
        recorder = build_recorder(root)
        libraries = [root / place / CROSS for place in ("lib", "usr/lib")]
        initramfs = machine.Initramfs(recordings.DIRECTORY / "arm64/initramfs", libraries,
                                      f"{CROSS}-readelf")
        initramfs.add_program(busybox / "bin/busybox", "bin/busybox")
        initramfs.add_program(recorder, "usr/bin/perftape-record")
        recordings.add_static_file(initramfs, "static-arm64")
        for name, path in recordings.compile_work(f"{CROSS}-gcc", [f"--sysroot={root}"],
                                                  recordings.DIRECTORY / "arm64"):
            initramfs.add(path, name)
        initramfs.add(*latency_cases.compile_program(f"{CROSS}-gcc", [f"--sysroot={root}"],
                                                     recordings.DIRECTORY / "arm64"))
        return recordings.record_all("arm64", next(kernel.glob("boot/vmlinuz-*")), initramfs, CASES)


recordings.add_tests(Arm64Guest, CASES)

if __name__ == "__main__":
    recordings.require("qemu-system-aarch64", f"{CROSS}-g++", "cmake", "ninja")
    recordings.harness.main()

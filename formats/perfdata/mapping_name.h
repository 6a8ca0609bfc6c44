// SPDX-License-Identifier: Apache-2.0
// What the name of a mapping says about the mapped memory: the file name of an MMAP record, a line
// of /proc/PID/maps, or the name that perf prints for a mapping. All other code asks here.
//
// The names have three origins: d_path() of the mapped file, the kernel's own words for memory
// without a file (kernel/events/core.c, perf_event_mmap_event; fs/proc/task_mmu.c), and perf's
// words for the kernel and its modules (tools/perf/util/machine.c and dso.c).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::perfdata {

// The kernel's own mapping. In MMAP records the name of the symbol by which perf measured the
// kernel's address follows: "[kernel.kallsyms]_text".
inline constexpr std::string_view kKernelMappingName = "[kernel.kallsyms]";
inline constexpr std::string_view kVdsoMappingName = "[vdso]";
inline constexpr std::string_view kAnonymousMappingName = "//anon";
inline constexpr std::string_view kSharedAnonymousMappingName = "/dev/zero (deleted)";

enum class MappingSource : std::uint8_t {
  kFile,         // "/usr/bin/ls", "/dev/shm/plugin", "ls"; also every name that no rule below knows
  kNone,         // ""
  kKernel,       // "[kernel.kallsyms]_text", "[kernel]", "[kernel.vmlinux]", "/boot/vmlinux-6.1"
  kGuestKernel,  // "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms.4711]"
  kModule,       // "[nf_tables]", "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"
  kVdso,         // "[vdso]", "[vdso32]", "[vdsox32]"
  kAnonymous,    // "//anon", "/dev/zero (deleted)", "/anon_hugepage (deleted)"
  kNamedAnonymous,  // "[anon:v8]", "[anon_shmem:heap]": named by prctl(PR_SET_VMA)
  kAnonymousInode,  // "anon_inode:[io_uring]"
  kMemfd,           // "/memfd:doublemapper (deleted)": memfd_create(2); may hold an ELF file
  kSysvSegment,     // "/SYSV00000000 (deleted)": shmget(2)
  kHeap,            // "[heap]"
  kStack,           // "[stack]", "[stack:12]"
  kPerfMap,         // "/tmp/perf-123.map": perf's name for the anonymous memory of process 123
  kDevice,          // "/dev/dri/card0"
  kUnnamedFile,     // "//toolong", "//enomem": a file whose name the kernel could not report
  kSpecial,         // "[vsyscall]", "[vvar]", "[uprobes]", "[unknown]", "[jit]": no file, no module
};

MappingSource SourceOf(std::string_view mapping_name);

// Memory in which a just-in-time compiler may keep its code: what no file is behind.
bool MayHoldJitCode(std::string_view mapping_name);

// Memory for which perf looks into /tmp/perf-PID.map and which it shows under that name
// (tools/perf/util/map.h, is_anon_memory and is_no_dso_memory). perf knows fewer names than
// MayHoldJitCode: memfds and the named anonymous memory keep their names in its output.
bool IsPerfMapMemory(std::string_view mapping_name);

// An absolute path at which a file with symbols or a build id may be: no device, no memory.
bool IsFilePath(std::string_view mapping_name);

// A vmlinux by its base name: "/boot/vmlinux-6.1".
bool IsVmlinuxPath(std::string_view mapping_name);

// The name of a module as in /proc/modules and /sys/module, where it has '_' for each '-' of its
// file: "nf_tables" of "[nf_tables]" and of ".../nf-tables.ko.xz". Empty for all that are no
// module.
std::string ModuleNameOf(std::string_view mapping_name);

// 123 of "/tmp/perf-123.map", in any directory.
std::optional<std::uint32_t> PidOfPerfMap(std::string_view mapping_name);

// A jitdump, whose path a compiler announces by mapping the file: ".../jit-123.dump"
// (tools/perf/util/jitdump.c, jit_detect).
bool IsJitDumpPath(std::string_view mapping_name);

// Without the " (deleted)" that d_path() appends to the path of a file without a directory entry.
// A file may also have been given a name that ends so; only its build id can tell.
std::string_view WithoutDeleted(std::string_view mapping_name);

}  // namespace perftape::perfdata

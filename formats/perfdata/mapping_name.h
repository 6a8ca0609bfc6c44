// SPDX-License-Identifier: Apache-2.0
// The meaning of a mapping's name: of the file name of an MMAP record, of a line in /proc/PID/maps,
// or of the name that perf prints for a mapping. No other code interprets these names.
//
// The names have three origins: d_path() of the mapped file, the kernel's names for memory without
// a file (kernel/events/core.c, perf_event_mmap_event; fs/proc/task_mmu.c), and perf's names for
// the kernel and its modules (tools/perf/util/machine.c and dso.c).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::perfdata {

// The mapping of the kernel. In MMAP records, the name of the reference symbol with which perf
// computes the kernel's address is appended: "[kernel.kallsyms]_text".
inline constexpr std::string_view kKernelMappingName = "[kernel.kallsyms]";
inline constexpr std::string_view kVdsoMappingName = "[vdso]";
inline constexpr std::string_view kAnonymousMappingName = "//anon";
inline constexpr std::string_view kSharedAnonymousMappingName = "/dev/zero (deleted)";

enum class MappingSource : std::uint8_t {
  kFile,            // "/usr/bin/ls", "/dev/shm/plugin", "ls"; also every name not listed below
  kNone,            // ""
  kKernel,          // "[kernel.kallsyms]_text", "[kernel]", "[kernel.vmlinux]", "/boot/vmlinux-6.1"
  kGuestKernel,     // "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms.4711]"
  kModule,          // "[nf_tables]", "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"
  kVdso,            // "[vdso]", "[vdso32]", "[vdsox32]"
  kAnonymous,       // "//anon", "/dev/zero (deleted)", "/anon_hugepage (deleted)"
  kNamedAnonymous,  // "[anon:v8]", "[anon_shmem:heap]": named by prctl(PR_SET_VMA)
  kAnonymousInode,  // "anon_inode:[io_uring]"
  kMemfd,           // "/memfd:doublemapper (deleted)": memfd_create(2); may contain an ELF file
  kSysvSegment,     // "/SYSV00000000 (deleted)": shmget(2)
  kHeap,            // "[heap]"
  kStack,           // "[stack]", "[stack:12]"
  kPerfMap,         // "/tmp/perf-123.map": perf's name for the anonymous memory of process 123
  kDevice,          // "/dev/dri/card0"
  kUnnamedFile,     // "//toolong", "//enomem": a file whose name the kernel could not report
  kSpecial,         // "[vsyscall]", "[vvar]", "[uprobes]", "[unknown]", "[jit]": no file, no module
};

MappingSource SourceOf(std::string_view mapping_name);

// Whether a just-in-time compiler may keep its code in the memory: it has no file.
bool MayHoldJitCode(std::string_view mapping_name);

// Whether the memory may be an ELF file all the same, which its content shows: a program that was
// executed from a memfd. A just-in-time compiler may map a memfd, too.
bool MayHoldElfFile(std::string_view mapping_name);

// Whether an offset in the mapping says nothing without the mapping's address. Memory without a
// file has other code at each address, and its offsets mean nothing: the kernel reports the address
// as the offset of private memory (kernel/events/core.c, perf_event_mmap_event), /proc/PID/maps
// says 0 for it. A file in a memfd is told apart by its address, too.
bool IsIdentifiedByAddress(std::string_view mapping_name);

// Whether perf reads /tmp/perf-PID.map for the memory and shows this path as its name
// (tools/perf/util/map.h, is_anon_memory and is_no_dso_memory). perf does so for fewer names than
// MayHoldJitCode: it shows memfds and named anonymous memory by their own names.
bool IsPerfMapMemory(std::string_view mapping_name);

// Whether the name is an absolute path of a file that can have symbols or a build id: not of a
// device or of memory.
bool IsFilePath(std::string_view mapping_name);

// Whether the base name is that of a vmlinux: "/boot/vmlinux-6.1".
bool IsVmlinuxPath(std::string_view mapping_name);

// The name of a module as in /proc/modules and /sys/module, which have '_' for each '-' of the
// file: "nf_tables" for "[nf_tables]" and for ".../nf-tables.ko.xz". Empty if it is not a module.
std::string ModuleNameOf(std::string_view mapping_name);

// 123 of "/tmp/perf-123.map", in any directory.
std::optional<std::uint32_t> PidOfPerfMap(std::string_view mapping_name);

// Whether the name is that of a jitdump: ".../jit-123.dump". Compilers map this file to announce it
// (tools/perf/util/jitdump.c, jit_detect).
bool IsJitDumpPath(std::string_view mapping_name);

// The name without the " (deleted)" that d_path() appends to the path of a file without a directory
// entry. The real name of a file may end in the same way; only the build id shows the difference.
std::string_view WithoutDeleted(std::string_view mapping_name);

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/mapping_name.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace perftape::perfdata {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Names in brackets that belong neither to the kernel nor to a module: the special mappings in
// /proc/PID/maps (fs/proc/task_mmu.c, arch_vma_name of each architecture), and profilers' names for
// user code without a file. Only whole words match: jitterentropy_rng is a module.
constexpr std::array<std::string_view, 14> kSpecialWords = {
    "folded", "gate",    "jit",      "lost",    "memfd",   "native",  "rom",
    "shadow", "sigpage", "sigtramp", "unknown", "uprobes", "vectors", "vsyscall"};

std::string_view BaseNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

bool IsWordCharacter(char c) {
  return IsDigit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}

// `name` begins with '['. As in perf, every unknown word is the name of a module
// (tools/perf/util/dso.c, __kmod_path__parse).
MappingSource SourceOfBrackets(std::string_view name) {
  name.remove_prefix(1);
  if (name.starts_with("kernel.") || name.starts_with("kernel]")) return MappingSource::kKernel;
  if (name.starts_with("guest.kernel")) return MappingSource::kGuestKernel;
  const auto end = std::ranges::find_if_not(name, IsWordCharacter);
  const std::string_view word = name.substr(0, static_cast<std::size_t>(end - name.begin()));
  if (word == "anon" || word == "anon_shmem") return MappingSource::kNamedAnonymous;
  if (word == "heap") return MappingSource::kHeap;
  if (word == "stack") return MappingSource::kStack;
  if (word.starts_with("vdso")) return MappingSource::kVdso;
  if (word.empty() || word.starts_with("vvar")) return MappingSource::kSpecial;
  const bool is_special = std::ranges::find(kSpecialWords, word) != kSpecialWords.end();
  return is_special ? MappingSource::kSpecial : MappingSource::kModule;
}

// "nf-tables" for "/lib/nf-tables.ko.xz"; empty if the path is not a module. perf accepts .gz and
// .xz. Modules can be compressed with zstd since Linux 5.13, and are .ko.debug in debug packages.
std::string_view ModuleFileStem(std::string_view path) {
  std::string_view name = BaseNameOf(path);
  for (const std::string_view suffix : {".gz", ".xz", ".zst", ".debug"}) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    break;
  }
  constexpr std::string_view kEnding = ".ko";
  if (!name.ends_with(kEnding)) return {};
  name.remove_suffix(kEnding.size());
  return name;
}

}  // namespace

MappingSource SourceOf(std::string_view name) {
  if (name.empty()) return MappingSource::kNone;
  if (name.starts_with('[')) return SourceOfBrackets(name);
  if (name == kAnonymousMappingName) return MappingSource::kAnonymous;
  if (name.starts_with("//")) return MappingSource::kUnnamedFile;
  // Shared anonymous memory is a deleted file on an internal file system of the kernel (mm/shmem.c,
  // shmem_zero_setup; fs/hugetlbfs/inode.c, hugetlb_file_setup; ipc/shm.c, newseg).
  if (name.starts_with("/dev/zero")) return MappingSource::kAnonymous;
  if (name.starts_with("/anon_hugepage")) return MappingSource::kAnonymous;
  if (name.starts_with("/SYSV")) return MappingSource::kSysvSegment;
  if (name.starts_with("/memfd:")) return MappingSource::kMemfd;
  if (name.starts_with("anon_inode:")) return MappingSource::kAnonymousInode;
  // Files of shm_open(3) are ordinary files on a tmpfs.
  if (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) return MappingSource::kDevice;
  if (PidOfPerfMap(name)) return MappingSource::kPerfMap;
  if (!ModuleFileStem(name).empty()) return MappingSource::kModule;
  return IsVmlinuxPath(name) ? MappingSource::kKernel : MappingSource::kFile;
}

bool MayHoldJitCode(std::string_view name) {
  switch (SourceOf(name)) {
    case MappingSource::kNone:
    case MappingSource::kAnonymous:
    case MappingSource::kNamedAnonymous:
    case MappingSource::kAnonymousInode:
    case MappingSource::kMemfd:
    case MappingSource::kSysvSegment:
    case MappingSource::kHeap:
    case MappingSource::kStack:
    case MappingSource::kPerfMap:
      return true;
    default:
      return false;
  }
}

bool MayHoldElfFile(std::string_view name) {
  return SourceOf(name) == MappingSource::kMemfd;
}

bool IsIdentifiedByAddress(std::string_view name) {
  return !name.empty() && MayHoldJitCode(name);
}

bool IsPerfMapMemory(std::string_view name) {
  const MappingSource source = SourceOf(name);
  return source == MappingSource::kAnonymous || source == MappingSource::kSysvSegment ||
         source == MappingSource::kHeap || source == MappingSource::kStack;
}

bool IsFilePath(std::string_view name) {
  if (!name.starts_with('/')) return false;
  const MappingSource source = SourceOf(name);
  return source == MappingSource::kFile || source == MappingSource::kKernel ||
         source == MappingSource::kModule || source == MappingSource::kPerfMap;
}

bool IsVmlinuxPath(std::string_view name) {
  return BaseNameOf(name).starts_with("vmlinux");
}

std::string ModuleNameOf(std::string_view name) {
  if (SourceOf(name) != MappingSource::kModule) return {};
  if (name.starts_with('[')) {
    name.remove_prefix(1);
    return std::string(name.substr(0, name.rfind(']')));
  }
  std::string module(ModuleFileStem(name));
  std::ranges::replace(module, '-', '_');
  return module;
}

std::optional<std::uint32_t> PidOfPerfMap(std::string_view path) {
  std::string_view name = BaseNameOf(path);
  if (!name.starts_with("perf-") || !name.ends_with(".map")) return std::nullopt;
  name.remove_prefix(5);
  name.remove_suffix(4);
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

bool IsJitDumpPath(std::string_view path) {
  const std::string_view name = BaseNameOf(path);
  constexpr std::string_view kStart = "jit-", kEnd = ".dump";
  if (name.size() == path.size() || !name.starts_with(kStart) || !name.ends_with(kEnd) ||
      name.size() <= kStart.size() + kEnd.size()) {
    return false;
  }
  return std::ranges::all_of(name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size()),
                             IsDigit);
}

std::string_view WithoutDeleted(std::string_view name) {
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name;
}

}  // namespace perftape::perfdata

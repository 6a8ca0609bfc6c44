// SPDX-License-Identifier: Apache-2.0
// What the process records (COMM, FORK, EXIT, MMAP, MMAP2, KSYMBOL, CGROUP, NAMESPACES) say about
// who is who and what is mapped where, kept up to date as records are applied in time order.
// Recording needs it for the build ids of what was hit, converting for names; so it lives with the
// format that tells it. BPF_EVENT repeats what KSYMBOL says, and TEXT_POKE changes what the
// kernel's code is, not where: neither moves an address to another dso or offset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// A file, or a named piece of memory, as mapped: equal things share one Dso, so its address is an
// identity for as long as the Processes live.
struct Dso {
  std::string path;  // "/usr/bin/ls", "[vdso]", "//anon", "[kernel.kallsyms]", "[nf_tables]"
  BuildId build_id;  // from MMAP2 with build id or HEADER_BUILD_ID, empty where unknown
  bool is_kernel = false;
  std::uint64_t device = 0, inode = 0;  // major << 32 | minor; 0 where unknown
  std::string symbol;  // of a KSYMBOL: the one function that it holds; empty for all others
  // Of code that a just-in-time compiler has dumped to `path`: which of the dumps it is. Offsets
  // are then those of the code in the dump.
  static constexpr std::uint32_t kNoDump = 0xffffffff;
  std::uint32_t dump = kNoDump;

  // "ls", "nf-tables.ko", "[kernel.kallsyms]", "[unknown]" for memory without a name.
  std::string_view base_name() const;
};

// A mapped range. file_offset of an address is address - start + page_offset.
struct Region {
  std::uint64_t start = 0, end = 0, page_offset = 0;
  const Dso* dso = nullptr;

  bool Contains(std::uint64_t address) const { return start <= address && address < end; }
  bool operator==(const Region&) const = default;
};

// The ranges of one process (or of the kernel), free of overlap: a new one cuts the old ones. A
// copy costs nothing until one of the two changes: most processes that fork run another program at
// once.
class AddressSpace {
 public:
  void Add(const Region& region);
  // Takes away whatever is mapped in [start, end).
  void Remove(std::uint64_t start, std::uint64_t end);
  // Valid until the next change; null where nothing is mapped.
  const Region* Find(std::uint64_t address) const;
  // The last region that starts at or below the address, whether or not it reaches it; or null.
  const Region* FindBelow(std::uint64_t address) const;
  // A number that no other state of any address space has had: equal generations, equal answers.
  std::uint64_t generation() const { return generation_; }
  // Equal where the same dsos (as one Processes knows them) are mapped in the same way, in whatever
  // process and at whatever time; else different, but for a chance of 1 in 2^64. 0 of an empty one.
  std::uint64_t fingerprint() const { return fingerprint_; }
  std::size_t size() const { return regions_ ? regions_->size() : 0; }

 private:
  using Regions = std::map<std::uint64_t, Region>;  // by start

  // The regions, shared with no other address space.
  Regions& Own();
  Regions::iterator Insert(const Region& region);

  std::shared_ptr<Regions> regions_;  // null where there never were any
  std::uint64_t generation_ = 0;
  std::uint64_t fingerprint_ = 0;  // the sum of those of the regions
};

// Memory follows the processes that live at one time, not those that a recording ever saw: of the
// latter only the names of their threads are kept.
class Processes {
 public:
  // Samples may still come after their process has ended (EXIT), if only since records without a
  // time come out of order. So what was mapped is kept until so many more processes have ended.
  static constexpr std::size_t kEndedButKept = 256;

  // Takes any record; those that say nothing about processes change nothing. Damaged ones are
  // ignored. Call it in time order.
  void Apply(const RecordView& record, const SampleFormat& format);

  // The same for what no record tells: from now on the process has compiled code in [start, end) of
  // `range`, whose page_offset is that of the code in the dump `dso`. Memory without a file that is
  // mapped there later does not hide it, since compilers change the protection of such memory, of
  // which MMAP2 tells as of a new mapping; `perf inject --jit` leaves these records out, too.
  void MapCode(std::uint32_t pid, const Region& range, const Dso& dso);

  // The name of a thread now: ":TID" where none is known, "swapper" for 0. Valid until the next
  // Apply.
  std::string_view CommOf(std::uint32_t tid);

  // The same where COMM or FORK told it; null where none did. Lives as long as the Processes.
  const std::string* KnownCommOf(std::uint32_t tid) const;

  // The path of a control group, by the id that samples have; empty where none is known. Valid
  // until the next Apply.
  std::string_view CgroupOf(std::uint64_t id) const;

  // The namespaces that a process is in now, one for each kind of Namespaces; null where the
  // recording does not say. Valid until the next Apply.
  using NamespaceLinks = std::array<NamespaceLink, Namespaces::kKinds>;
  const NamespaceLinks* NamespacesOf(std::uint32_t pid) const;

  // What is mapped for a process, or in the kernel, now. Never null; empty for an unknown process.
  const AddressSpace& UserSpace(std::uint32_t pid) const;
  // The compiled code of a process (MapCode), which is no part of that.
  const AddressSpace& UserCode(std::uint32_t pid) const;
  const AddressSpace& kernel() const { return kernel_; }

  // The process whose mappings the last Apply gave up, as one of too many that have ended.
  std::optional<std::uint32_t> forgotten() const { return forgotten_; }

  // The region of an address in the given mode; null where nothing is mapped, for kUnknown and for
  // the modes of hypervisor and guests. The kernel's own region reaches up to the next one, beyond
  // what its record says, as in perf (maps__fixup_end): init text lies behind _etext.
  const Region* Find(std::uint32_t pid, CpuMode mode, std::uint64_t address) const;

 private:
  struct Process {
    AddressSpace space;
    AddressSpace code;                                 // compiled; it hides what `space` has there
    std::shared_ptr<const NamespaceLinks> namespaces;  // shared with those it forked; may be null
    std::uint32_t threads = 0;                         // that are known to live
    std::uint64_t ended = 0;  // the how manieth end it was, while it is kept; 0 of one that lives
  };
  struct Thread {
    const std::string* comm = nullptr;  // null where none is known
    std::uint32_t pid = 0;
    bool lives = false;
  };
  struct Ended {
    std::uint32_t pid = 0;
    std::uint64_t number = 0;
  };

  void Map(std::uint32_t pid, CpuMode mode, const Region& range, const Dso& dso);
  const Dso* Intern(const Dso& dso);
  void ApplyFork(const Fork& fork, std::uint16_t misc);
  void ApplyComm(const Comm& comm, std::uint16_t misc);
  void ApplyExit(const Exit& exit);
  void ApplyKsymbol(const Ksymbol& symbol);
  void ApplyNamespaces(const Namespaces& namespaces);
  // A record tells that this thread lives.
  Thread& Meet(std::uint32_t pid, std::uint32_t tid);
  const std::string* Intern(std::string_view comm);

  AddressSpace kernel_;
  std::unordered_map<std::uint32_t, Process> processes_;  // by pid
  std::unordered_map<std::uint32_t, Thread> threads_;     // by tid
  std::set<std::string, std::less<>> comms_;
  std::unordered_map<std::uint64_t, std::string> cgroups_;  // by id
  std::deque<Ended> ended_;  // those of processes_ that have ended, the latest last
  std::uint64_t ends_ = 0;
  std::optional<std::uint32_t> forgotten_;
  std::map<std::string, std::unique_ptr<Dso>, std::less<>>
      dsos_;  // by a key of path, inode and mode
};

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// Keeps the threads, names and mappings of all processes up to date, from the process records
// (COMM, FORK, EXIT, MMAP, MMAP2, KSYMBOL, CGROUP) applied in time order. The recorder uses it for
// the build ids of sampled binaries, the importer for names. BPF_EVENT repeats the facts of
// KSYMBOL, and TEXT_POKE changes code but no address, so both are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// A mapped file or named memory. Processes owns it and has one Dso for equal files, so the address
// of the Dso identifies the file while the Processes live, or until they forget it (ForgetUnused).
struct Dso {
  std::string path;  // "/usr/bin/ls", "[vdso]", "//anon", "[kernel.kallsyms]", "[nf_tables]"
  BuildId build_id;  // from a MMAP2 with build id or HEADER_BUILD_ID; empty if unknown
  bool is_kernel = false;
  std::uint64_t device = 0, inode = 0;  // major << 32 | minor; 0 if unknown
  std::string symbol;                   // for a KSYMBOL, its function; empty for all others
  // The index of the jitdump, if `path` is one. Offsets are then offsets of code in the dump.
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

// The mapped ranges of one process or of the kernel. They do not overlap: a new range cuts the old
// ones. Copies share their regions until one of them changes, because most processes that fork
// execute another program at once.
class AddressSpace {
 public:
  void Add(const Region& region);
  // Unmaps [start, end).
  void Remove(std::uint64_t start, std::uint64_t end);
  // The region at an address, valid until the next change. Null if nothing is mapped there.
  const Region* Find(std::uint64_t address) const;
  // The last region that starts at or below the address, even if it ends before it. Or null.
  const Region* FindBelow(std::uint64_t address) const;
  // A number that is unique for each state of each address space.
  std::uint64_t generation() const { return generation_; }
  // Equal if the same dsos of one Processes are mapped at the same addresses, in any process at any
  // time. Different address spaces have the same fingerprint with a chance of 1 in 2^64. 0 if
  // empty.
  std::uint64_t fingerprint() const { return fingerprint_; }
  std::size_t size() const { return regions_ ? regions_->size() : 0; }
  // Calls visit(region) for each region, by ascending address.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    if (!regions_) return;
    for (const auto& [start, region] : *regions_) visit(region);
  }

 private:
  using Regions = std::map<std::uint64_t, Region>;  // by start

  // The regions, shared with no other address space.
  Regions& Own();
  Regions::iterator Insert(const Region& region);

  std::shared_ptr<Regions> regions_;  // null before the first region is added
  std::uint64_t generation_ = 0;
  std::uint64_t fingerprint_ = 0;  // the sum of the regions' fingerprints
};

// The state of all threads and processes at the time of the last applied record. Of what has ended,
// thread names and dsos are kept until ForgetUnused.
class Processes {
 public:
  // Samples may come after the EXIT of their process, because records without a time are not
  // sorted. So the mappings of a process are kept until this many more processes have ended.
  static constexpr std::size_t kEndedButKept = 256;

  // Applies one record; the caller passes all records in time order. Records of other types and
  // damaged ones are ignored.
  void Apply(const RecordView& record, const SampleFormat& format);

  // Adds compiled code of a process in [start, end) of `range`, whose page_offset is the offset of
  // the code in the jitdump `dso`. Memory without a file that is mapped there later does not hide
  // the code: compilers change the protection of such memory, and the kernel reports that as a new
  // MMAP2. `perf inject --jit` drops these records, too.
  void MapCode(std::uint32_t pid, const Region& range, const Dso& dso);

  // The current name of a thread: ":TID" if unknown, "swapper" for 0. Valid until the next Apply.
  std::string_view CommOf(std::uint32_t tid);

  // The name that a COMM or FORK gave to the thread, or null. Lives as long as the Processes, or
  // until ForgetUnused.
  const std::string* KnownCommOf(std::uint32_t tid) const;

  // The path of the cgroup with this id (PERF_SAMPLE_CGROUP), or empty. Valid until the next Apply.
  std::string_view CgroupOf(std::uint64_t id) const;

  // The current mappings of a process, or of the kernel. Empty for an unknown process.
  const AddressSpace& UserSpace(std::uint32_t pid) const;
  // The compiled code of a process (MapCode); UserSpace does not contain it.
  const AddressSpace& UserCode(std::uint32_t pid) const;
  const AddressSpace& kernel() const { return kernel_; }

  // The ended process whose mappings the last Apply removed (kEndedButKept).
  std::optional<std::uint32_t> forgotten() const { return forgotten_; }

  // How many processes have ended.
  std::uint64_t ends() const { return ends_; }
  // Removes the mappings of the first `ends` processes that ended, and returns those that had some.
  std::vector<std::uint32_t> ForgetEnded(std::uint64_t ends);

  // Removes the mappings of the processes for which this is true, and returns these.
  std::vector<std::uint32_t> ForgetIf(const std::function<bool(std::uint32_t pid)>& has_ended);

  // What ForgetUnused can make smaller: the number of threads, their names, and dsos.
  std::size_t size() const { return threads_.size() + comms_.size() + dsos_.size(); }
  // Forgets threads that have ended, and the dsos that nothing maps and for which `keeps` is false.
  // Another Dso may get the address of one. It visits all mappings of all processes.
  void ForgetUnused(const std::function<bool(const Dso&)>& keeps);
  // The dsos that a process or the kernel maps.
  std::unordered_set<const Dso*> MappedDsos() const;
  // The paths that several files without a recorded build id had, by device and inode.
  std::set<std::string, std::less<>> PathsOfSeveralFiles() const;

  // The region of an address in the given mode; null if nothing is mapped there, and for modes
  // other than kernel and user. As in perf (maps__fixup_end), the kernel's own region extends
  // beyond the length in its record, up to the next region, because init text follows _etext.
  const Region* Find(std::uint32_t pid, CpuMode mode, std::uint64_t address) const;

 private:
  struct Process {
    AddressSpace space;
    AddressSpace code;          // compiled code; it hides regions of `space`
    std::uint32_t threads = 0;  // the number of known living threads
    std::uint64_t ended = 0;    // the value of ends_ when it ended; 0 while it lives
  };
  struct Thread {
    const std::string* comm = nullptr;   // null if unknown
    const std::string* label = nullptr;  // ":7" for an unknown comm; null: not made yet
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
  // The thread, which is marked as living, because a record mentions it.
  Thread& LivingThread(std::uint32_t pid, std::uint32_t tid);
  const std::string* Intern(std::string_view comm);
  // Removes the mappings of the process that ended first of those that are kept. Nothing if another
  // process has its pid by now.
  std::optional<std::uint32_t> ForgetOldest();

  AddressSpace kernel_;
  std::unordered_map<std::uint32_t, Process> processes_;  // by pid
  std::unordered_map<std::uint32_t, Thread> threads_;     // by tid
  std::set<std::string, std::less<>> comms_;
  std::unordered_map<std::uint64_t, std::string> cgroups_;  // by id
  std::deque<Ended> ended_;  // the ended processes in processes_, the latest last
  std::uint64_t ends_ = 0;
  std::optional<std::uint32_t> forgotten_;
  // By a key of all fields.
  std::map<std::string, std::unique_ptr<Dso>, std::less<>> dsos_;
};

}  // namespace perftape::perfdata

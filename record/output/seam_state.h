// SPDX-License-Identifier: Apache-2.0
// The state of all processes at the end of a file, from which the next file of a rotating recording
// starts: the initial state, changed by each process record that was written since. Reading /proc
// again would describe a later time, and would miss what has ended since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/machine/growth_watch.h"

namespace perftape::record {

// Owns copies of all that it keeps. Memory use depends on the number of processes and mappings that
// exist at a time. Not thread-safe.
class SeamState {
 public:
  // A thread may have samples shortly after its EXIT. It is described for this long after its EXIT.
  static constexpr std::uint64_t kEndedButKeptNs = 1'000'000'000;

  // `format` is the layout of the process records.
  explicit SeamState(const perfdata::SampleFormat& format) : format_(format) {}

  // Applies one record; the caller passes all records in time order, those of the initial state
  // first. Ignores records that change no state, and damaged ones.
  void Apply(const perfdata::RecordView& record);
  // The same for whole records. Returns the errors of RecordCursor.
  Status Apply(Bytes records);

  // Returns the initial state of the next file: the records that
  // EncodeInitialState (initial_state.h) would return if /proc were that of the last applied
  // record. Their time is 0.
  Result<std::vector<std::byte>> Encode() const;

 private:
  struct Mapping {
    perfdata::Mmap2 record;  // its filename is in names_
    std::uint16_t misc = 0;

    std::uint64_t end() const { return record.start + record.length; }
  };
  using Mappings = std::map<std::uint64_t, Mapping>;  // by start; they do not overlap
  struct Process {
    std::uint32_t parent = 0, parent_tid = 0;
    std::shared_ptr<Mappings> mappings = {};  // shared with its children until one changes it
    std::set<std::uint32_t> threads = {};
  };
  struct Thread {
    std::uint32_t pid = 0;
    bool is_forked = false;  // kernel threads of the initial state have no FORK
    std::string comm = {};
    std::vector<std::uint64_t> namespaces = {};
    std::uint64_t ended_ns = 0;  // 0 while it lives
  };
  struct Ended {
    std::uint64_t time_ns = 0;
    std::uint32_t tid = 0;
  };

  void KeepWhole(const perfdata::RecordView& record);
  void ApplyFork(const perfdata::Fork& fork, std::uint16_t misc);
  void ApplyComm(const perfdata::Comm& comm, std::uint16_t misc);
  void ApplyExit(const perfdata::Exit& exit);
  void ApplyMmap2(const perfdata::Mmap2& mmap, std::uint16_t misc);
  void ApplyNamespaces(const perfdata::Namespaces& namespaces);
  void ApplyKsymbol(const perfdata::RecordView& record);
  void ApplyBpfEvent(const perfdata::RecordView& record);
  // The thread, which lives, because a record mentions it.
  Thread& LivingThread(std::uint32_t pid, std::uint32_t tid);
  void Forget(std::uint32_t tid);
  void ForgetEnded(std::uint64_t now_ns);
  static Mappings& OwnMappings(Process& process);
  // Not while a mapping outside of processes_ needs its name.
  std::string_view Intern(std::string_view name);
  void ForgetUnusedNames();

  Status EncodeProcess(std::uint32_t pid, const Process& process,
                       std::vector<std::byte>& out) const;
  Status EncodeThread(std::uint32_t tid, const Process& process, std::vector<std::byte>& out) const;

  perfdata::SampleFormat format_;
  std::vector<std::byte> kernel_;  // ID_INDEX and the mappings of the kernel, as they came
  std::map<std::uint64_t, std::vector<std::byte>> ksymbols_;      // by address
  std::map<std::uint32_t, std::vector<std::byte>> bpf_programs_;  // by id
  std::map<std::uint64_t, std::string> cgroups_;                  // by id
  std::map<std::uint32_t, Process> processes_;                    // by pid
  std::unordered_map<std::uint32_t, Thread> threads_;             // by tid
  std::deque<Ended> ended_;                                       // the latest last
  std::set<std::string, std::less<>> names_;                      // of mappings
  GrowthWatch names_growth_{4096};
};

}  // namespace perftape::record

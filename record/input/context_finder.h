// SPDX-License-Identifier: Apache-2.0
// Finds the contexts of recorded processes (context_ledger.h), in a thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "formats/bundle/noted_processes.h"
#include "formats/perfdata/record.h"
#include "record/input/context_ledger.h"

namespace perftape::record {

// All functions are called by one thread.
class ContextFinder {
 public:
  // Returns the header and the payload of the context of a process; nothing if it has none now.
  using Read = std::function<std::optional<std::vector<std::byte>>(std::uint32_t pid)>;

  // Which processes are searched for a context: those of AddSampled, or also those that AddRecord
  // starts.
  enum class Of : std::uint8_t { kSampled, kStarted };

  // Starts the thread, which calls `read`.
  ContextFinder(Read read, Of of);
  ContextFinder(ContextFinder&&) = delete;
  ContextFinder& operator=(ContextFinder&&) = delete;
  // Waits for the end of a call of `read`.
  ~ContextFinder();

  // The process has a sample. Costs little if it has had one since its start. The idle task (0) and
  // processes of other pid namespaces (WIRE_FOREIGN_PID) are not searched.
  void AddSampled(std::uint32_t pid) {
    if (pid != last_sampled_) AddOther(pid);
  }
  // A record of the kernel: FORK, EXIT or the COMM of an exec. Others change nothing.
  void AddRecord(const perfdata::RecordView& record, const perfdata::SampleFormat& format);

  // Returns what was found so far (ContextLedger::Noted).
  std::vector<bundle::NotedProcess> Noted() const;

 private:
  void AddOther(std::uint32_t pid);
  void Forget(std::uint32_t pid);
  void Look();

  const Read read_;
  const Of of_;
  std::uint32_t last_sampled_ = 0;  // the idle task has no context
  std::unordered_set<std::uint32_t> sampled_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool is_over_ = false;
  ContextLedger ledger_;

  std::thread thread_;
};

}  // namespace perftape::record

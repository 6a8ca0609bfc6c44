// SPDX-License-Identifier: Apache-2.0
// Drains rings on a separate thread between the mapping of a ring and the first flush, into a
// buffer with a limit. Without it the kernel could fill a ring meanwhile and drop records.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::record {

class BackgroundDrain {
 public:
  struct Settings {
    int readable_fd = -1;
    std::chrono::milliseconds interval;
    std::chrono::milliseconds longest_first = std::chrono::hours(1);
    int nice = 0;  // of the thread; below 0 needs CAP_SYS_NICE, and is 0 without it
  };
  // Starts a thread that calls `drain` after each `interval`, and whenever `readable_fd` is
  // readable, until Stop or the first error. Until then only the thread may use what `drain` uses.
  // Returns after the first call, or after `longest_first`.
  static Result<BackgroundDrain> Start(const Settings& settings, std::function<Status()> drain);

  BackgroundDrain(BackgroundDrain&&) noexcept = default;
  BackgroundDrain& operator=(BackgroundDrain&&) = delete;
  ~BackgroundDrain();

  // Ends the thread. Returns the first error of `drain`.
  Status Stop();

 private:
  BackgroundDrain() = default;

  UniqueFd end_;                     // eventfd that ends the thread
  std::unique_ptr<Status> outcome_;  // written by the thread; read it after join
  std::thread thread_;
};

// Records that were copied from rings and are not yet part of the recording. One thread copies them
// while another writes or waits for the disk. Not thread-safe.
class DrainedRecords {
 public:
  // Process events of some ten seconds of a machine that starts programs as fast as it can.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  explicit DrainedRecords(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // True if no more should be copied before Release. The kernel then reports records that do not
  // fit into a ring in a LOST record.
  bool is_full() const { return copied_.size() >= most_bytes_; }
  // Appends a copy of a whole record.
  void Add(Bytes record);

  // Returns all records since the last call, one after another. Valid until the next call; Add
  // does not change it.
  Bytes Release();

 private:
  std::size_t most_bytes_;
  std::vector<std::byte> copied_;
  std::vector<std::byte> released_;
};

}  // namespace perftape::record

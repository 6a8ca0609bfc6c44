// SPDX-License-Identifier: Apache-2.0
// The options of the output: those of every output, of a rotation, and of a flight recording.
#pragma once

#include <sys/eventfd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "record/output/retention.h"
#include "record/symbols/binary_sink.h"
#include "record/symbols/recording_bundle.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

struct OutputOptions {
  // A stream (output_target.h) gets pipe format. If there are several files, this is a pattern of
  // names (name_pattern.h).
  std::filesystem::path file = "perf.data";
  std::uint64_t reserved_space = 0;  // bytes of the disk to keep free
  bool sync = false;                 // each round is on the disk before the next begins
  // Equal samples within this time become one (sample_aggregator.h).
  std::optional<std::chrono::nanoseconds> aggregate;
  std::optional<int> compression_level;   // zstd level, 1 to 22; nothing: no compression
  bool build_ids = true;                  // whether those of binaries that samples hit are read
  BundleRequest bundle;                   // ignored for a pipe, except for a separate file
  std::vector<std::string> command_line;  // of the recorder itself: the CMDLINE feature
};

// A request from another thread: a rotating recording begins its next file now, or a flight
// recording writes one. Thread-safe.
class SwitchRequest {
 public:
  SwitchRequest() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void Request() { (void)eventfd_write(fd_.get(), 1); }
  // Returns whether there was a request since the last call.
  bool Consume() {
    eventfd_t count = 0;
    return eventfd_read(fd_.get(), &count) == 0;
  }
  // Becomes readable when there is a request. It belongs to this object.
  int poll_fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// The options of a recording that writes more than one file.
struct FileSeriesOptions {
  // Null: files are never requested. Must outlive the recording.
  SwitchRequest* request = nullptr;
  RetentionLimits keep = {};
  // Run by the shell for each finished file, whose path is appended as an argument. May be empty.
  std::string exec_on_switch = {};
  // Called with the path of each finished file by the thread that records: it must return soon. May
  // be empty.
  std::function<void(const std::filesystem::path&)> on_file = {};
  // Called by the same thread at the first sample in each binary that has a build id, before the
  // file with this sample is finished. May be empty.
  BinarySink on_binary = {};
};

struct RotationOptions {
  // A file ends when it has this size, or after this time. A request ends it at once, too.
  std::optional<std::uint64_t> switch_bytes = {};
  std::optional<std::chrono::nanoseconds> switch_interval = {};
  FileSeriesOptions files = {};
};

inline constexpr std::uint64_t kUsualFlightMemory = std::uint64_t{256} << 20;

// The last seconds stay in memory until a trigger or a request writes them.
struct FlightOptions {
  std::chrono::nanoseconds span{};            // what is kept
  std::uint64_t memory = kUsualFlightMemory;  // for records, in bytes; the oldest go first
  std::vector<TriggerSpec> triggers = {};
  // After a file, triggers write none for this long; nothing: as long as the span.
  std::optional<std::chrono::nanoseconds> cooldown = {};
  FileSeriesOptions files = {};
};

}  // namespace perftape::record

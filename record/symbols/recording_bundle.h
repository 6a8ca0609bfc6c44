// SPDX-License-Identifier: Apache-2.0
// The bundle of a recording that runs: what is hit is kept at hand from the start, and written when
// the recording itself is finished and safe.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"
#include "record/symbols/write_bundle.h"

namespace perftape::record {

struct BundleRequest {
  enum class Place : std::uint8_t {
    kNone,
    kInRecording,  // behind what perf reads of it
    kAside,        // in `file`
  };
  Place place = Place::kInRecording;
  std::filesystem::path file = {};
  BundleDepth depth = BundleDepth::kSymbols;
};

class RecordingBundle {
 public:
  // Makes sure that a file aside can be written, which gets its name only when it is complete.
  static Result<RecordingBundle> Prepare(const BundleRequest& request);

  RecordingBundle(RecordingBundle&&) noexcept = default;
  RecordingBundle& operator=(RecordingBundle&&) = delete;

  HitFiles& files() { return *files_; }
  JitFiles& jit() { return *jit_; }

  // Writes the bundle: behind the recording, a finished file that is open for reading and writing
  // as `recording`, or aside, where an existing file is kept as FILE.old. `name` is for messages. A
  // recording that the bundle does not fit behind is as it was before. kIo where the disk is full.
  Result<BundleSummary> Write(int recording, std::string_view name) &&;

 private:
  explicit RecordingBundle(BundleRequest request);
  Result<BundleSummary> WriteInto(int recording, std::string_view name);
  Result<BundleSummary> WriteAside();
  Result<BundleSummary> WriteTo(UniqueFd fd);

  BundleRequest request_;
  std::optional<OutputFile> aside_;
  std::unique_ptr<HitFiles> files_;  // where they are when this is moved
  std::unique_ptr<JitFiles> jit_;
};

}  // namespace perftape::record

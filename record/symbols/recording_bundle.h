// SPDX-License-Identifier: Apache-2.0
// The bundle of a running recording. Binaries that samples hit are kept open from the start. The
// bundle is written when the recording is finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "record/symbols/hit_files.h"
#include "record/symbols/jit_files.h"
#include "record/symbols/others_files.h"
#include "record/symbols/write_bundle.h"

namespace perftape::record {

struct BundleRequest {
  enum class Destination : std::uint8_t {
    kNone,
    kRecording,     // appended after the data that perf reads
    kSeparateFile,  // written to `file`
  };
  Destination destination = Destination::kRecording;
  std::filesystem::path file = {};
  BundleDepth depth = BundleDepth::kSymbols;
  // A bundle that leaves fewer bytes of the disk free than this is removed again.
  std::uint64_t reserved_space = 0;
  std::shared_ptr<OthersFiles> others = std::make_shared<OthersFiles>();  // opens what users chose
};

// Appends the notes without a bundle to a finished recording, open for reading and writing. If they
// do not fit, the recording is restored, and the error returned.
Status AppendNotes(int recording, std::string_view name, const bundle::RecordingNotes& notes);

class RecordingBundle {
 public:
  // Checks that a separate file can be written. The file gets its name when it is complete.
  static Result<RecordingBundle> Prepare(const BundleRequest& request);

  RecordingBundle(RecordingBundle&&) noexcept = default;
  RecordingBundle& operator=(RecordingBundle&&) = delete;

  // Returns the bundle of the next file of a rotating recording. It shares the open binaries of
  // this one. From now on, this one keeps its slim copies for the next.
  RecordingBundle NextFile();

  // The bundled files. Both stay at their address when this object is moved.
  HitFiles& files() { return *files_; }
  JitFiles& jit() { return *jit_; }

  bool is_separate_file() const {
    return request_.destination == BundleRequest::Destination::kSeparateFile;
  }

  // Writes the bundle to its destination, with `notes`. `recording` is the finished recording, open
  // for reading and writing; `name` is its name for messages. An existing separate file is kept as
  // FILE.old. If the disk has no room for the bundle and BundleRequest::reserved_space, the
  // recording is restored. Fails with kIo if the disk is full.
  Result<BundleSummary> Write(int recording, std::string_view name,
                              const bundle::RecordingNotes& notes) &&;

 private:
  explicit RecordingBundle(BundleRequest request);
  Result<BundleSummary> AppendTo(int recording, std::string_view name,
                                 const bundle::RecordingNotes& notes);
  Result<BundleSummary> WriteSeparateFile(const bundle::RecordingNotes& notes);
  Result<BundleSummary> WriteTo(UniqueFd fd, const bundle::RecordingNotes& notes);

  BundleRequest request_;
  NextBundle next_ = NextBundle::kNone;
  std::optional<OutputFile> separate_file_;
  std::unique_ptr<HitFiles> files_;
  std::unique_ptr<JitFiles> jit_;
};

}  // namespace perftape::record

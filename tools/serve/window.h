// SPDX-License-Identifier: Apache-2.0
// A window: what was recorded between two cuts of the continuous recording. The importer sends
// windows to the server through a stream, each as a header, the notes of the recording
// (formats/bundle/recording_notes.h) and a profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "convert/export/to_pprof.h"
#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"

namespace perftape::serve {

// How profiles of windows are encoded: often, and read seldom.
inline constexpr convert::PprofOptions kWindowEncoding = {.symbol_offsets = true, .level = 1};

// Several that were merged are one. Times are of CLOCK_MONOTONIC.
struct Window {
  std::uint64_t start_ns = 0, end_ns = 0;
  // The profile with names, a pprof file with offsets in symbols; empty if there are no samples.
  std::vector<std::byte> profile = {};
};

// A window as the importer sends it.
struct ImportedWindow {
  Window window = {};
  bundle::RecordingNotes notes = {};
  // What the processes used so far.
  std::uint64_t recorder_cpu_ns = 0, importer_cpu_ns = 0;
  // Windows so far that could not be imported, or were deleted before.
  std::uint64_t failed_windows = 0;
};

// Fails as writing does.
Status WriteWindow(int fd, const ImportedWindow& window);
// Returns the next window, or nothing at the end of the stream. Fails with kCorrupt for bytes that
// WriteWindow does not write, and with kIo.
Result<std::optional<ImportedWindow>> ReadWindow(int fd);

}  // namespace perftape::serve

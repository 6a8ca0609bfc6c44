// SPDX-License-Identifier: Apache-2.0
// A window: what was recorded between two cuts of the continuous recording. The importer sends
// windows to the server, each as a file in memory (channels/notice.h): a header, the notes of the
// recording (formats/bundle/recording_notes.h) and a profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/export/to_pprof.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "tools/serve/channels/notice.h"

namespace perftape::serve {

// How profiles of windows are encoded: often, and read seldom.
inline constexpr convert::PprofOptions kWindowEncoding = {.symbol_offsets = true, .level = 1};

// A window whose bytes another object has. Several that were merged are one. Times are of
// CLOCK_MONOTONIC.
struct WindowView {
  std::uint64_t start_ns = 0, end_ns = 0;
  // The profile with names, a pprof file with offsets in symbols; empty if there are no samples.
  Bytes profile = {};
};

struct Window {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::vector<std::byte> profile = {};

  operator WindowView() const {
    return {.start_ns = start_ns, .end_ns = end_ns, .profile = profile};
  }
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

// Sends a window. Waits until the channel has room. Fails as SendNotice and writing do.
Status SendWindow(int channel, const ImportedWindow& window);
// Returns the window in a notice. Fails with kCorrupt for bytes that SendWindow does not write, and
// as TextOf does.
Result<ImportedWindow> WindowIn(const Notice& notice);

}  // namespace perftape::serve

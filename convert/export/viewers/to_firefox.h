// SPDX-License-Identifier: Apache-2.0
// Profile -> the processed format of the Firefox Profiler, https://profiler.firefox.com
// (docs-developer/processed-profile-format.md and src/types/profile.ts of its sources). The version
// is 60, the first one in which threads share tables of functions and stacks. Newer readers upgrade
// it.
//
// Each event has threads of its own. A weight is a sample's period: in milliseconds if its unit is
// a time, else in bytes or as a number of samples, which are the other units that the format has.
#pragma once

#include <cstdint>

#include "convert/export/to_folded.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

enum class FirefoxCompression : std::uint8_t { kNone, kGzip };

struct FirefoxOptions {
  FirefoxCompression compression = FirefoxCompression::kNone;
  convert::TaskEvents events = {};  // shown as markers
};

// Writes all events that have samples. Of `options`, uses `value`. Times are those of the labels
// "timestamp_ns" (firefox_threads.h). Fails as the output does, and with kIo if memory runs out.
Status WriteFirefox(const convert::Profile& profile, const convert::FoldedOptions& options,
                    const FirefoxOptions& own, OutputFile& out);

}  // namespace perftape::viewers

// SPDX-License-Identifier: Apache-2.0
// Profile -> the files of other viewers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

// What an exported file cannot hold.
struct ViewReport {
  std::uint64_t negative_samples = 0;  // samples with a negative number, which are left out
  std::vector<std::string> rounded_events = {};  // whose numbers had decimals
};

// Profile -> the file format of speedscope, https://www.speedscope.app/file-format-schema.json. Its
// profiles have the type "sampled". speedscope shows a file in time order. If samples have times,
// each event and thread becomes a profile with all its samples. Otherwise each event becomes a
// profile in which equal stacks are one sample.
//
// Writes all events that have samples. Of `options`, uses `value`, and `root` if there are no
// times. Fails as the output does.
Result<ViewReport> WriteSpeedscope(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, OutputFile& out);

// Profile -> callgrind's format, for callgrind_annotate and KCachegrind
// (https://valgrind.org/docs/manual/cl-format.html). Each event is a column of costs.
//
//   fl=(1) /src/main.c     the source file, "???" if unknown; "[thread]" of a root frame
//   fn=(1) main            the second level of a recursion is "main'2"
//   12 100                 line 12 costs 100 itself
//   cfn=(2) work           line 13 calls work, which costs 900 with what it calls
//   calls=1 0
//   13 900
//
// Samples do not show how often a function was called. The number of calls is 1, because
// callgrind_annotate 3.19 counts the costs of 0 calls as those of the line itself.
//
// Writes all events that have samples. Of `options`, uses `value` and `root`. Inlined functions are
// functions that are called. Numbers with decimals are rounded. Fails as the output does.
Result<ViewReport> WriteCallgrind(const convert::Profile& profile,
                                  const convert::FoldedOptions& options, OutputFile& out);

enum class FirefoxCompression : std::uint8_t { kNone, kGzip };

struct FirefoxOptions {
  FirefoxCompression compression = FirefoxCompression::kNone;
  convert::TaskEvents events = {};  // shown as markers
};

// Profile -> the processed format of the Firefox Profiler, https://profiler.firefox.com
// (docs-developer/processed-profile-format.md and src/types/profile.ts of its sources). The version
// is 60, the first one in which threads share tables of functions and stacks. Newer readers upgrade
// it.
//
// Each event has threads of its own. A weight is a sample's period: in milliseconds if its unit is
// a time, else in bytes or as a number of samples, which are the other units that the format has.
//
// Writes all events that have samples. Of `options`, uses `value`. Times are those of the labels
// "timestamp_ns" (firefox_threads.h). Fails as the output does, and with kIo if memory runs out.
Status WriteFirefox(const convert::Profile& profile, const convert::FoldedOptions& options,
                    const FirefoxOptions& own, OutputFile& out);

// Profile -> the .cpuprofile format of V8, which VS Code and the Chrome DevTools open
// (formats/json_profiles/cpuprofile.h shows it). A file has one event. Each stack is one sample
// that lasts as long as the event's number says: nanoseconds become microseconds, and any other
// unit is written as if it were microseconds. The url of a function is its source file, or its
// binary.
//
// Writes options.event, or the first event with samples. Equal profiles become equal files.
Result<ViewReport> WriteCpuProfile(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, OutputFile& file);

}  // namespace perftape::viewers

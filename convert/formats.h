// SPDX-License-Identifier: Apache-2.0
// The table of formats that a profile can be read from and written to. A new format is one row.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/export/to_perfdata.h"
#include "convert/export/to_pprof.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/rewrite/normalize.h"
#include "formats/base/input.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The options of all writers. Each writer reads its own.
struct WriteOptions {
  IfExists if_exists = IfExists::kRefuse;
  FoldedOptions folded = {};
  PprofOptions pprof = {};
  PerfDataOptions perfdata = {};  // its if_exists is the one above
};

// "labels without a place in a perf.data: thread_id"
using Losses = std::vector<std::string>;

// The names of the formats.
inline constexpr std::string_view kPerfDataFormat = "perf.data";
inline constexpr std::string_view kFoldedFormat = "folded";
inline constexpr std::string_view kPprofFormat = "pprof";

struct Format {
  std::string_view name;                      // one of the above
  std::span<const std::string_view> endings;  // of the names of its files, with the dot
  // Whether it can be printed to a terminal.
  bool is_text = false;
  // Of a recording: its frames are addresses, which names are looked up for, and it has a time
  // line, which only its own `rewrite` keeps.
  bool is_recording = false;
  // Whether a file has one number for each stack, and so samples of one event.
  bool holds_one_value = false;
  // Whether the input is of this format. Null if the format cannot be read; then `read` is, too.
  bool (*matches)(const Input& input);
  Result<Profile> (*read)(Input& input, const ImportOptions& options, ImportReport& report);
  // The same format anew, record by record, so that what no profile holds is kept: each sample's
  // time, the records between. Null where there is none. `output` is a path, "-" for stdout.
  Result<rewrite::NormalizeReport> (*rewrite)(Input& input, const std::filesystem::path& output,
                                              const rewrite::NormalizeOptions& options);
  // `output` is a path, "-" for stdout. Equal profiles become equal bytes. What the format cannot
  // hold of this one comes back, a line for each thing. Null where the format is not written.
  Result<Losses> (*write)(const Profile& profile, const WriteOptions& options,
                          const std::filesystem::path& output);
};

std::span<const Format> AllFormats();

// The one that reads the input, as its first bytes say; its name does not matter. Null where none
// does.
const Format* DetectFormat(const Input& input);

// Input::Open, with what is compressed in it where gzip, bzip2, xz or zstd compressed a whole file;
// a pprof is a gzip file of its own, and stays one.
Result<Input> OpenInput(const std::filesystem::path& path);

// The format with this name, or null.
const Format* FindFormat(std::string_view name);

// The one that a file is written in whose name, or path, ends so: the longest ending wins. Null
// where none fits.
const Format* FormatByEnding(std::string_view path);

}  // namespace perftape::convert

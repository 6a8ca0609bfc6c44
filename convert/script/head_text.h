// SPDX-License-Identifier: Apache-2.0
// The beginning of the line of a sample or record: comm, thread, CPU, time
// (tools/perf/builtin-script.c, perf_sample__fprintf_start).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "convert/script/options.h"
#include "formats/perfdata/record.h"

namespace perftape::listing {

struct Head {
  std::string_view comm;
  std::uint32_t pid = 0, tid = 0, cpu = 0;
  std::uint64_t time = 0;
  perfdata::RecordType type = {};
  std::uint16_t misc = 0;
};

// Where the comm ends: a line with a callchain below it has no blanks before the comm.
enum class CommForm : std::uint8_t { kPadded, kBare };

class HeadText {
 public:
  explicit HeadText(const Options& options) : options_(options) {}

  // Appends the fields of `fields` that a head has. Times since the previous head count from the
  // last call.
  void Append(std::string& out, const Head& head, FieldSet fields, CommForm comm);

 private:
  void AppendTime(std::string& out, std::uint64_t time);

  const Options& options_;
  std::optional<std::uint64_t> reference_;  // for times since the first or the previous one
};

}  // namespace perftape::listing

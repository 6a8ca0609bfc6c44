// SPDX-License-Identifier: Apache-2.0
// Names of just-in-time compiled code from /tmp/perf-PID.map. Anybody may put a file there, so only
// one that belongs to root, to who runs this, or to who runs the process counts, and only if nobody
// else may write to it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "convert/symbolize/symbolizer.h"
#include "formats/perf_map/perf_map.h"

namespace perftape {

// Whether `filename` is of memory that no file stands behind ("//anon", "[heap]", "/memfd:…"), or
// of a perf map, by which perf calls such memory.
bool IsJitMemory(std::string_view filename);

// Reads `path` for process `pid`, if it may be trusted; kPermission with the reason if not.
Result<PerfMap> ReadTrustedPerfMap(const std::filesystem::path& path, std::uint32_t pid);

class PerfMapSymbolizer : public Symbolizer {
 public:
  explicit PerfMapSymbolizer(std::filesystem::path directory = "/tmp");

  // The process is the one in the name of the mapping (".../perf-123.map"), or the only one whose
  // samples came by it. A mapping of several processes gets no names.
  Result<Resolution> Resolve(const Profile& profile, MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  const Result<PerfMap>& MapOf(std::uint32_t pid);

  std::filesystem::path directory_;
  std::map<std::uint32_t, Result<PerfMap>> maps_;  // by pid
};

}  // namespace perftape

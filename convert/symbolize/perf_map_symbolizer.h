// SPDX-License-Identifier: Apache-2.0
// Names JIT code from perf-PID.map. A map has no times: the last code compiled at an address names
// all samples there. If there is a jitdump, frames already have names (convert/import/jit_code.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/symbolize/jit_file_search.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/perf_map/perf_map.h"

namespace perftape::symbolize {

// Returns the processes of a profile whose memory may contain JIT code, and for which this machine
// may have perf maps, sorted.
std::vector<std::uint32_t> ProcessesWithPerfMaps(const convert::Profile& profile);

class PerfMapSymbolizer : public Symbolizer {
 public:
  // For the processes of one recording, whose maps are searched in `search_path`.
  explicit PerfMapSymbolizer(JitSearchPath search_path) : search_path_(std::move(search_path)) {}

  // An offset belongs to the process in the name of the mapping (".../perf-123.map"), or to all
  // processes whose samples contain it. If several of these have maps, the maps must agree.
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

 private:
  struct Opened {
    Result<perf_map::PerfMap> map;
    std::string source = {};
  };
  using Pids = std::vector<std::uint32_t>;

  const Opened& MapOf(std::uint32_t pid);
  const Pids& OwnersOf(const convert::Profile& profile, convert::MappingId mapping,
                       FileOffset offset);
  void CollectOwners(const convert::Profile& profile);

  JitSearchPath search_path_;
  std::map<std::uint32_t, Opened> maps_;  // by pid
  std::uint64_t bytes_read_ = 0;          // sum of all maps
  // The processes whose samples contain an offset in memory without a file. Computed for the
  // profile owners_of_.
  std::optional<convert::Profile> owners_of_;
  std::map<std::pair<convert::MappingId, FileOffset>, Pids> owners_;
};

}  // namespace perftape::symbolize

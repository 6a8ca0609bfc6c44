// SPDX-License-Identifier: Apache-2.0
// The addresses of a profile's frames in a perf.data that is made from it.
//
// A frame with a name gets an address of its own in kernel mode (converted.h), so that a KSYMBOL
// record can name it. Equal names share an address. If symbol files are written too, a user frame
// gets an address in such a file instead; there equal names in files of one path share an address.
// A frame without a name keeps its address and mapping if possible. Otherwise it gets a name,
// "[libc.so.6]".
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/rank.h"
#include "convert/export/symbol_files.h"
#include "convert/model/profile.h"
#include "formats/base/build_id.h"
#include "formats/perfdata/abi.h"

namespace perftape::convert {

// A function with an address of its own.
struct PlannedFunction {
  std::uint64_t address = 0;
  std::string_view name = {};  // lives as long as the plan and its profile
};

// A mapped part of a file that has frames.
struct PlannedMapping {
  std::uint64_t start = 0, size = 0, file_offset = 0;
  std::string_view filename = {};  // lives as long as the plan and its profile
  BuildId build_id = {};
  MappingKind kind = MappingKind::kUser;
};

// Where the names of user frames are written: in the perf.data, or in files beside it.
enum class NamesIn : std::uint8_t { kKsymbols, kSymbolFiles };

// One frame: a location whose calls were inlined has several, innermost first.
struct PlannedFrame {
  static constexpr std::uint32_t kNoMapping = static_cast<std::uint32_t>(-1);

  perfdata::CpuMode mode = perfdata::CpuMode::kUser;
  // Readers take 1 from the address of a caller (it is where the call returns to). An address of
  // our own choice stays in its function then, one that was kept needs 1 more.
  bool is_kept = false;
  std::uint32_t mapping = kNoMapping;  // index in mappings()
  std::uint64_t address = 0;
};

class AddressPlan {
 public:
  // For the frames of all samples. Equal profiles get equal plans; `ranks` are the profile's. Names
  // are views of the profile's texts, or of the plan's.
  AddressPlan(const Profile& profile, const Ranks& ranks, NamesIn names_in);

  std::span<const PlannedFunction> functions() const { return functions_; }
  std::span<const PlannedMapping> mappings() const { return mappings_; }
  std::span<const SymbolFile> symbol_files() const { return symbol_files_; }
  // Of a location that some sample leads to.
  std::span<const PlannedFrame> FramesOf(LocationId location) const {
    const std::size_t first = first_frame_[location.index];
    return std::span(frames_).subspan(first, first_frame_[location.index + 1] - first);
  }

  // Locations whose address could not be kept.
  std::uint64_t displaced() const { return displaced_; }

 private:
  class Maker;

  std::vector<PlannedFunction> functions_;
  std::vector<PlannedMapping> mappings_;
  std::vector<SymbolFile> symbol_files_;
  std::vector<PlannedFrame> frames_;      // of the locations, in their order
  std::vector<std::size_t> first_frame_;  // by location, and one behind
  std::deque<std::string> own_names_;
  std::uint64_t displaced_ = 0;
};

}  // namespace perftape::convert

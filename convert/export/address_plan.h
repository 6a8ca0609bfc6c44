// SPDX-License-Identifier: Apache-2.0
// The addresses that a profile's frames get when the profile is written as a perf.data.
//
// A named frame gets an address of its own in kernel mode (converted.h), so that a KSYMBOL record
// can name it. Equal names share an address. If symbol files are written too, a user frame gets an
// address in such a file instead. Equal names in files of one path share an address. A frame
// without a name keeps its address and mapping if possible. Otherwise it gets a name,
// "[libc.so.6]".
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/generated_symbols.h"
#include "convert/export/rank.h"
#include "convert/model/profile.h"
#include "formats/base/build_id.h"
#include "formats/perfdata/abi.h"

namespace perftape::convert {

// A function with an address of its own.
struct PlannedFunction {
  std::uint64_t address = 0;
  std::string_view name = {};  // valid as long as the plan and its profile
};

// A mapped range of a file that contains frames.
struct PlannedMapping {
  std::uint64_t start = 0, size = 0, file_offset = 0;
  std::string_view filename = {};  // valid as long as the plan and its profile
  BuildId build_id = {};
  MappingType type = MappingType::kUser;
};

// Where the names of user frames are written: in the perf.data, or in separate symbol files.
enum class NamesIn : std::uint8_t { kKsymbols, kSymbolFiles };

// One frame. A location with inlined calls has several frames, innermost first.
struct PlannedFrame {
  static constexpr std::uint32_t kNoMapping = static_cast<std::uint32_t>(-1);

  perfdata::CpuMode mode = perfdata::CpuMode::kUser;
  // Readers subtract 1 from the address of a caller, because it is a return address. An address
  // that the plan chose is still in its function after that. To an address that was kept, 1 must be
  // added.
  bool is_kept = false;
  std::uint32_t mapping = kNoMapping;  // index in mappings()
  std::uint64_t address = 0;
};

class AddressPlan {
 public:
  // Plans the frames of all samples. Equal profiles get equal plans. `ranks` are the ranks of
  // `profile`. Names are views of the profile's texts or of the plan's own.
  AddressPlan(const Profile& profile, const Ranks& ranks, NamesIn names_in);

  std::span<const PlannedFunction> functions() const { return functions_; }
  std::span<const PlannedMapping> mappings() const { return mappings_; }
  std::span<const GeneratedSymbolFile> symbol_files() const { return symbol_files_; }
  // The frames of a location that is in the stack of a sample, innermost first.
  std::span<const PlannedFrame> FramesOf(LocationId location) const {
    const std::size_t first = first_frame_[location.index];
    return std::span(frames_).subspan(first, first_frame_[location.index + 1] - first);
  }

  // The number of locations whose address could not be kept.
  std::uint64_t displaced() const { return displaced_; }

 private:
  class Maker;

  std::vector<PlannedFunction> functions_;
  std::vector<PlannedMapping> mappings_;
  std::vector<GeneratedSymbolFile> symbol_files_;
  std::vector<PlannedFrame> frames_;      // grouped by location, in the order of locations
  std::vector<std::size_t> first_frame_;  // by location, plus the end of the last one
  std::deque<std::string> own_names_;
  std::uint64_t displaced_ = 0;
};

}  // namespace perftape::convert

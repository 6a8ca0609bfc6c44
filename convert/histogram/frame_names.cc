// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/frame_names.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "convert/model/mappings_without_files.h"
#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::histogram {

using convert::Location;
using convert::LocationId;
using convert::MappingId;

void FrameNames::SetDso(const Location& location, Known& known) {
  Frame& frame = known.frame;
  frame.address = location.offset.value;
  if (location.mapping == MappingId{}) {
    frame.level = IsInKernelHalf(frame.address) ? 'k' : '.';
    return;
  }
  const convert::Mapping& mapping = profile_[location.mapping];
  const bool is_kernel = mapping.type == convert::MappingType::kKernel;
  frame.level = is_kernel ? 'k' : '.';
  if (convert::IsHiddenKernel(profile_, mapping)) {
    frame.level = 'k';
    return;
  }
  const std::string path(profile_.text(mapping.filename));
  known.is_generated = perfdata::IsPerfMapMemory(path);
  const perfdata::Dso dso{.path = path, .build_id = {}, .symbol = {}};
  const std::string module = is_kernel ? perfdata::ModuleNameOf(path) : "";
  frame.dso = module.empty() ? names_.texts.Add(dso.base_name())
                             : names_.texts.Add(fmt::format("[{}]", module));
}

void FrameNames::SetLine(const convert::Line& line, Frame& frame) {
  const std::string_view file = profile_.text(profile_[line.function].filename);
  if (file.empty() || line.number == 0) return;
  frame.srcline = names_.texts.Add(fmt::format("{}:{}", file, line.number));
  frame.srcfile = names_.texts.Add(file);
}

const FrameNames::Known& FrameNames::Find(LocationId id) {
  std::optional<Known>& slot = known_[id.index];
  if (slot) return *slot;
  Known& known = slot.emplace();
  const Location& location = profile_[id];
  SetDso(location, known);
  for (std::size_t i = 0; i < location.lines.size(); ++i) {
    const convert::Line& line = location.lines[i];
    const bool is_last = i + 1 == location.lines.size();
    if (!convert::HasName(profile_, location, line)) continue;
    Frame frame = known.frame;
    frame.symbol =
        names_.symbols.Add({.name = names_.texts.Add(profile_.text(profile_[line.function].name)),
                            .dso = frame.dso,
                            .start = location.offset.value - location.symbol_offset.value_or(0),
                            .is_inlined = !is_last});
    SetLine(line, frame);
    if (is_last) {
      known.frame = frame;
    } else {
      known.inlined.push_back(frame);
    }
  }
  return known;
}

// The names of generated code are in a file of its process, and perf shows the name of that file.
std::uint32_t FrameNames::DsoOf(const Known& known, std::uint32_t pid) {
  if (!known.is_generated) return known.frame.dso;
  return names_.texts.Add(fmt::format("perf-{}.map", pid));
}

void FrameNames::Append(LocationId location, std::uint32_t pid, std::uint64_t address,
                        std::vector<Frame>& frames) {
  const Known& known = Find(location);
  for (const Frame& inlined : known.inlined) {
    frames.push_back(inlined);
    frames.back().address = address;
  }
  frames.push_back(known.frame);
  frames.back().address = address;
  frames.back().dso = DsoOf(known, pid);
}

Frame FrameNames::LeafOf(LocationId location, std::uint32_t pid) {
  const Known& known = Find(location);
  Frame frame = known.frame;
  frame.dso = DsoOf(known, pid);
  return frame;
}

std::uint64_t FrameNames::AddressOf(LocationId location) const {
  return profile_.AddressOf(profile_[location]).value;
}

}  // namespace perftape::histogram

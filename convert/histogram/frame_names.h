// SPDX-License-Identifier: Apache-2.0
// The frames of a profile's locations, with the names that perf gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convert/histogram/hit.h"
#include "convert/model/profile.h"

namespace perftape::histogram {

class FrameNames {
 public:
  // Both must outlive this object, which adds the names that it needs.
  FrameNames(const convert::Profile& profile, NameTable& names)
      : profile_(profile), names_(names), known_(profile.locations().size()) {}

  // Appends the frames of a location of a process: functions that were inlined, innermost first,
  // and the function that the linker knows. The addresses are the same.
  void Append(convert::LocationId location, std::uint32_t pid, std::uint64_t address,
              std::vector<Frame>& frames);

  // Returns the frame of an interrupted instruction. As in perf, its address is that in the file,
  // or the raw one if nothing is mapped there.
  Frame LeafOf(convert::LocationId location, std::uint32_t pid);

  // Returns the address at run time, as far as a profile has it.
  std::uint64_t AddressOf(convert::LocationId location) const;

 private:
  struct Known {
    Frame frame;
    std::vector<Frame> inlined;
    bool is_generated = false;  // its dso depends on the process
  };
  const Known& Find(convert::LocationId location);
  void SetDso(const convert::Location& location, Known& known);
  void SetLine(const convert::Line& line, Frame& frame);
  std::uint32_t DsoOf(const Known& known, std::uint32_t pid);

  const convert::Profile& profile_;
  NameTable& names_;
  std::vector<std::optional<Known>> known_;  // by location
};

}  // namespace perftape::histogram

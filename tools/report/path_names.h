// SPDX-License-Identifier: Apache-2.0
// The functions in the stacks of a critical path, as a report names them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"

namespace perftape::report_tool {

class PathNames {
 public:
  // `profile` must outlive this object.
  explicit PathNames(const convert::Profile& profile);

  // Returns the frames of a stack, outermost first.
  std::vector<std::string> Frames(convert::StackId stack) const;
  // Returns the functions of the program itself, outermost first; else the innermost one of a
  // library, or the name of the program in brackets; nothing if there is no user code. The views
  // live as long as this object.
  std::vector<std::string_view> OwnFunctions(convert::StackId stack) const;
  // Returns the innermost of them; empty if there is none.
  std::string InnermostOwn(convert::StackId stack) const;

 private:
  const convert::Profile& profile_;
  convert::FrameTable frames_;
};

// Returns the last `most` names as in folded stacks: "handle;parse;read_line".
std::string ChainOf(const std::vector<std::string_view>& functions, std::size_t most);

}  // namespace perftape::report_tool

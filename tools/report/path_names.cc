// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_names.h"

#include <algorithm>
#include <ranges>

namespace perftape::report_tool {

using convert::FrameId;
using convert::FrameType;
using convert::StackId;

namespace {

// Functions of the C library that each program begins with.
bool StartsPrograms(std::string_view name) {
  return name == "_start" || name.starts_with("__libc_start_");
}

}  // namespace

PathNames::PathNames(const convert::Profile& profile)
    : profile_(profile), frames_(profile, convert::FrameIdentity::kFunction) {}

std::vector<std::string> PathNames::Frames(StackId stack) const {
  std::vector<FrameId> ids;
  AppendFrames(profile_, frames_, stack, ids);
  std::vector<std::string> names;
  for (const FrameId id : std::views::reverse(ids)) names.emplace_back(frames_.NameOf(id));
  return names;
}

std::vector<std::string_view> PathNames::OwnFunctions(StackId stack) const {
  std::vector<FrameId> ids;
  AppendFrames(profile_, frames_, stack, ids);
  std::vector<std::string_view> own;
  std::string_view instead;  // of a library, or the name of the program
  for (const FrameId id : ids) {
    const convert::Frame& frame = frames_[id];
    if (frame.type == FrameType::kKernel || StartsPrograms(frame.name)) continue;
    const std::string_view binary = frames_.BinaryOf(id);
    const bool is_library = binary.find(".so") != std::string_view::npos || binary == "[vdso]";
    if (!is_library && frame.has_name) own.push_back(frame.name);
    if (frame.has_name == is_library && instead.empty()) instead = frame.name;
  }
  if (own.empty() && !instead.empty()) own.push_back(instead);
  std::ranges::reverse(own);
  return own;
}

std::string PathNames::InnermostOwn(StackId stack) const {
  const std::vector<std::string_view> own = OwnFunctions(stack);
  return own.empty() ? "" : std::string(own.back());
}

std::string ChainOf(const std::vector<std::string_view>& functions, std::size_t most) {
  std::string chain;
  const std::size_t first = functions.size() - std::min(functions.size(), most);
  for (const std::string_view name : functions | std::views::drop(first)) {
    chain.append(chain.empty() ? "" : ";").append(name);
  }
  return chain;
}

}  // namespace perftape::report_tool

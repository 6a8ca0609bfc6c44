// SPDX-License-Identifier: Apache-2.0
#include "convert/import/named_frames.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "convert/model/mappings_without_files.h"
#include "formats/folded/kernel_address.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {

struct NamedFrames::State {
  ProfileBuilder& builder;
  const bool map_kernel_addresses;

  MappingId MappingOf(const NamedFrame& frame) {
    MappingNames names = {.functions = true};
    names.filenames = !frame.file.empty();
    names.line_numbers = frame.line != 0;
    return AddFoldedMapping(builder, frame.is_kernel ? MappingType::kKernel : MappingType::kUser,
                            names);
  }
};

NamedFrames::NamedFrames(ProfileBuilder& builder, bool map_kernel_addresses)
    : state_(std::make_unique<State>(builder, map_kernel_addresses)) {}
NamedFrames::~NamedFrames() = default;

LocationId NamedFrames::Add(const NamedFrame& frame) {
  ProfileBuilder& builder = state_->builder;
  const auto limited = [](std::int64_t line) {
    return std::clamp<std::int64_t>(line, 0, std::numeric_limits<std::int32_t>::max());
  };
  Function function = {.name = builder.Add(frame.name), .filename = builder.Add(frame.file)};
  function.start_line = static_cast<decltype(function.start_line)>(limited(frame.start_line));
  const Line line = {.function = builder.Add(function), .number = limited(frame.line)};
  const auto address =
      state_->map_kernel_addresses ? folded::KernelAddressOf(frame.name) : std::nullopt;
  if (!address) {
    return builder.Add(Location{.mapping = state_->MappingOf(frame), .lines = {&line, 1}});
  }
  const MappingId kernel =
      builder.Add(Mapping{.filename = builder.Add(perfdata::kKernelMappingName),
                          .limit = std::numeric_limits<std::uint64_t>::max(),
                          .type = MappingType::kKernel});
  return builder.Add(
      Location{.mapping = kernel, .offset = FileOffset{address->value}, .lines = {&line, 1}});
}

}  // namespace perftape::convert

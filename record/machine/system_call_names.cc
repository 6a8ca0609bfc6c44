// SPDX-License-Identifier: Apache-2.0
#include "record/machine/system_call_names.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace perftape::record {
namespace {

struct SystemCall {
  std::string_view name;
  std::uint32_t number;
};

constexpr SystemCall kSystemCalls[] = {
#include "system_call_names.inc"
};

}  // namespace

std::optional<std::uint32_t> SystemCallNumber(std::string_view name) {
  const auto* const found = std::ranges::find(kSystemCalls, name, &SystemCall::name);
  if (found == std::end(kSystemCalls)) return {};
  return found->number;
}

std::vector<std::string_view> SystemCallNames() {
  std::vector<std::string_view> names;
  std::ranges::transform(kSystemCalls, std::back_inserter(names), &SystemCall::name);
  return names;
}

}  // namespace perftape::record

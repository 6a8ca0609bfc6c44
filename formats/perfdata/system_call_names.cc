// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/system_call_names.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace perftape::perfdata {
namespace {

struct SystemCall {
  std::string_view name;
  std::uint32_t number;
};

constexpr SystemCall kSystemCalls[] = {
#include "system_call_names.inc"
};

// As uname -m prints it.
#if defined(__x86_64__) && !defined(__ILP32__)
constexpr std::string_view kArch = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArch = "aarch64";
#else
constexpr std::string_view kArch = {};
#endif

std::vector<std::string_view> NamesByNumber() {
  std::vector<std::string_view> names;
  for (const SystemCall& call : kSystemCalls) {
    if (call.number >= names.size()) names.resize(call.number + 1);
    names[call.number] = call.name;
  }
  return names;
}

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

std::string_view SystemCallName(std::string_view arch, std::uint64_t number) {
  static const std::vector<std::string_view> names = NamesByNumber();
  return !arch.empty() && arch == kArch && number < names.size() ? names[number]
                                                                 : std::string_view();
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/kernel_address.h"

#include <charconv>
#include <cstdint>

#include "formats/base/addresses.h"
#include "formats/folded/folded.h"

namespace perftape::folded {
namespace {

constexpr std::string_view kKernelPrefix = "[kernel] ";
constexpr std::string_view kHexPrefix = "0x";

}  // namespace

std::optional<RuntimeAddress> KernelAddressOf(std::string_view frame) {
  const bool has_prefix = frame.starts_with(kKernelPrefix);
  const bool has_mark = frame.ends_with(kKernelMark);
  if (has_prefix) frame.remove_prefix(kKernelPrefix.size());
  if (has_mark) frame.remove_suffix(kKernelMark.size());
  if (!frame.starts_with(kHexPrefix)) return std::nullopt;
  frame.remove_prefix(kHexPrefix.size());

  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(frame.data(), frame.data() + frame.size(), address, 16);
  if (error != std::errc() || end != frame.data() + frame.size()) return std::nullopt;
  if (!IsInKernelHalf(address) && !has_prefix && !has_mark) return std::nullopt;
  return RuntimeAddress{address};
}

}  // namespace perftape::folded

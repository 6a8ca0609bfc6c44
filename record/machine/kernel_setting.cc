// SPDX-License-Identifier: Apache-2.0
#include "record/machine/kernel_setting.h"

#include <charconv>
#include <filesystem>
#include <string>

#include "formats/base/file.h"

namespace perftape::record {

std::optional<int> ReadKernelSetting(std::string_view name) {
  const Result<std::string> text = ReadWholeFile(std::filesystem::path("/proc/sys/kernel") / name);
  if (!text) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace perftape::record

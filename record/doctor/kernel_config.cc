// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/kernel_config.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/bundle/archive_reader.h"
#include "formats/bundle/expanded_input.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

struct OptionRow {
  Requirement requirement;
  std::string_view option;
};
constexpr OptionRow kOptionsOfKernel[] = {
    {Requirement::kPerfEvents, "CONFIG_PERF_EVENTS"},
    {Requirement::kBtf, "CONFIG_DEBUG_INFO_BTF"},
    {Requirement::kTracefsMount, "CONFIG_FTRACE"},
    {Requirement::kUprobes, "CONFIG_UPROBE_EVENTS"},
    {Requirement::kKprobes, "CONFIG_KPROBE_EVENTS"},
    {Requirement::kTrampolineCalls, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"},
    {Requirement::kTrampolines, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"},
    {Requirement::kCgroups, "CONFIG_CGROUPS"},
};

// The text of a file that may be compressed; empty if it cannot be read.
std::string ReadConfig(const std::filesystem::path& path) {
  Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) return "";
  if (bundle::CompressionOf(AsBytes(*bytes)).empty()) return *std::move(bytes);
  const Result<MappedFile> text = bundle::Expand(AsBytes(*bytes), {});
  return text ? std::string(AsText(text->bytes())) : "";
}

}  // namespace

std::string_view KernelConfig::ValueOf(std::string_view option) const {
  if (text.empty()) return "";
  std::string_view left = text;
  while (std::optional<std::string_view> line = NextLine(left)) {
    if (NextField(*line, '=') == option) return *line;
  }
  return "n";
}

KernelConfig ReadKernelConfig(std::string_view release) {
  const std::string in_boot = "/boot/config-" + std::string(release);
  for (const std::string& path : {std::string("/proc/config.gz"), in_boot}) {
    std::string text = ReadConfig(path);
    if (!text.empty()) return {.path = path, .text = std::move(text)};
  }
  return {};
}

std::string_view ConfigOptionOf(Requirement requirement) {
  const auto* const found =
      std::ranges::find(kOptionsOfKernel, requirement, &OptionRow::requirement);
  return found == std::end(kOptionsOfKernel) ? "" : found->option;
}

}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/open.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "convert/bundle_check/bundle_check.h"
#include "formats/base/progress.h"

namespace perftape::bundle_tool {
namespace {

// Returns 0 for a stream.
std::uintmax_t SizeOf(const std::string& name) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(name, error);
  return error ? 0 : size;
}

}  // namespace

Result<bundle::Bundle> OpenNamed(const std::string& name, cli::Console& console) {
  AddInputToProgress(SizeOf(name));
  auto bundle = bundle::Bundle::Open(name);
  const std::string shown = name == "-" ? "stdin" : name;
  if (!bundle) {
    Error error = std::move(bundle).error();
    if (error.message.starts_with(shown + ": ")) return Fail(std::move(error));
    return Fail(InContext(shown, std::move(error)));
  }
  if (const std::string text = bundle_check::TextOf(bundle->passed_over()); !text.empty()) {
    console.Warning(fmt::format("{}: skipped: {}", shown, text));
  }
  return bundle;
}

Result<std::string> OnlyBundle(const cli::BaseOptions& options) {
  if (options.operands.size() == 1) return options.operands.front();
  return Fail(ErrorCode::kInvalidArgument, "expected one operand: a bundle");
}

std::filesystem::path DefaultBuildIdCache() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): never set here
  const char* named = std::getenv("PERF_BUILDID_DIR");
  if (named != nullptr && *named != '\0') return named;
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): never set here
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".debug";
}

}  // namespace perftape::bundle_tool

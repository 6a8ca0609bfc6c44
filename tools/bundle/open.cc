// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/base/progress.h"
#include "tools/common/cli/count.h"

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
  if (const std::string text = TextOf(bundle->passed_over()); !text.empty()) {
    console.Warning(fmt::format("{}: skipped: {}", shown, text));
  }
  return bundle;
}

Result<std::string> OnlyBundle(const cli::BaseOptions& options) {
  if (options.operands.size() == 1) return options.operands.front();
  return Fail(ErrorCode::kInvalidArgument, "expected one operand: a bundle");
}

std::string TextOf(const bundle::PassedOver& passed_over) {
  std::vector<std::string> texts;
  const auto add = [&](std::uint64_t count, std::string_view noun, std::string_view rest) {
    if (count != 0) texts.push_back(cli::Counted(count, noun) + std::string(rest));
  };
  add(passed_over.unsafe_names, "member", " with a path outside of the directory");
  add(passed_over.kinds, "member", " neither regular file nor symbolic link");
  add(passed_over.duplicates, "member", " with a repeated name");
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace perftape::bundle_tool

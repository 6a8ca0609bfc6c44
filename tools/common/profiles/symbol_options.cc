// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_options.h"

#include <fmt/format.h>

#include <string_view>

#include "convert/symbolize/index_cache.h"
#include "tools/common/cli/escape.h"

namespace perftape::cli {
namespace {

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<symbolize::Demangling> DemanglingOf(const Parsed& parsed) {
  const auto style = parsed.Value("demangle");
  if (parsed.Has("no-demangle")) {
    if (style && *style != "none") return Usage("--demangle and --no-demangle: one of them");
    return symbolize::Demangling::kNone;
  }
  if (!style || *style == "templates") return symbolize::Demangling::kTemplates;
  if (*style == "full") return symbolize::Demangling::kFull;
  if (*style == "simple") return symbolize::Demangling::kSimple;
  if (*style == "none") return symbolize::Demangling::kNone;
  return Usage(fmt::format("--demangle: '{}' is not among: templates, simple, full, none",
                           EscapeForTerminal(*style)));
}

}  // namespace

Result<symbolize::SymbolOptions> SymbolOptionsOf(const Parsed& parsed) {
  symbolize::SymbolOptions options;
  options.bundle = parsed.Value("bundle").value_or("");
  options.symfs = parsed.Value("symfs").value_or("");
  options.kallsyms = parsed.Value("kallsyms").value_or("");
  options.vmlinux = parsed.Value("vmlinux").value_or("");
  for (const std::string_view directory : parsed.Values("debug-dir")) {
    options.debug_dirs.emplace_back(directory);
  }
  if (parsed.Has("local") && parsed.Has("no-local")) {
    return Usage("--local and --no-local: one of them");
  }
  if (parsed.Has("local")) options.local = symbolize::LocalSystem::kAlways;
  if (parsed.Has("no-local")) options.local = symbolize::LocalSystem::kNever;
  TRY_ASSIGN(options.demangling, DemanglingOf(parsed));
  if (parsed.Has("no-inline")) options.source_lines = symbolize::SourceLines::kLines;
  if (parsed.Has("no-lines")) options.source_lines = symbolize::SourceLines::kNone;
  options.index_cache = symbolize::UsualIndexCache();
  return options;
}

}  // namespace perftape::cli

// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kallsyms_symbolizer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace perftape {
namespace {

constexpr std::string_view kKernel = "[kernel.kallsyms]";
constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;

// The module that a mapping is of: "nf_tables" of "[nf_tables]" and of ".../nf-tables.ko.xz"; empty
// for the kernel and what is no module.
std::string ModuleOf(std::string_view filename) {
  if (filename.starts_with("[kernel")) return {};
  if (filename.starts_with('[') && filename.ends_with(']')) {
    return std::string(filename.substr(1, filename.size() - 2));
  }
  const std::string_view base = BaseName(filename);
  const std::size_t ending = base.find(".ko");
  if (ending == std::string_view::npos) return {};
  std::string module(base.substr(0, ending));
  std::ranges::replace(module, '-', '_');
  return module;
}

// Where the recording says that _text was. A mapping of the kernel may have been cut by those of
// modules; then its first piece tells.
std::optional<std::uint64_t> RecordedText(const Profile& profile) {
  std::optional<std::uint64_t> lowest;
  for (const Mapping& mapping : profile.mappings()) {
    if (mapping.kind != MappingKind::kKernel) continue;
    if (!profile.text(mapping.filename).starts_with(kKernel)) continue;
    if (!lowest || mapping.file_offset < *lowest) lowest = mapping.file_offset;
  }
  return lowest;
}

}  // namespace

KallsymsSymbolizer::KallsymsSymbolizer(kallsyms::Kallsyms table, BuildId build_id)
    : table_(std::move(table)),
      build_id_(build_id),
      text_(table_.AddressOf("_text")),
      stext_(table_.AddressOf("_stext")) {}

Result<Resolution> KallsymsSymbolizer::Resolve(const Profile& profile, MappingId id,
                                               std::span<const FileOffset> offsets) {
  const Mapping& mapping = profile[id];
  const std::string_view filename = profile.text(mapping.filename);
  const auto recorded_id = BuildId::FromHex(profile.text(mapping.build_id));
  if (filename.starts_with(kKernel) && recorded_id && !build_id_.empty() &&
      !build_id_.Matches(*recorded_id)) {
    return MissAll(offsets.size(), Miss::kWrongBuildId,
                   "recorded was a kernel with build id " + recorded_id->hex() + ", here it is " +
                       build_id_.hex());
  }
  const std::optional<std::uint64_t> move = MoveSince(profile);
  if (!move) {
    return MissAll(offsets.size(), Miss::kWrongBuildId,
                   "the kernel's _text is not where that of the recording can have been moved to: "
                   "these are another kernel's symbols");
  }
  const std::string module = ModuleOf(filename);
  Resolution resolution;
  for (const FileOffset offset : offsets) {
    // Modulo 2^64: perf has written kernel mappings that start at 0.
    const RuntimeAddress address{mapping.start + (offset.value - mapping.file_offset)};
    resolution.answers.push_back(ResolveOne(address, *move, module));
  }
  if (*move != 0 && !module.empty()) {
    resolution.problem = "modules are elsewhere since the machine was booted again";
  }
  return resolution;
}

std::optional<std::uint64_t> KallsymsSymbolizer::MoveSince(const Profile& profile) const {
  const std::optional<std::uint64_t> recorded = RecordedText(profile);
  // Formats that do not tell are trusted: 0 is what a pprof made from anywhere says.
  if (!recorded || *recorded == 0 || (!text_ && !stext_)) return 0;
  if (stext_ && stext_->value == *recorded) return 0;
  const std::uint64_t move = (text_ ? *text_ : *stext_).value - *recorded;
  if (move % kAlignment != 0) return std::nullopt;
  return move;
}

Resolved KallsymsSymbolizer::ResolveOne(RuntimeAddress address, std::uint64_t move,
                                        std::string_view module) const {
  const kallsyms::Symbol* symbol = table_.Find({address.value + move});
  if (symbol == nullptr) return {.miss = Miss::kNoSymbol};
  const bool is_of_mapping = module.empty() || symbol->module == module;
  const bool has_moved_apart = move != 0 && !symbol->module.empty();
  if (!is_of_mapping || has_moved_apart) return {.miss = Miss::kNoSymbol};
  return {.frames = {{.name = std::string(symbol->name)}}};
}

}  // namespace perftape

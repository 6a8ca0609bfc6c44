// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kallsyms_symbolizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

// Returns the runtime address of an offset in a mapping. Modulo 2^64: perf has written kernel
// mappings that start at 0.
RuntimeAddress AddressIn(const convert::Mapping& mapping, FileOffset offset) {
  return {mapping.start + (offset.value - mapping.file_offset)};
}

}  // namespace

KernelTable::KernelTable(std::string name, kallsyms::Kallsyms symbols, BuildId build_id,
                         std::vector<bundle::Module> modules)
    : name_(std::move(name)),
      symbols_(std::move(symbols)),
      build_id_(build_id),
      modules_(std::move(modules)) {
  for (const std::string_view symbol : {"_text", "_stext", "_etext", "_edata"}) {
    const auto address = symbols_.AddressOf(symbol);
    reference_addresses_.emplace_back(symbol,
                                      address ? std::optional(address->value) : std::nullopt);
  }
  code_ = RangeOf("_stext", "_etext");
}

std::optional<kallsyms::Kallsyms::Extent> KernelTable::RangeOf(std::string_view start,
                                                               std::string_view limit) const {
  const auto first = AddressOf(start);
  const auto last = AddressOf(limit);
  if (!first || !last || *first >= *last) return std::nullopt;
  return kallsyms::Kallsyms::Extent{.start = {*first}, .limit = {*last}};
}

const std::optional<kallsyms::Kallsyms::Extent>& KernelTable::start_code() const {
  std::call_once(start_code_is_known_,
                 [this] { start_code_ = RangeOf("_sinittext", "_einittext"); });
  return start_code_;
}

bool KernelTable::IsCode(RuntimeAddress address) const {
  const auto has = [&](const std::optional<kallsyms::Kallsyms::Extent>& range) {
    return range && range->start <= address && address < range->limit;
  };
  return !code_ || has(code_) || has(start_code());
}

std::optional<std::uint64_t> KernelTable::AddressOf(std::string_view symbol) const {
  for (const auto& [name, address] : reference_addresses_) {
    if (name == symbol) return address;
  }
  const auto address = symbols_.AddressOf(symbol);
  return address ? std::optional(address->value) : std::nullopt;
}

KernelMove KernelTable::MoveFrom(const RecordedKernel& recorded) const {
  return MoveOf(recorded, {.build_id = build_id_, .address_of = [this](std::string_view symbol) {
                             return AddressOf(symbol);
                           }});
}

std::optional<kallsyms::Kallsyms::Extent> KernelTable::ExtentOf(std::string_view module) const {
  auto extent = symbols_.ModuleExtent(module);
  const auto found = std::ranges::find(modules_, module, &bundle::Module::name);
  if (extent && found != modules_.end() && found->address != 0) extent->start = {found->address};
  return extent;
}

KallsymsSymbolizer::KallsymsSymbolizer(std::shared_ptr<const KernelTable> table,
                                       RecordedKernel recorded)
    : table_(std::move(table)),
      recorded_(std::move(recorded)),
      move_(table_->MoveFrom(recorded_)) {}

Result<Resolution> KallsymsSymbolizer::Resolve(const convert::Profile& profile,
                                               convert::MappingId id,
                                               std::span<const FileOffset> offsets) {
  const convert::Mapping& mapping = profile[id];
  if (!move_.distance) return MissAll(offsets.size(), Miss::kWrongBuildId, move_.reason);
  const std::string module = perfdata::ModuleNameOf(profile.text(mapping.filename));
  if (!module.empty()) return ResolveModule(mapping, module, offsets);
  return ResolveKernel(mapping, offsets);
}

Result<Resolution> KallsymsSymbolizer::ResolveKernel(const convert::Mapping& mapping,
                                                     std::span<const FileOffset> offsets) const {
  Resolution resolution = {.source = fmt::format("{} ({})", table_->name(), move_.reason)};
  std::size_t outside = 0;
  for (const FileOffset offset : offsets) {
    const RuntimeAddress address{AddressIn(mapping, offset).value + *move_.distance};
    const kallsyms::Symbol* symbol = table_->symbols().Find(address);
    const bool is_of_module = symbol != nullptr && !symbol->module.empty();
    if (!is_of_module && !table_->IsCode(address)) ++outside;
    resolution.answers.push_back(ResolveOne(address, {}));
  }
  resolution.warning = MovedKernelWarning(outside, offsets.size(), table_->name());
  return resolution;
}

Result<Resolution> KallsymsSymbolizer::ResolveModule(const convert::Mapping& mapping,
                                                     const std::string& module,
                                                     std::span<const FileOffset> offsets) const {
  const auto extent = table_->ExtentOf(module);
  if (!extent) {
    return MissAll(offsets.size(), Miss::kNoSymbol, "it has no symbols of this module");
  }
  const auto found = std::ranges::find(recorded_.modules, module, &RecordedModule::name);
  const bool is_recorded = found != recorded_.modules.end();
  const std::uint64_t base = is_recorded ? found->start : mapping.start;
  const std::uint64_t size = (is_recorded ? found->limit : mapping.limit) - base;
  // The last function has at least the size of a page (kallsyms.h), so its start is compared
  // instead of its end.
  const kallsyms::Symbol* last = table_->symbols().Find({extent->limit.value - 1});
  if (last != nullptr && last->start.value - extent->start.value >= size) {
    return MissAll(
        offsets.size(), Miss::kWrongBuildId,
        "its module of this name is larger than the recorded one: it is from another build");
  }
  const std::uint64_t distance = extent->start.value - base;
  const std::string moved = distance == 0 ? "not moved" : fmt::format("moved from 0x{:x}", base);
  Resolution resolution = {.source = fmt::format("{} (module at 0x{:x}, {})", table_->name(),
                                                 extent->start.value, moved)};
  for (const FileOffset offset : offsets) {
    const RuntimeAddress address = AddressIn(mapping, offset);
    resolution.answers.push_back(ResolveOne({address.value + distance}, module));
  }
  return resolution;
}

Resolved KallsymsSymbolizer::ResolveOne(RuntimeAddress address, std::string_view module) const {
  const kallsyms::Symbol* symbol = table_->symbols().Find(address);
  if (symbol == nullptr) return {.miss = Miss::kNoSymbol};
  const bool is_of_mapping = module.empty() || symbol->module == module;
  const bool has_moved_apart = module.empty() && *move_.distance != 0 && !symbol->module.empty();
  // A variable, or what precedes or follows the code, is not what ran.
  const bool is_code = symbol->is_text && (!symbol->module.empty() || table_->IsCode(address));
  if (!is_of_mapping || has_moved_apart || !is_code) return {.miss = Miss::kNoSymbol};
  return {.frames = {{.name = symbol->name}}, .symbol_offset = address.value - symbol->start.value};
}

}  // namespace perftape::symbolize

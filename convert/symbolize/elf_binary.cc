// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_binary.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/symbolize/readable_names.h"
#include "formats/base/symbol_limits.h"
#include "formats/base/truncation.h"
#include "formats/base/unknown_name.h"

namespace perftape::symbolize {
namespace {

constexpr std::uint64_t kWorthKeeping = std::uint64_t{4} << 20;

std::unique_ptr<dwarf::SourceIndex> OpenLines(const elf::ElfFile& image, const elf::ElfFile* debug,
                                              const ElfNameOptions& options) {
  if (options.source_lines == SourceLines::kNone) return nullptr;
  for (const elf::ElfFile* file : {options.lines, debug, &image}) {
    if (file == nullptr) continue;
    auto index = dwarf::SourceIndex::Open(
        image, *file,
        {.path = file->path(), .shared = options.supplementary, .searched = options.searched});
    if (index) return index;
  }
  return nullptr;
}

// Opens Go's own table, if there is no DWARF, which has the same information.
std::optional<go::PcLineTable> OpenGoLines(const elf::ElfFile& image, bool has_dwarf) {
  if (has_dwarf) return std::nullopt;
  auto table = go::PcLineTable::Read(image);
  return table ? std::optional(*std::move(table)) : std::nullopt;
}

// Returns whether any name has a line, which only DWARF has.
bool HasLines(const Resolution& resolution) {
  return std::ranges::any_of(resolution.answers, [](const Resolved& resolved) {
    return std::ranges::any_of(resolved.frames,
                               [](const SourceFrame& frame) { return frame.line != 0; });
  });
}

}  // namespace

ElfNames::ElfNames(const elf::ElfFile& image, const elf::ElfFile* debug,
                   const ElfNameOptions& options)
    : image_(image),
      options_(options),
      symbols_(debug == nullptr ? elf::SymbolTable::Read(image)
                                : elf::SymbolTable::Read(image, *debug)),
      lines_(OpenLines(image, debug, options)),
      go_lines_(OpenGoLines(image, lines_ != nullptr)) {
  if (!IsWorthKeeping()) return;
  restored_ = LineCache().Load(image_.build_id());
  lines_->Restore(restored_.body());
}

ElfNames::~ElfNames() {
  if (!IsWorthKeeping() || !lines_->has_built()) return;
  if (!TruncatedFiles().empty()) return;  // may be of a truncated file; other runs would trust it
  LineCache().Store(image_.build_id(), lines_->Save());
}

std::string ElfNames::problem() const {
  if (symbols_.left_out() > 0) {
    return "symbol tables " + MoreThanIsRead(symbols_.left_out(), symbol_limits::kSymbolTables);
  }
  return lines_ ? lines_->problem() : std::string();
}

elf::IndexCache ElfNames::LineCache() const {
  return {options_.index_cache, elf::IndexType::kLines};
}

// Building a small index is faster than opening a file.
bool ElfNames::IsWorthKeeping() const {
  return lines_ && !options_.index_cache.empty() && !image_.build_id().empty() &&
         lines_->size() >= kWorthKeeping;
}

std::vector<Resolved> ElfNames::ResolveAll(std::span<const FileOffset> offsets) {
  if (lines_) {
    std::vector<ImageAddress> addresses;
    for (const FileOffset offset : offsets) {
      if (const auto address = image_.ToImage(offset)) addresses.push_back(*address);
    }
    lines_->Prepare(addresses);
  }
  // Offsets that are close in the code are close in the tables, too.
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return offsets[i]; });
  std::vector<Resolved> answers(offsets.size());
  for (const std::size_t i : order) answers[i] = Resolve(offsets[i]);
  return answers;
}

Resolved ElfNames::Resolve(FileOffset offset) {
  const std::optional<ImageAddress> address = image_.ToImage(offset);
  if (!address) return {.miss = Miss::kNoSymbol};
  std::vector<SourceFrame> frames = FramesAt(*address);
  std::optional<std::uint64_t> symbol_offset;
  bool is_last_byte = false;
  if (const elf::Symbol* symbol = symbols_.Find(*address)) {
    if (frames.empty()) frames.emplace_back();
    const Name& name = Show(symbol->name);
    frames.back().name = name.shown;
    frames.back().system_name = name.linker;
    symbol_offset = address->value - symbol->start.value;
    is_last_byte = *symbol_offset + 1 == symbol->size;
  } else if (go_lines_) {
    is_last_byte = go_lines_->IsEntry({address->value + 1});
  }
  // A line without a name is not enough.
  if (frames.empty() || frames.back().name.empty()) return {.miss = Miss::kNoSymbol};
  for (SourceFrame& frame : frames) {
    // The entry of an inlined function is damaged: no symbol has its name.
    if (frame.name.empty()) frame.name = kUnknownName;
  }
  return {
      .frames = std::move(frames), .symbol_offset = symbol_offset, .is_last_byte = is_last_byte};
}

// Returns the frames from DWARF, innermost first.
std::vector<SourceFrame> ElfNames::FramesAt(ImageAddress address) {
  if (go_lines_) return GoFramesAt(address);
  std::vector<SourceFrame> frames;
  if (!lines_) return frames;
  const std::vector<dwarf::CallFrame> all_found = lines_->Find(address);
  frames.reserve(all_found.size());
  for (const dwarf::CallFrame& found : all_found) {
    const Name& name = Show(found.function, found.enclosing);
    frames.push_back({.name = name.shown,
                      .system_name = name.linker,
                      .filename = found.filename,
                      .line = found.line,
                      .column = found.column,
                      .start_line = found.start_line});
  }
  if (options_.source_lines == SourceLines::kLines && frames.size() > 1) {
    // Keeps the line of the address, even if it is in the source of an inlined function.
    SourceFrame& outermost = frames.back();
    outermost.filename = frames.front().filename;
    outermost.line = frames.front().line;
    outermost.column = frames.front().column;
    frames.erase(frames.begin(), frames.end() - 1);
  }
  return frames;
}

std::vector<SourceFrame> ElfNames::GoFramesAt(ImageAddress address) {
  std::vector<SourceFrame> frames;
  for (const go::GoFrame& found : go_lines_->Find(address)) {
    frames.push_back({.name = found.function});
    if (options_.source_lines == SourceLines::kNone) continue;
    frames.back().filename = found.file;
    frames.back().line = found.line;
    frames.back().start_line = found.start_line;
  }
  if (options_.source_lines != SourceLines::kLinesAndInlines && frames.size() > 1) {
    // Keeps the line of the address, even if it is in the source of an inlined function.
    SourceFrame& outermost = frames.back();
    outermost.filename = frames.front().filename;
    outermost.line = frames.front().line;
    frames.erase(frames.begin(), frames.end() - 1);
  }
  return frames;
}

const ElfNames::Name& ElfNames::Show(std::string_view linker_name, std::string_view enclosing) {
  const auto [known, is_new] = shown_.try_emplace({linker_name.data(), linker_name.size()});
  Name& name = known->second;
  if (!is_new) return name;
  if (!enclosing.empty()) {
    name.shown = demangle::DemangleWithin(std::string(enclosing), linker_name, options_.demangling);
    name.linker = demangle::DemangleWithin(std::string(enclosing), linker_name, Demangling::kNone);
    if (name.linker == name.shown) name.linker.clear();
    return name;
  }
  name.shown = ReadableName(linker_name, options_.demangling);
  if (name.shown != linker_name) name.linker = linker_name;
  return name;
}

ElfBinary::ElfBinary(DebugFile found, const SymbolOptions& options)
    : file_(std::move(found)),
      name_options_({.lines = file_.lines ? &*file_.lines : nullptr,
                     .supplementary = file_.supplementary ? &*file_.supplementary : nullptr,
                     .searched = file_.searched,
                     .demangling = options.name_style(),
                     .source_lines = options.source_lines,
                     .index_cache = options.index_cache}) {}

ElfNames* ElfBinary::names() {
  if (!names_ && file_.image) {
    const elf::ElfFile* const debug = file_.debug ? &*file_.debug : nullptr;
    names_ = std::make_unique<ElfNames>(*file_.image, debug, name_options_);
  }
  return names_.get();
}

Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets) {
  Resolution resolution;
  if (ElfNames* const names = binary.names(); names != nullptr) {
    resolution.answers = names->ResolveAll(offsets);
    resolution.problem = names->problem();
    resolution.source =
        binary.file().source + (HasLines(resolution) ? " (symbols, DWARF)" : " (symbols)");
  } else {
    resolution = MissAll(offsets.size(), binary.file().miss, binary.file().problem);
  }
  resolution.tried = binary.file().tried;
  return resolution;
}

}  // namespace perftape::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "formats/kallsyms/kallsyms.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/base/utf8_text.h"
#include "formats/elf/stored_file.h"

namespace perftape::kallsyms {
namespace {

struct Line {
  std::uint64_t address = 0;
  char type = 0;
  std::string_view name, module;
};

// -1 for other characters.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Parses "address type name", optionally followed by a tab and "[module]".
std::optional<Line> ParseLine(std::string_view text) {
  Line line;
  if (text.ends_with('\r')) text.remove_suffix(1);
  std::size_t at = 0;
  for (int digit = 0; at < text.size() && (digit = DigitOf(text[at])) >= 0; ++at) {
    line.address = line.address << 4 | static_cast<unsigned>(digit);
  }
  if (at == 0 || at > 16 || text.size() < at + 4) return std::nullopt;
  if (text[at] != ' ' || text[at + 2] != ' ') return std::nullopt;
  line.type = text[at + 1];
  line.name = text.substr(at + 3);
  if (line.name.back() == ']') {
    const std::size_t bracket = line.name.rfind('[');
    const std::size_t end = line.name.find_first_of(" \t");
    if (bracket == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
    line.module = line.name.substr(bracket + 1, line.name.size() - bracket - 2);
    line.name = line.name.substr(0, end);
  }
  if (line.name.empty()) return std::nullopt;
  return line;
}

// The types that perf's symbol_type__filter keeps. Absolute symbols are offsets, not addresses.
bool IsKept(char type) {
  return std::string_view("TtWwDdBb").find(type) != std::string_view::npos;
}

bool IsText(char type) {
  return std::string_view("TtWw").find(type) != std::string_view::npos;
}

// perf's symbols__fixup_end for the last symbol of the kernel or of a module.
std::uint64_t SizeOfLast(RuntimeAddress start) {
  return ((start.value + 4096 + 4095) & ~std::uint64_t{4095}) - start.value;
}

// Keeps the last symbol at each address, but prefers the kernel's own to a module's: some built-in
// symbols are listed again ("[__builtin__kprobes]"). Each symbol extends to the next one of its
// module.
void FixEnds(std::vector<Symbol>& symbols) {
  if (!std::ranges::is_sorted(symbols, {}, &Symbol::start)) {
    std::ranges::stable_sort(symbols, {}, &Symbol::start);
  }
  std::size_t kept = 0;
  for (const Symbol& symbol : symbols) {
    if (kept == 0 || symbols[kept - 1].start != symbol.start) {
      symbols[kept++] = symbol;
    } else if (symbol.module.empty() || !symbols[kept - 1].module.empty()) {
      symbols[kept - 1] = symbol;
    }
  }
  symbols.resize(kept);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    Symbol& symbol = symbols[i];
    const bool is_last = i + 1 == symbols.size() || symbols[i + 1].module != symbol.module;
    symbol.size =
        is_last ? SizeOfLast(symbol.start) : symbols[i + 1].start.value - symbol.start.value;
  }
}

// As text.find(wanted, from), which compares at each blank; memmem(3) skips most of them.
std::size_t FindText(std::string_view text, std::string_view wanted, std::size_t from) {
  const std::string_view rest = text.substr(from);
  const void* const found = memmem(rest.data(), rest.size(), wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

Result<std::string> ExpandedText(std::string text) {
  if (!elf::IsCompressed(AsBytes(text))) return text;
  TRY_ASSIGN(const auto expanded, elf::ExpandFile(AsBytes(text), symbol_limits::kKallsyms));
  return std::string(AsText(expanded));
}

Result<Kallsyms> ParseFile(const std::filesystem::path& path, std::string stored) {
  if (elf::IsBootImage(AsBytes(stored))) {
    return Fail(ErrorCode::kUnsupported, path.native() + ": " + std::string(elf::kBootImage));
  }
  auto text = ExpandedText(std::move(stored));
  if (!text) return Fail(InContext(path.native(), std::move(text).error()));
  auto parsed = Kallsyms::Parse(*std::move(text));
  if (!parsed) return Fail(InContext(path.native(), std::move(parsed).error()));
  return parsed;
}

}  // namespace

Kallsyms::Kallsyms(std::string text)
    : text_(std::make_unique<const std::string>(std::move(text))) {}

Result<Kallsyms> Kallsyms::Read(const std::filesystem::path& path) {
  TRY_ASSIGN(std::string text, ReadWholeFile(path, symbol_limits::kKallsyms));
  return ParseFile(path, std::move(text));
}

Result<Kallsyms> Kallsyms::ReadRegular(const std::filesystem::path& path) {
  TRY_ASSIGN(std::string text, ReadRegularFile(elf::StoredPath(path), symbol_limits::kKallsyms));
  return ParseFile(path, std::move(text));
}

Result<Kallsyms> Kallsyms::Parse(std::string text) {
  Kallsyms kallsyms(ToUtf8(std::move(text)));
  constexpr std::size_t kUsualLine = 45;
  kallsyms.symbols_.reserve(kallsyms.text_->size() / kUsualLine);
  bool has_hidden = false;
  for (std::string_view rest = *kallsyms.text_; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::optional<Line> line = ParseLine(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (!line || !IsKept(line->type)) continue;
    if (line->address == 0) {
      has_hidden = true;
      continue;
    }
    kallsyms.symbols_.push_back({{line->address}, 0, line->name, line->module, IsText(line->type)});
  }
  if (kallsyms.symbols_.empty()) {
    if (has_hidden) {
      return Fail(ErrorCode::kPermission,
                  "all addresses are zero: the kernel hides them (kernel.kptr_restrict) from "
                  "programs without CAP_SYSLOG");
    }
    return Fail(ErrorCode::kCorrupt, "contains no symbols");
  }
  FixEnds(kallsyms.symbols_);
  kallsyms.FindModules();
  return kallsyms;
}

void Kallsyms::FindModules() {
  constexpr std::uint64_t kPage = 4096;
  for (const Symbol& symbol : symbols_) {
    if (symbol.module.empty() || !symbol.is_text) continue;
    const RuntimeAddress start{symbol.start.value & ~(kPage - 1)};
    Extent& extent = modules_.try_emplace(symbol.module, Extent{start, start}).first->second;
    extent.limit.value = symbol.start.value + symbol.size;
  }
}

std::optional<Kallsyms::Extent> Kallsyms::ModuleExtent(std::string_view module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? std::nullopt : std::optional(found->second);
}

const Symbol* Kallsyms::Find(RuntimeAddress address) const {
  auto symbol = std::ranges::upper_bound(symbols_, address, {}, &Symbol::start);
  if (symbol == symbols_.begin()) return nullptr;
  --symbol;
  return address.value - symbol->start.value < symbol->size ? &*symbol : nullptr;
}

std::optional<RuntimeAddress> Kallsyms::AddressOf(std::string_view name) const {
  const std::string_view text = *text_;
  const std::string wanted = " " + std::string(name);
  for (std::size_t at = FindText(text, wanted, 0); at != std::string_view::npos;
       at = FindText(text, wanted, at + 1)) {
    const std::size_t begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::string_view rest = text.substr(begin);
    const std::optional<Line> line = ParseLine(rest.substr(0, rest.find('\n')));
    if (!line || line->name != name || !line->module.empty()) continue;
    if (line->address == 0 || line->type == 'a' || line->type == 'A') continue;
    return RuntimeAddress{line->address};
  }
  return std::nullopt;
}

}  // namespace perftape::kallsyms

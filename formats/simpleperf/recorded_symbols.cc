// SPDX-License-Identifier: Apache-2.0
#include "formats/simpleperf/recorded_symbols.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "formats/base/result.h"
#include "formats/protobuf/field_reader.h"

namespace perftape::simpleperf {
namespace {

// The messages of record_file.proto, as far as they are read.
struct SymbolMessage {
  std::uint64_t vaddr = 0, len = 0;
  std::string_view name = {};
};
enum class SymbolField : std::uint8_t { kVaddr = 1, kLen = 2, kName = 3 };
template <class Visitor>
void Layout(Visitor& field, SymbolMessage& symbol) {
  field(SymbolField::kVaddr, symbol.vaddr);
  field(SymbolField::kLen, symbol.len);
  field(SymbolField::kName, symbol.name);
}

// ElfFile and KernelModule.
struct OffsetMessage {
  std::uint64_t offset_of_min_vaddr = 0;
};
enum class OffsetField : std::uint8_t { kOffset = 1 };
template <class Visitor>
void Layout(Visitor& field, OffsetMessage& file) {
  field(OffsetField::kOffset, file.offset_of_min_vaddr);
}

struct FileMessage {
  std::string_view path = {};
  std::uint64_t type = 0;
  std::uint64_t min_vaddr = 0;
  std::vector<SymbolMessage> symbols = {};
  std::optional<OffsetMessage> elf_file = {}, kernel_module = {};
};
enum class FileField : std::uint8_t {
  kPath = 1,
  kType = 2,
  kMinVaddr = 3,
  kSymbol = 4,
  kElfFile = 6,
  kKernelModule = 7,
};
template <class Visitor>
void Layout(Visitor& field, FileMessage& file) {
  field(FileField::kPath, file.path);
  field(FileField::kType, file.type);
  field(FileField::kMinVaddr, file.min_vaddr);
  field(FileField::kSymbol, file.symbols);
  field(FileField::kElfFile, file.elf_file);
  field(FileField::kKernelModule, file.kernel_module);
}

std::optional<FileType> TypeOf(std::uint64_t number) {
  if (number > std::to_underlying(FileType::kUnknown)) return {};
  return static_cast<FileType>(number);
}

bool HasOffset(FileType type) {
  return type == FileType::kElf || type == FileType::kKernelModule;
}

// Reads the fields of one entry of FILE. A failed read leaves all later ones at zero.
class EntryReader {
 public:
  explicit EntryReader(Bytes entry) : rest_(entry) {}

  template <class Number>
  Number Fixed() {
    if (rest_.size() < sizeof(Number)) return Break(Number{});
    const auto number = LoadFixed<Number>(rest_.data(), std::endian::little);
    rest_ = rest_.subspan(sizeof(Number));
    return number;
  }

  std::string_view Text() {
    const std::string_view text = AsText(rest_);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return Break(std::string_view());
    rest_ = rest_.subspan(end + 1);
    return text.substr(0, end);
  }

  bool ok() const { return ok_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  template <class Value>
  Value Break(Value value) {
    ok_ = false;
    rest_ = {};
    return value;
  }

  Bytes rest_;
  bool ok_ = true;
};

std::optional<RecordedFile> ReadEntry(Bytes bytes) {
  constexpr std::size_t kSmallestSymbol = sizeof(std::uint64_t) + sizeof(std::uint32_t) + 1;
  EntryReader entry(bytes);
  RecordedFile file = {.path = entry.Text()};
  const auto type = TypeOf(entry.Fixed<std::uint32_t>());
  file.min_address = entry.Fixed<std::uint64_t>();
  const auto count = entry.Fixed<std::uint32_t>();
  if (!entry.ok() || !type || count > bytes.size() / kSmallestSymbol) return {};
  file.type = *type;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto address = entry.Fixed<std::uint64_t>();
    const auto size = entry.Fixed<std::uint32_t>();
    file.symbols.push_back({.address = address, .size = size, .name = entry.Text()});
  }
  if (HasOffset(file.type) && entry.ok() && !entry.is_at_end()) {
    file.offset_of_min_address = entry.Fixed<std::uint64_t>();
  }
  return entry.ok() ? std::optional(std::move(file)) : std::nullopt;
}

std::optional<RecordedFile> ReadMessage(Bytes bytes) {
  FileMessage message;
  if (!protobuf::DecodeInto(bytes, message)) return {};
  const auto type = TypeOf(message.type);
  if (!type) return {};
  RecordedFile file = {.path = message.path, .type = *type, .min_address = message.min_vaddr};
  const auto& offset = *type == FileType::kElf ? message.elf_file : message.kernel_module;
  if (HasOffset(*type) && offset) file.offset_of_min_address = offset->offset_of_min_vaddr;
  for (const SymbolMessage& symbol : message.symbols) {
    file.symbols.push_back({.address = symbol.vaddr, .size = symbol.len, .name = symbol.name});
  }
  return file;
}

RecordedSymbols ReadEntries(Bytes section, std::optional<RecordedFile> (*read)(Bytes)) {
  RecordedSymbols all;
  for (std::size_t at = 0; at < section.size();) {
    const Bytes rest = section.subspan(at);
    constexpr std::size_t kSize = sizeof(std::uint32_t);
    const std::size_t size =
        rest.size() < kSize ? 0 : LoadFixed<std::uint32_t>(rest.data(), std::endian::little);
    std::optional<RecordedFile> file;
    if (kSize <= rest.size() && size <= rest.size() - kSize) file = read(rest.subspan(kSize, size));
    if (!file) {
      all.problem = fmt::format(
          "the symbols that simpleperf recorded are damaged at byte {} of their section: those of "
          "{} files before it are used",
          at, all.files.size());
      break;
    }
    std::ranges::sort(file->symbols, {}, &Symbol::address);
    all.files.try_emplace(file->path, *std::move(file));
    at += kSize + size;
  }
  return all;
}

}  // namespace

const Symbol* RecordedFile::Find(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
  if (after == symbols.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  return address - symbol.address < symbol.size ? &symbol : nullptr;
}

std::uint64_t AddressIn(const RecordedFile& file, const MappedAddress& mapped) {
  switch (file.type) {
    case FileType::kKernelModule:
      return mapped.distance - file.offset_of_min_address.value_or(0) + file.min_address;
    case FileType::kElf:
      if (!file.offset_of_min_address) return mapped.distance + file.min_address;
      return mapped.distance + mapped.page_offset - *file.offset_of_min_address + file.min_address;
    case FileType::kDex:
      return mapped.distance + mapped.page_offset;
    case FileType::kKernel:
    case FileType::kSymbolMap:
    case FileType::kUnknown:
      break;
  }
  return mapped.mapping_start + mapped.distance;
}

RecordedSymbols ReadFileFeature(Bytes section) {
  return ReadEntries(section, &ReadEntry);
}

RecordedSymbols ReadFile2Feature(Bytes section) {
  return ReadEntries(section, &ReadMessage);
}

}  // namespace perftape::simpleperf

// SPDX-License-Identifier: Apache-2.0
#include "formats/go/pc_line_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "formats/go/image.h"
#include "formats/go/module_data.h"

namespace perftape::go {
namespace {

constexpr std::uint32_t kInlineIndexTable = 2;  // PCDATA_InlTreeIndex
constexpr std::uint8_t kInlineTree = 3;         // FUNCDATA_InlTree
constexpr std::uint32_t kNoData = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Limits for the inlined calls at one address and for the rows of one function. More occur only in
// damaged files.
constexpr int kDeepest = 64;
constexpr int kMostRows = 1 << 18;
constexpr std::size_t kLongestText = 1 << 16;

bool IsSince118(const TableHeader& header) {
  return header.version >= TableVersion::kGo118;
}

// Reads a number of 7 bits per byte, lowest bits first.
bool ReadVarint(Bytes& bytes, std::uint32_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint32_t>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Calls visit(end_pc, value) for each row of a table of values by pc, until it returns true. Each
// value applies up to a pc, which is stored as a distance from the previous one.
template <class Visit>
void ForEachValue(Bytes rows, std::uint64_t entry, std::uint32_t quantum, const Visit& visit) {
  std::uint32_t value = kNoData;  // -1 in two's complement
  std::uint64_t pc = entry;
  for (int row = 0; row < kMostRows; ++row) {
    std::uint32_t zigzag = 0, distance = 0;
    if (!ReadVarint(rows, zigzag) || (zigzag == 0 && row > 0)) return;
    if (!ReadVarint(rows, distance) || distance == 0) return;
    value += (zigzag & 1) != 0 ? ~(zigzag >> 1) : zigzag >> 1;
    pc += std::uint64_t{distance} * quantum;
    if (visit(pc, static_cast<std::int32_t>(value))) return;
  }
}

}  // namespace

Result<PcLineTable> PcLineTable::FromParts(const Parts& parts) {
  const std::optional<TableHeader> header = ReadTableHeader(parts.table, parts.order);
  if (!header) return Fail(ErrorCode::kCorrupt, "no pc-line table of Go");
  return PcLineTable(parts, *header);
}

Result<PcLineTable> PcLineTable::Read(const elf::ElfFile& file) {
  const Image image(file);
  const std::optional<ImagePart> table = FindTable(image);
  if (!table) return Fail(ErrorCode::kNotFound, "no Go binary");
  Parts parts{
      .table = table->bytes, .order = image.encoding().order, .text = {}, .function_data = {}};
  TRY_ASSIGN(PcLineTable made, FromParts(parts));
  const std::optional<ModuleData> module = FindModuleData(image, table->address, made.header_);
  if (module) {
    made.module_data_ = module->words;
    const std::uint64_t size = module->tables_end.value - table->address.value;
    if (size <= parts.table.size() && ReadTableHeader(parts.table.first(size), parts.order)) {
      parts.table = parts.table.first(size);
    }
    if (IsSince118(made.header_)) parts.function_data = image.At(module->function_data);
  }
  if (IsSince118(made.header_)) {
    // In position-independent files, a relocation sets the word in the table. The start of .text is
    // no substitute: if C code was linked in, .text begins with that.
    parts.text = module ? module->text : ImageAddress{made.header_.text_start};
    if (parts.text.value == 0) {
      return Fail(ErrorCode::kUnsupported,
                  "a Go binary that does not contain the address of its code");
    }
  }
  made.parts_ = parts;
  made.file_ = file.image().data();
  return made;
}

ImageAddress PcLineTable::entry(std::uint64_t function) const {
  const bool is_short = IsSince118(header_);
  const std::uint64_t word = is_short ? sizeof(std::uint32_t) : header_.word_size;
  const std::uint64_t at = header_.function_table + 2 * function * word;
  if (at + word > parts_.table.size()) return {kNone};
  const std::byte* entry = parts_.table.data() + at;
  return {word == 8 ? LoadFixed<std::uint64_t>(entry, parts_.order)
                    : parts_.text.value + LoadFixed<std::uint32_t>(entry, parts_.order)};
}

std::string_view PcLineTable::name(std::uint64_t function) const {
  if (function >= header_.functions) return {};
  const std::optional<Bytes> bytes = RecordBytes(function);
  // The entry comes first, as an address or, since Go 1.18, an offset.
  const std::uint64_t at = IsSince118(header_) ? sizeof(std::uint32_t) : header_.word_size;
  if (!bytes || bytes->size() < at + sizeof(std::uint32_t)) return {};
  return TextAt(header_.names, LoadFixed<std::uint32_t>(bytes->data() + at, parts_.order));
}

std::vector<PcLineTable::StackUse> PcLineTable::stack_use(std::uint64_t function) const {
  std::vector<StackUse> found;
  if (function >= header_.functions) return found;
  const std::optional<Record> record = RecordOf(function);
  if (!record || record->stack_use == 0) return found;
  if (record->stack_use >= parts_.table.size() - header_.values) return found;
  std::uint64_t start = record->entry;
  ForEachValue(parts_.table.subspan(header_.values + record->stack_use), record->entry,
               header_.pc_quantum, [&](std::uint64_t end, std::int32_t bytes) {
                 found.push_back({.start = start, .bytes = bytes});
                 start = end;
                 return false;
               });
  return found;
}

// An additional entry ends the last function.
std::uint64_t PcLineTable::FirstAfter(ImageAddress address) const {
  std::uint64_t low = 0, high = header_.functions + 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (address < entry(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

bool PcLineTable::IsEntry(ImageAddress address) const {
  const std::uint64_t after = FirstAfter(address);
  return after > 0 && after <= header_.functions && entry(after - 1) == address;
}

std::vector<GoFrame> PcLineTable::Find(ImageAddress address) const {
  const std::uint64_t after = FirstAfter(address);
  if (after == 0 || after > header_.functions) return {};
  const std::optional<Record> record = RecordOf(after - 1);
  if (!record) return {};

  std::vector<GoFrame> frames;
  std::uint64_t pc = address.value;
  for (int depth = 0; depth < kDeepest; ++depth) {
    frames.push_back(FrameAt(*record, pc));
    const auto call = CallOf(*record, ValueAt(record->inline_index, record->entry, pc));
    if (!call) break;
    frames.back().function = TextAt(header_.names, call->name);
    frames.back().start_line = call->start_line;
    pc = record->entry + call->parent_pc;
  }
  return frames;
}

std::optional<Bytes> PcLineTable::RecordBytes(std::uint64_t function) const {
  const std::uint64_t word = IsSince118(header_) ? sizeof(std::uint32_t) : header_.word_size;
  const std::uint64_t at = header_.function_table + (2 * function + 1) * word;
  const std::byte* stored = parts_.table.data() + at;
  const std::uint64_t offset = word == 8 ? LoadFixed<std::uint64_t>(stored, parts_.order)
                                         : LoadFixed<std::uint32_t>(stored, parts_.order);
  if (offset > parts_.table.size() - header_.records) return std::nullopt;
  return parts_.table.subspan(header_.records + offset);
}

std::optional<PcLineTable::Record> PcLineTable::RecordOf(std::uint64_t function) const {
  const std::optional<Bytes> found = RecordBytes(function);
  if (!found) return std::nullopt;
  const Bytes bytes = *found;
  const std::uint64_t word = IsSince118(header_) ? sizeof(std::uint32_t) : header_.word_size;
  ByteReader reader(bytes, parts_.order);
  Record record{.entry = entry(function).value};
  std::uint32_t value_tables = 0;
  std::uint8_t data_tables = 0;
  reader.Padding(word);  // entry or entryoff
  reader.Fixed(record.name);
  reader.Padding(8);  // args, deferreturn
  reader.Fixed(record.stack_use);
  reader.Fixed(record.files);
  reader.Fixed(record.lines);
  reader.Fixed(value_tables);
  if (header_.version >= TableVersion::kGo116) reader.Fixed(record.unit);
  if (header_.version >= TableVersion::kGo120) reader.Fixed(record.start_line);
  reader.Padding(3);  // funcID, flag, padding
  reader.Fixed(data_tables);
  if (!reader.ok()) return std::nullopt;
  if (IsSince118(header_)) {
    ReadInlining(bytes.last(reader.remaining()), value_tables, data_tables, record);
  }
  if (record.start_line == 0) {
    const std::int32_t line = ValueAt(record.lines, record.entry, record.entry);
    record.start_line = line > 0 ? static_cast<std::uint32_t>(line) : 0;
  }
  return record;
}

// After the record: an offset for each table of values by pc, then one for each other table.
void PcLineTable::ReadInlining(Bytes tables, std::uint32_t value_tables, std::uint8_t data_tables,
                               Record& made) const {
  const FixedArray<std::uint32_t> offsets(tables, parts_.order);
  const std::uint64_t tree = std::uint64_t{value_tables} + kInlineTree;
  if (value_tables <= kInlineIndexTable || data_tables <= kInlineTree) return;
  if (tree >= offsets.size() || offsets[tree] == kNoData) return;
  made.inline_index = offsets[kInlineIndexTable];
  made.inline_tree = offsets[tree];
}

// The value for `pc` in a function's table. -1 if there is none.
std::int32_t PcLineTable::ValueAt(std::uint32_t table, std::uint64_t entry,
                                  std::uint64_t pc) const {
  if (table == 0 || table >= parts_.table.size() - header_.values) return -1;
  std::int32_t found = -1;
  ForEachValue(parts_.table.subspan(header_.values + table), entry, header_.pc_quantum,
               [&](std::uint64_t end, std::int32_t value) {
                 if (pc >= end) return false;
                 found = value;
                 return true;
               });
  return found;
}

// Until Go 1.19: { i16 parent; u8 funcID, padding; i32 file, line, func, parentPc; }, since 1.20:
// { u8 funcID, padding[3]; i32 nameOff, parentPc, startLine; }.
std::optional<PcLineTable::InlinedCall> PcLineTable::CallOf(const Record& record,
                                                            std::int32_t index) const {
  if (index < 0 || !record.inline_tree) return std::nullopt;
  const bool is_old = header_.version == TableVersion::kGo118;
  const std::uint64_t at =
      *record.inline_tree + static_cast<std::uint64_t>(index) * (is_old ? 20 : 16);
  if (at > parts_.function_data.size()) return std::nullopt;
  ByteReader reader(parts_.function_data.subspan(at), parts_.order);
  InlinedCall call;
  reader.Padding(is_old ? 12 : 4);
  reader.Fixed(call.name);
  reader.Fixed(call.parent_pc);
  if (!is_old) reader.Fixed(call.start_line);
  if (!reader.ok()) return std::nullopt;
  return call;
}

// The frame without inlined calls.
GoFrame PcLineTable::FrameAt(const Record& record, std::uint64_t pc) const {
  const std::int32_t line = ValueAt(record.lines, record.entry, pc);
  return {.function = TextAt(header_.names, record.name),
          .file = FileOf(record, ValueAt(record.files, record.entry, pc)),
          .line = line > 0 ? static_cast<std::uint32_t>(line) : 0,
          .start_line = record.start_line};
}

std::string_view PcLineTable::FileOf(const Record& record, std::int32_t number) const {
  if (number < 0) return {};
  const auto at = static_cast<std::uint64_t>(number);
  const bool is_old = header_.version == TableVersion::kGo12;
  const std::uint64_t list = is_old ? header_.files : header_.units;
  const FixedArray<std::uint32_t> offsets(parts_.table.subspan(list), parts_.order);
  const std::uint64_t index = is_old ? at : record.unit + at;
  if (index >= offsets.size() || offsets[index] == kNoData) return {};
  return TextAt(is_old ? 0 : header_.files, offsets[index]);
}

// The NUL-terminated text at `offset` in the part of the table that begins at `part`.
std::string_view PcLineTable::TextAt(std::uint64_t part, std::uint64_t offset) const {
  if (offset >= parts_.table.size() - part) return {};
  const std::string_view text = AsText(parts_.table.subspan(part + offset)).substr(0, kLongestText);
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

std::vector<elf::FileRange> PcLineTable::RangesRead() const {
  if (file_ == nullptr) return {};
  const auto range_of = [&](Bytes bytes) {
    return elf::FileRange{.start = {static_cast<std::uint64_t>(bytes.data() - file_)},
                          .size = bytes.size()};
  };
  std::vector<elf::FileRange> ranges = {range_of(parts_.table)};
  if (!module_data_.empty()) ranges.push_back(range_of(module_data_));
  std::uint64_t begin = kNone, end = 0;
  // Usually each row belongs to one function. In a damaged table all functions may share all rows.
  std::uint64_t rows_left = parts_.table.size();
  for (std::uint64_t function = 0; function < header_.functions; ++function) {
    const std::optional<Record> record = RecordOf(function);
    if (!record || !record->inline_tree) continue;
    std::int32_t last = -1;
    if (record->inline_index != 0 && record->inline_index < parts_.table.size() - header_.values) {
      ForEachValue(parts_.table.subspan(header_.values + record->inline_index), 0, 1,
                   [&](std::uint64_t, std::int32_t value) {
                     last = std::max(last, value);
                     return rows_left == 0 || --rows_left == 0;
                   });
    }
    begin = std::min<std::uint64_t>(begin, *record->inline_tree);
    const std::uint64_t calls = static_cast<std::uint64_t>(last + std::int64_t{1});
    end = std::max<std::uint64_t>(end, *record->inline_tree + calls * 20);
  }
  end = std::min<std::uint64_t>(end, parts_.function_data.size());
  if (begin < end) ranges.push_back(range_of(parts_.function_data.subspan(begin, end - begin)));
  return ranges;
}

}  // namespace perftape::go

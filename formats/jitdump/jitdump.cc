// SPDX-License-Identifier: Apache-2.0
#include "formats/jitdump/jitdump.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace perftape::jitdump {
namespace {

constexpr std::uint32_t kMagic = 0x4a695444;
constexpr std::uint32_t kForeignMagic = 0x4454694a;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kCpuTimes = 1;  // JITDUMP_FLAGS_ARCH_TIMESTAMP
constexpr std::uint64_t kRecordHeader = 16;

enum class RecordType : std::uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kUnwindingInfo = 4 };

// V8 adds the size of an ELF header to the addresses of its lines, because perf used to omit it
// (src/diagnostics/perf-jit.cc, kElfHeaderSize). Its dumps have this value in the padding.
constexpr std::uint32_t kPaddingOfV8 = 0xdeadbeef;
constexpr std::uint64_t kShiftOfV8 = 0x40;

// This file name means that of the previous line.
constexpr std::string_view kSameFile = "\xff";

// Reads a NUL-terminated text, including the NUL.
std::string_view ReadText(ByteReader& at) {
  const std::string_view rest = at.Rest();
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    at.Break();
    return {};
  }
  at.Padding(end + 1);
  return rest.substr(0, end);
}

}  // namespace

class JitDump::Decoder {
 public:
  explicit Decoder(Bytes dump) : dump_(dump) {}
  Result<JitDump> Run() &&;

 private:
  struct Lines {
    std::uint32_t first = 0, count = 0;
  };

  Result<std::uint64_t> ReadHeader();
  void ReadRecord(RecordType type, std::uint64_t time, std::uint64_t begin, Bytes payload);
  bool ReadLoad(std::uint64_t time, std::uint64_t begin, ByteReader at);
  bool ReadMove(std::uint64_t time, ByteReader at);
  bool ReadDebugInfo(ByteReader at);
  bool ReadUnwindingInfo(ByteReader at, Bytes payload);
  Lines ReadLines(std::uint64_t start, std::uint64_t size);

  Bytes dump_;
  std::endian order_ = std::endian::native;
  std::uint64_t line_shift_ = 0;
  JitDump made_;
  // From a code_index to the index of the function.
  std::unordered_map<std::uint64_t, std::uint32_t> by_index_;
  // The lines of the next function to be loaded, by address.
  std::uint64_t lines_start_ = 0;
  std::vector<CodeLine> next_lines_;
  Bytes next_frames_;  // of the next function
};

Result<JitDump> JitDump::Read(Bytes dump) {
  return Decoder(dump).Run();
}

Result<JitDump> JitDump::Decoder::Run() && {
  TRY_ASSIGN(std::uint64_t at, ReadHeader());
  while (at < dump_.size()) {
    ByteReader reader(dump_.subspan(at), order_);
    RecordType type = {};
    std::uint32_t size = 0;
    std::uint64_t time = 0;
    reader.Fixed(type);
    reader.Fixed(size);
    reader.Fixed(time);
    // Without a valid size, the next record cannot be found.
    if (!reader.ok() || size < kRecordHeader || size > dump_.size() - at) break;
    ReadRecord(type, time, at + kRecordHeader,
               dump_.subspan(at + kRecordHeader, size - kRecordHeader));
    at += size;
  }
  made_.cut_bytes_ = dump_.size() - at;
  std::ranges::stable_sort(made_.placements_, {}, &Placement::time);
  return std::move(made_);
}

// { u32 magic, version, total_size, elf_mach, pad1, pid; u64 timestamp, flags; }. Returns the size.
Result<std::uint64_t> JitDump::Decoder::ReadHeader() {
  ByteReader magic_reader(dump_);
  std::uint32_t magic = 0;
  magic_reader.Fixed(magic);
  if (magic != kMagic && magic != kForeignMagic) return Fail(ErrorCode::kCorrupt, "no jitdump");
  if (magic == kForeignMagic) {
    order_ = order_ == std::endian::little ? std::endian::big : std::endian::little;
  }
  ByteReader at(dump_, order_);
  std::uint32_t version = 0, size = 0, padding = 0;
  std::uint64_t flags = 0;
  at.Padding(4);
  at.Fixed(version);
  at.Fixed(size);
  at.Padding(4);  // elf_mach
  at.Fixed(padding);
  at.Fixed(made_.pid_);
  at.Padding(8);  // timestamp
  at.Fixed(flags);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "a jitdump that ends in its header");
  if (version != kVersion) {
    return Fail(ErrorCode::kUnsupported, fmt::format("jitdump of version {}", version));
  }
  if (size < dump_.size() - at.remaining() || size > dump_.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("jitdump with a header of {} bytes", size));
  }
  made_.order_ = order_;
  made_.has_cpu_times_ = (flags & kCpuTimes) != 0;
  if (padding == kPaddingOfV8) line_shift_ = kShiftOfV8;
  return size;
}

void JitDump::Decoder::ReadRecord(RecordType type, std::uint64_t time, std::uint64_t begin,
                                  Bytes payload) {
  const ByteReader at(payload, order_);
  bool is_good = true;
  if (type == RecordType::kLoad) is_good = ReadLoad(time, begin, at);
  if (type == RecordType::kMove) is_good = ReadMove(time, at);
  if (type == RecordType::kDebugInfo) is_good = ReadDebugInfo(at);
  if (type == RecordType::kUnwindingInfo) is_good = ReadUnwindingInfo(at, payload);
  if (!is_good) ++made_.damaged_;
}

// { u32 pid, tid; u64 vma, code_addr, code_size, code_index; char name[]; u8 code[]; }, at offset
// `begin` of the dump.
bool JitDump::Decoder::ReadLoad(std::uint64_t time, std::uint64_t begin, ByteReader at) {
  const std::uint64_t whole = at.remaining();
  std::uint64_t address = 0, size = 0, index = 0;
  at.Padding(16);
  at.Fixed(address);
  at.Fixed(size);
  at.Fixed(index);
  const std::string_view name = ReadText(at);
  if (!at.ok() || size > at.remaining() || size > ~std::uint64_t{0} - address) return false;
  const Lines lines = ReadLines(address, size);
  const Bytes frames = std::exchange(next_frames_, {});
  if (size == 0) return true;
  made_.has_frames_ = made_.has_frames_ || !frames.empty();
  const auto function = static_cast<std::uint32_t>(made_.functions_.size());
  made_.functions_.push_back({.name = name,
                              .code = {begin + (whole - at.remaining())},
                              .size = size,
                              .first_line = lines.first,
                              .line_count = lines.count,
                              .eh_frame = frames});
  made_.placements_.push_back({.time = time, .function = function, .start = {address}});
  by_index_[index] = function;
  return true;
}

// { u32 pid, tid; u64 vma, old_code_addr, new_code_addr, code_size, code_index; }
bool JitDump::Decoder::ReadMove(std::uint64_t time, ByteReader at) {
  std::uint64_t address = 0, index = 0;
  at.Padding(24);
  at.Fixed(address);
  at.Padding(8);
  at.Fixed(index);
  const auto known = by_index_.find(index);
  if (!at.ok() || known == by_index_.end()) return false;
  if (made_.functions_[known->second].size > ~std::uint64_t{0} - address) return false;
  made_.placements_.push_back({.time = time, .function = known->second, .start = {address}});
  return true;
}

// { u64 code_addr, nr_entry; { u64 code_addr; u32 line, discrim; char name[]; } entries[]; }
bool JitDump::Decoder::ReadDebugInfo(ByteReader at) {
  std::uint64_t count = 0;
  next_lines_.clear();
  at.Fixed(lines_start_);
  at.Fixed(count);
  std::string_view last;
  for (; count > 0 && at.ok(); --count) {
    CodeLine line;
    at.Fixed(line.offset);  // still an address
    at.Fixed(line.line);
    at.Fixed(line.column);
    line.file = ReadText(at);
    if (line.file == kSameFile) line.file = last;
    last = line.file;
    line.offset -= line_shift_;
    next_lines_.push_back(line);
  }
  if (at.ok()) return true;
  next_lines_.clear();
  return false;
}

// { u64 unwinding_size, eh_frame_hdr_size, mapped_size; u8 eh_frame[], eh_frame_hdr[]; }: that of
// the function that is loaded next. unwinding_size is that of both. V8 writes a record of size 0
// for a function that has none.
bool JitDump::Decoder::ReadUnwindingInfo(ByteReader at, Bytes payload) {
  std::uint64_t size = 0, header_size = 0;
  next_frames_ = {};
  at.Fixed(size);
  at.Fixed(header_size);
  at.Padding(8);  // mapped_size
  if (!at.ok() || size > at.remaining() || header_size > size) return false;
  next_frames_ = payload.subspan(payload.size() - at.remaining(), size - header_size);
  return true;
}

// Returns the pending lines if they belong to the function at `start`. If one line is outside of
// the function, none can be trusted: Node 20 writes lines whose names it has moved meanwhile.
JitDump::Decoder::Lines JitDump::Decoder::ReadLines(std::uint64_t start, std::uint64_t size) {
  std::vector<CodeLine> lines = std::exchange(next_lines_, {});
  if (lines.empty()) return {};
  const bool is_inside = std::ranges::all_of(lines, [&](const CodeLine& line) {
    return line.offset >= start && line.offset - start <= size;
  });
  if (lines_start_ != start || !is_inside) return {};
  std::ranges::stable_sort(lines, {}, &CodeLine::offset);
  const Lines own_lines{.first = static_cast<std::uint32_t>(made_.lines_.size()),
                        .count = static_cast<std::uint32_t>(lines.size())};
  for (CodeLine& line : lines) line.offset -= start;
  made_.lines_.insert(made_.lines_.end(), lines.begin(), lines.end());
  return own_lines;
}

const Function* JitDump::Find(FileOffset offset) const {
  const auto above = std::ranges::upper_bound(functions_, offset, {}, &Function::code);
  if (above == functions_.begin()) return nullptr;
  const Function& function = *std::prev(above);
  return offset.value - function.code.value < function.size ? &function : nullptr;
}

const CodeLine* JitDump::LineOf(const Function& function, FileOffset offset) const {
  const auto first = lines_.begin() + function.first_line;
  const auto above = std::upper_bound(
      first, first + function.line_count, offset.value - function.code.value,
      [](std::uint64_t wanted, const CodeLine& line) { return wanted < line.offset; });
  return above == first ? nullptr : &*std::prev(above);
}

std::string_view JitDump::FileOf(const Function& function) const {
  return function.line_count == 0 ? std::string_view() : lines_[function.first_line].file;
}

}  // namespace perftape::jitdump

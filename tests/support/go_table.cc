// SPDX-License-Identifier: Apache-2.0
#include "tests/support/go_table.h"

#include <cstddef>

namespace perftape {
namespace {

using go::TableVersion;

// Appends numbers in either byte order.
class Out {
 public:
  explicit Out(std::endian order) : order_(order) {}

  void Number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (order_ == std::endian::little ? i : size - 1 - i);
      bytes.push_back(static_cast<std::byte>(value >> shift));
    }
  }
  void U32(std::uint64_t value) { Number(value, 4); }
  std::uint32_t Text(const std::string& text) {
    const auto at = static_cast<std::uint32_t>(bytes.size());
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    bytes.push_back(std::byte{0});
    return at;
  }
  void Varint(std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::byte>(value | 0x80));
    bytes.push_back(static_cast<std::byte>(value));
  }
  std::uint32_t Values(const std::vector<GoValue>& values, std::uint32_t quantum) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::uint32_t>(bytes.size());
    std::int32_t last = -1;
    std::uint32_t pc = 0;
    for (const GoValue& value : values) {
      const std::int32_t step = value.value - last;
      const auto doubled = static_cast<std::uint32_t>(step) << 1;
      Varint(step < 0 ? ~doubled : doubled);
      Varint((value.end - pc) / quantum);
      last = value.value;
      pc = value.end;
    }
    Varint(0);
    return at;
  }
  void Append(const Out& other) {
    bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
  }
  std::size_t size() const { return bytes.size(); }

  std::vector<std::byte> bytes;

 private:
  std::endian order_;
};

class Maker {
 public:
  Maker(const GoTableFormat& format, const std::vector<GoFunction>& functions)
      : format_(format), functions_(functions) {}

  GoTable Make(std::uint64_t end);

 private:
  bool Since(TableVersion version) const { return format_.version >= version; }
  unsigned entry_size() const { return Since(TableVersion::kGo118) ? 4 : format_.word_size; }
  void MakeRecord(const GoFunction& function, std::uint32_t file);
  std::uint32_t MakeCalls(const std::vector<GoInlinedCall>& calls);

  // In version 1.2 all offsets count from the start of the table: texts and values share one part.
  Out& names() { return Since(TableVersion::kGo116) ? names_ : shared_; }
  Out& files() { return Since(TableVersion::kGo116) ? files_ : shared_; }
  Out& values() { return Since(TableVersion::kGo116) ? values_ : shared_; }
  std::size_t entries() const { return (2 * functions_.size() + 1) * entry_size(); }
  std::vector<std::byte> PutTogether(const std::vector<std::uint32_t>& offsets, std::uint64_t end);
  std::vector<std::byte> PutTogetherOld(const std::vector<std::uint32_t>& offsets,
                                        std::uint64_t end);
  Out Head() const;

  const GoTableFormat& format_;
  const std::vector<GoFunction>& functions_;
  Out shared_{format_.order};
  Out names_{format_.order}, units_{format_.order}, files_{format_.order}, values_{format_.order};
  Out records_{format_.order}, data_{format_.order};
};

std::uint32_t Maker::MakeCalls(const std::vector<GoInlinedCall>& calls) {
  data_.U32(0);  // so that no tree has offset 0
  const auto at = static_cast<std::uint32_t>(data_.size());
  for (const GoInlinedCall& call : calls) {
    if (!Since(TableVersion::kGo120)) data_.Number(0, 8);
    data_.U32(0);
    data_.U32(names().Text(call.name));
    data_.U32(call.parent_pc);
    if (Since(TableVersion::kGo120)) data_.U32(call.start_line);
  }
  return at;
}

void Maker::MakeRecord(const GoFunction& function, std::uint32_t file) {
  records_.Number(function.entry, entry_size());
  records_.U32(names().Text(function.name));
  for (int i = 0; i < 2; ++i) records_.U32(0);  // args, deferreturn
  records_.U32(values().Values(function.stack_use, format_.pc_quantum));
  const std::uint32_t end = function.lines.empty() ? 1 : function.lines.back().end;
  const auto number = static_cast<std::int32_t>(Since(TableVersion::kGo116) ? 0 : file);
  records_.U32(values().Values({{end, number}}, format_.pc_quantum));
  records_.U32(values().Values(function.lines, format_.pc_quantum));
  records_.U32(3);  // npcdata
  if (Since(TableVersion::kGo116)) records_.U32(file);
  if (Since(TableVersion::kGo120)) records_.U32(function.start_line);
  records_.Number(0, 3);
  records_.Number(Since(TableVersion::kGo118) ? 4 : 0, 1);  // nfuncdata
  records_.Number(0, 8);
  records_.U32(values().Values(function.inline_index, format_.pc_quantum));
  if (!Since(TableVersion::kGo118)) return;
  for (int i = 0; i < 3; ++i) records_.U32(0xffffffff);
  records_.U32(function.calls.empty() ? 0xffffffff : MakeCalls(function.calls));
}

Out Maker::Head() const {
  constexpr std::uint32_t kMagics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
  Out head(format_.order);
  head.U32(kMagics[static_cast<std::size_t>(format_.version)]);
  head.Number(0, 2);
  head.Number(format_.pc_quantum, 1);
  head.Number(format_.word_size, 1);
  head.Number(functions_.size(), format_.word_size);
  return head;
}

std::vector<std::byte> Maker::PutTogetherOld(const std::vector<std::uint32_t>& offsets,
                                             std::uint64_t end) {
  Out table = Head();
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    table.Number(functions_[i].entry, format_.word_size);
    table.Number(shared_.size() + offsets[i], format_.word_size);
  }
  table.Number(end, format_.word_size);
  table.U32(shared_.size() + records_.size());
  const std::size_t head = table.size();
  table.Append(shared_);
  table.bytes.erase(table.bytes.begin() + static_cast<std::ptrdiff_t>(head),
                    table.bytes.begin() + static_cast<std::ptrdiff_t>(2 * head));
  table.Append(records_);
  table.Append(units_);
  return table.bytes;
}

std::vector<std::byte> Maker::PutTogether(const std::vector<std::uint32_t>& offsets,
                                          std::uint64_t end) {
  Out table = Head();
  const std::size_t words = Since(TableVersion::kGo118) ? 8 : 7;
  std::size_t at = 8 + words * format_.word_size;
  table.Number(functions_.size(), format_.word_size);  // files
  if (Since(TableVersion::kGo118)) table.Number(format_.text_start, format_.word_size);
  for (const Out* part : {&names_, &units_, &files_, &values_}) {
    table.Number(at, format_.word_size);
    at += part->size();
  }
  table.Number(at, format_.word_size);
  for (const Out* part : {&names_, &units_, &files_, &values_}) table.Append(*part);
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    table.Number(functions_[i].entry, entry_size());
    table.Number(entries() + offsets[i], entry_size());
  }
  table.Number(end, entry_size());
  table.Append(records_);
  return table.bytes;
}

GoTable Maker::Make(std::uint64_t end) {
  // Overwrites the zeros at the front, which were reserved for it.
  shared_.bytes.resize(8 + format_.word_size + entries() + 4);
  for (Out* part : {&names_, &values_, &files_}) part->Number(0, 1);  // no entry has offset 0
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    units_.U32(files().Text(functions_[i].file));
    offsets.push_back(static_cast<std::uint32_t>(records_.size()));
    MakeRecord(functions_[i], i);
  }
  return {.table = Since(TableVersion::kGo116) ? PutTogether(offsets, end)
                                               : PutTogetherOld(offsets, end),
          .function_data = data_.bytes};
}

}  // namespace

GoTable MakeGoTable(const GoTableFormat& format, const std::vector<GoFunction>& functions,
                    std::uint64_t end) {
  return Maker(format, functions).Make(end);
}

}  // namespace perftape

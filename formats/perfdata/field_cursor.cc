// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/field_cursor.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "formats/perfdata/bpf_program.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/flag_text.h"
#include "formats/perfdata/kernel_records.h"

namespace perftape::perfdata {
namespace {

// The namespaces of NAMESPACES, in the order of perf_event.h.
constexpr std::array<std::string_view, 7> kNamespaceNames = {"net",  "uts", "ipc",   "pid",
                                                             "user", "mnt", "cgroup"};

std::string ElementText(Form form, std::uint64_t number, std::int64_t signed_number) {
  switch (form) {
    case Form::kSigned:
      return fmt::format("{}", signed_number);
    case Form::kHex:
      return fmt::format("{:x}", number);
    case Form::kCallchain:
      return CallchainEntryText(number);
    default:
      return fmt::format("{}", number);
  }
}

}  // namespace

void FieldCursor::Integer(const FieldInfo& info, std::uint64_t number, std::int64_t signed_number) {
  switch (info.form) {
    case Form::kSigned:
      return to_.Signed(info.name, signed_number);
    case Form::kHex:
      return to_.Hex(info.name, number);
    case Form::kProtection:
      return to_.Word(info.name, ProtectionText(static_cast<std::uint32_t>(number)));
    case Form::kFeature:
      return to_.Word(info.name, FeatureName(static_cast<FeatureBit>(number)));
    case Form::kDataSource:
      to_.Hex(info.name, number);
      if (number != 0) to_.Word(fmt::format("{}_text", info.name), DataSourceText(number));
      return;
    default:
      return to_.Number(info.name, number);
  }
}

void FieldCursor::Elements(const FieldInfo& info, const std::vector<Element>& elements) {
  if (info.form == Form::kEach) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      to_.Number(info.names[i], elements[i].number);
    }
    return;
  }
  if (info.is_optional && elements.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(elements.size());
  for (const Element& element : elements) {
    texts.push_back(ElementText(info.form, element.number, element.signed_number));
  }
  to_.Words(info.name, texts);
}

void FieldCursor::Words(const WordArray& values, std::uint64_t count, const FieldInfo& info) {
  if (info.form == Form::kBranches) return Branches(values, info);
  if (info.form == Form::kNamespaces) return Namespaces(values);
  Array(values, count, info);
}

void FieldCursor::Blob(Bytes value, std::uint64_t /*size*/, const FieldInfo& info) {
  if (info.is_optional && value.empty()) return;
  switch (info.form) {
    case Form::kSize:
      return to_.Number(info.name, value.size());
    case Form::kText: {
      const std::string_view text = AsText(value);
      return to_.Text(info.name, text.substr(0, text.find('\0')));
    }
    default:
      return to_.Blob(info.name, value);
  }
}

void FieldCursor::Attr(const EventAttr& attr, const FieldInfo& info) {
  to_.Word(info.name, AttrText(attr));
}

void FieldCursor::Device(std::uint32_t device_major, std::uint32_t device_minor,
                         const FieldInfo& info) {
  to_.Word(info.name, fmt::format("{:x}:{:x}", device_major, device_minor));
}

void FieldCursor::Order(std::endian order, const FieldInfo& info) {
  to_.Word(info.name, order == std::endian::little ? "little" : "big");
}

void FieldCursor::Program(Bytes bpf_prog_info) {
  const std::optional<BpfProgram> program = BpfProgramOf(bpf_prog_info, order_);
  if (!program) return to_.Number("info_len", bpf_prog_info.size());
  to_.Number("id", program->id);
  to_.Number("type", program->type);
  to_.Text("name", program->name());
  to_.Number("jited_prog_len", program->jited_size);
  to_.Number("xlated_prog_len", program->xlated_size);
}

void FieldCursor::Table(std::string_view name, std::initializer_list<Columns> tables) {
  const Columns& first = *tables.begin();
  const std::size_t rows = first.words.size() / first.columns.size();
  to_.OpenList(name, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    to_.OpenItem();
    for (const Columns& table : tables) {
      std::size_t i = row * table.columns.size();
      if (i + table.columns.size() > table.words.size()) continue;
      for (const FieldInfo& column : table.columns) Fixed(table.words[i++], column);
    }
    to_.CloseItem();
  }
  to_.CloseList();
}

void FieldCursor::Branches(const WordArray& words, const FieldInfo& info) {
  std::vector<std::string> branches;
  for (std::size_t i = 0; i < words.size() / 3; ++i) {
    branches.push_back(
        fmt::format("{:x}->{:x}/{:x}", words[3 * i], words[3 * i + 1], BranchFlagsAt(words, i)));
  }
  to_.Words(info.name, branches);
}

void FieldCursor::Namespaces(const WordArray& words) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::size_t kind = i / 2;
    to_.Word(kind < kNamespaceNames.size() ? kNamespaceNames[kind] : "other",
             fmt::format("{:x}:{}", words[i], words[i + 1]));
  }
}

}  // namespace perftape::perfdata

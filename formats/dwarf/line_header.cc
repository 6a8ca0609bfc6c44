// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "formats/dwarf/line_program.h"

namespace perftape::dwarf {
namespace {

struct EntryFormat {
  std::uint16_t content = 0, form = 0;
};

// DWARF 5: the format of the entries, { u8 count; { uleb content, form }[count] }.
std::vector<EntryFormat> ReadFormats(Cursor& at) {
  std::vector<EntryFormat> formats(at.Fixed<std::uint8_t>());
  for (EntryFormat& format : formats) {
    format.content = static_cast<std::uint16_t>(at.Uleb());
    format.form = static_cast<std::uint16_t>(at.Uleb());
  }
  return formats;
}

// DWARF 5: { formats; uleb count; entries }.
std::vector<SourceFile> ReadEntries(Cursor& at, const Unit& unit, Encoding encoding) {
  const std::vector<EntryFormat> formats = ReadFormats(at);
  const std::uint64_t count = at.Uleb();
  std::vector<SourceFile> entries;
  if (formats.empty()) return entries;
  while (entries.size() < count && at.ok() && at.remaining() != 0) {
    SourceFile entry;
    for (const EntryFormat& format : formats) {
      const FormValue value = ReadForm(at, format.form, 0, encoding);
      if (format.content == DW_LNCT_path) entry.name = TextOf(unit, value);
      if (format.content == DW_LNCT_directory_index) entry.directory = value.number;
    }
    entries.push_back(entry);
  }
  return entries;
}

// Before DWARF 5: directories, then files, each list terminated by an empty name. Three numbers
// follow each file name: directory, time and size.
void ReadOldTables(Cursor& at, LineHeader& header) {
  while (true) {
    const std::string_view name = at.String();
    if (name.empty()) break;
    header.directories.push_back(name);
  }
  while (true) {
    const std::string_view name = at.String();
    if (name.empty()) break;
    header.files.push_back({.name = name, .directory = at.Uleb()});
    at.Uleb();  // time
    at.Uleb();  // size
  }
}

void ReadTables(Cursor& at, const Unit& unit, LineHeader& header) {
  if (header.version < 5) {
    ReadOldTables(at, header);
    return;
  }
  const Encoding encoding = {.version = header.version,
                             .offset_size = header.offset_size,
                             .address_size = header.address_size};
  for (const SourceFile& entry : ReadEntries(at, unit, encoding)) {
    header.directories.push_back(entry.name);
  }
  header.files = ReadEntries(at, unit, encoding);
}

bool IsAbsolute(std::string_view path) {
  return path.starts_with('/');
}

void AppendPath(std::string& path, std::string_view more) {
  if (more.empty()) return;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  path += more;
}

}  // namespace

// { u32 length, or 0xffffffff and u64 length; u16 version; DWARF 5: u8 address size, segment
// selector size; offset-sized length of the rest of the header; u8 minimum instruction size;
// DWARF 4: u8 operations of an instruction; u8 default_is_stmt; i8 line_base; u8 line_range,
// opcode_base, operand counts[opcode_base - 1]; directories; files }
Result<LineHeader> LineHeader::Read(const Unit& unit) {
  const std::uint64_t offset = unit.line_program.value_or(0);
  Cursor at(unit.linked_sections->line, offset, unit.sections->order);
  LineHeader header;
  header.address_size = unit.header.encoding.address_size;
  const std::uint64_t length = at.InitialLength(header.offset_size);
  at.EndAfter(length);
  header.end = at.offset() + at.remaining();
  header.version = at.Fixed<std::uint16_t>();
  if (at.ok() && (header.version < 2 || header.version > 5)) {
    return Fail(ErrorCode::kUnsupported, ".debug_line: program at " + std::to_string(offset) +
                                             " is of version " + std::to_string(header.version));
  }
  if (header.version >= 5) {
    header.address_size = at.Fixed<std::uint8_t>();
    at.Skip(1);
  }
  const std::uint64_t rest = at.Unsigned(header.offset_size);
  header.program = rest <= at.remaining() ? at.offset() + rest : header.end;
  header.minimum_instruction_size = at.Fixed<std::uint8_t>();
  if (header.version >= 4) at.Skip(1);
  at.Skip(1);
  header.line_base = static_cast<std::int8_t>(at.Fixed<std::uint8_t>());
  header.line_range = at.Fixed<std::uint8_t>();
  header.opcode_base = at.Fixed<std::uint8_t>();
  for (unsigned i = 1; i < header.opcode_base; ++i) {
    header.operand_counts.push_back(at.Fixed<std::uint8_t>());
  }
  if (!at.ok()) {
    return Fail(ErrorCode::kTruncated,
                ".debug_line ends inside the header at " + std::to_string(offset));
  }
  ReadTables(at, unit, header);
  return header;
}

std::string LineHeader::Path(std::uint64_t number, std::string_view unit_directory) const {
  const std::uint64_t index = version >= 5 ? number : number - 1;
  if (index >= files.size()) return {};
  const SourceFile& file = files[index];
  if (IsAbsolute(file.name)) return std::string(file.name);

  // Directory 0 is that of the unit. Since DWARF 5 the table contains it, before it does not.
  const std::uint64_t in_table = version >= 5 ? file.directory : file.directory - 1;
  const std::string_view directory =
      in_table < directories.size() ? directories[in_table] : std::string_view();
  std::string path;
  if (!IsAbsolute(directory) && (version < 5 || file.directory != 0)) path = unit_directory;
  AppendPath(path, directory);
  AppendPath(path, file.name);
  return path;
}

}  // namespace perftape::dwarf

// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/build_id.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/stored_file.h"

namespace perftape::elf {
namespace {

// More than any linker writes. Limits the reads if a header contains false sizes.
constexpr std::uint64_t kMagicSize = 6;
constexpr std::uint64_t kMaxTableSize = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxNotesSize = std::uint64_t{64} << 10;
// What a read costs in addition to its bytes. So many empty notes reach the limit, too.
constexpr std::uint64_t kCostOfRead = 1024;

// A source of bytes. Read returns `size` bytes at `offset`, or fewer at the end of the file.
class FileSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}

  std::vector<std::byte> Read(std::uint64_t offset, std::uint64_t size) const {
    std::vector<std::byte> bytes;
    struct stat status = {};
    if (fstat(fd_, &status) != 0) return bytes;
    const auto file_size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    if (offset >= file_size) return bytes;
    bytes.resize(std::min(size, file_size - offset));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = pread(fd_, bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

 private:
  int fd_;
};

class MemorySource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}

  Bytes Read(std::uint64_t offset, std::uint64_t size) const {
    if (offset >= bytes_.size()) return {};
    return bytes_.subspan(offset, std::min<std::uint64_t>(size, bytes_.size() - offset));
  }

 private:
  Bytes bytes_;
};

// The offset of a table of headers, and the layout of its entries.
struct Table {
  std::uint64_t offset = 0;
  std::uint16_t entry_size = 0;
  std::uint16_t count = 0;
};

struct Header {
  bool is_64 = false;
  std::endian order = std::endian::native;
  Table programs, sections;
};

struct Extent {
  std::uint64_t offset = 0, size = 0;
};

Result<Header> DecodeHeader(Bytes bytes) {
  if (bytes.size() < EI_NIDENT || AsText(bytes.first(SELFMAG)) != ELFMAG) {
    return Fail(ErrorCode::kCorrupt, "not an ELF file");
  }
  Header header;
  header.is_64 = bytes[EI_CLASS] == std::byte{ELFCLASS64};
  header.order = bytes[EI_DATA] == std::byte{ELFDATA2MSB} ? std::endian::big : std::endian::little;

  ByteReader at(bytes.subspan(EI_NIDENT), header.order);
  at.Padding(2 + 2 + 4 + (header.is_64 ? 8 : 4));  // e_type, e_machine, e_version, e_entry
  if (header.is_64) {
    at.Fixed(header.programs.offset);
    at.Fixed(header.sections.offset);
  } else {
    std::uint32_t offset = 0;
    at.Fixed(offset);
    header.programs.offset = offset;
    at.Fixed(offset);
    header.sections.offset = offset;
  }
  at.Padding(4 + 2);  // e_flags, e_ehsize
  at.Fixed(header.programs.entry_size);
  at.Fixed(header.programs.count);
  at.Fixed(header.sections.entry_size);
  at.Fixed(header.sections.count);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "the file ends inside its ELF header");
  return header;
}

// Elf64_Phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, … }
// Elf32_Phdr { u32 type, offset, vaddr, paddr, filesz, … }
std::optional<Extent> NotesOfProgramHeader(ByteReader at, bool is_64) {
  std::uint32_t type = 0;
  Extent notes;
  at.Fixed(type);
  if (is_64) {
    at.Padding(4);
    at.Fixed(notes.offset);
    at.Padding(16);
    at.Fixed(notes.size);
  } else {
    std::uint32_t offset = 0, size = 0;
    at.Fixed(offset);
    at.Padding(8);
    at.Fixed(size);
    notes = {offset, size};
  }
  if (!at.ok() || type != PT_NOTE) return std::nullopt;
  return notes;
}

// Elf64_Shdr { u32 name, type; u64 flags, addr, offset, size; … }. In Elf32_Shdr all fields are
// u32.
std::optional<Extent> NotesOfSectionHeader(ByteReader at, bool is_64) {
  std::uint32_t type = 0;
  Extent notes;
  at.Padding(4);
  at.Fixed(type);
  if (is_64) {
    at.Padding(16);
    at.Fixed(notes.offset);
    at.Fixed(notes.size);
  } else {
    std::uint32_t offset = 0, size = 0;
    at.Padding(8);
    at.Fixed(offset);
    at.Fixed(size);
    notes = {offset, size};
  }
  if (!at.ok() || type != SHT_NOTE) return std::nullopt;
  return notes;
}

// `left` is the number of bytes of notes that may still be read.
template <class Source, class NotesOf>
BuildId SearchTable(const Source& source, const Header& header, const Table& table,
                    const NotesOf& notes_of, std::uint64_t& left) {
  const std::uint64_t size =
      std::min<std::uint64_t>(std::uint64_t{table.entry_size} * table.count, kMaxTableSize);
  if (size == 0) return {};
  const auto bytes = source.Read(table.offset, size);
  for (Bytes rest(bytes); rest.size() >= table.entry_size; rest = rest.subspan(table.entry_size)) {
    const std::optional<Extent> notes =
        notes_of(ByteReader(rest.first(table.entry_size), header.order), header.is_64);
    if (!notes) continue;
    if (left == 0) break;
    const auto read = source.Read(notes->offset, std::min({notes->size, kMaxNotesSize, left}));
    left -= std::min<std::uint64_t>(left, read.size() + kCostOfRead);
    if (const BuildId id = BuildIdFromNotes(Bytes(read), header.order); !id.empty()) return id;
  }
  return {};
}

// Program headers come first because they follow the file header. Relocatable files (kernel
// modules) have none, and those of debug files may point to missing bytes.
template <class Source>
Result<BuildId> Search(const Source& source) {
  const auto beginning = source.Read(0, sizeof(Elf64_Ehdr));
  TRY_ASSIGN(const Header header, DecodeHeader(Bytes(beginning)));
  std::uint64_t left = symbol_limits::kNotes;
  const BuildId id = SearchTable(source, header, header.programs, NotesOfProgramHeader, left);
  if (!id.empty()) return id;
  return SearchTable(source, header, header.sections, NotesOfSectionHeader, left);
}

}  // namespace

Result<BuildId> ReadBuildId(const std::filesystem::path& path) {
  TRY_ASSIGN(const UniqueFd fd, OpenRegularFile(path));
  const auto beginning = FileSource(fd.get()).Read(0, kMagicSize);  // or fewer bytes
  if (IsCompressed(Bytes(beginning))) {
    TRY_ASSIGN(const ElfFile file, ElfFile::Open(path));
    return file.build_id();
  }
  auto id = ReadBuildId(fd.get());
  if (!id) return Fail(InContext(path.native(), std::move(id).error()));
  return id;
}

Result<BuildId> ReadBuildId(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno("fstat", errno);
  if (!S_ISREG(status.st_mode)) return Fail(ErrorCode::kUnsupported, "not a regular file");
  return Search(FileSource(fd));
}

Result<BuildId> BuildIdOf(Bytes elf_image) {
  return Search(MemorySource(elf_image));
}

BuildId BuildIdFromNotes(Bytes notes, std::endian order) {
  ByteReader at(notes, order);
  while (at.remaining() >= sizeof(Elf64_Nhdr)) {
    std::uint32_t name_size = 0, desc_size = 0, type = 0;
    Bytes name, desc;
    at.Fixed(name_size);
    at.Fixed(desc_size);
    at.Fixed(type);
    at.Blob(name, name_size);
    at.Padding(-name_size % 4);
    at.Blob(desc, desc_size);
    if (!at.ok()) return {};
    if (type == NT_GNU_BUILD_ID && AsText(name) == std::string_view("GNU\0", 4) && !desc.empty()) {
      return BuildId::From(desc);
    }
    at.Padding(std::min<std::uint64_t>(-desc_size % 4, at.remaining()));
  }
  return {};
}

}  // namespace perftape::elf

// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/sections.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace perftape::elf {
namespace {

constexpr std::string_view kOldPrefix = ".zdebug_";
constexpr std::string_view kOldMagic = "ZLIB";
constexpr std::uint32_t kZlib = 1, kZstd = 2;  // ELFCOMPRESS_*; elf.h of glibc 2.36 has no ZSTD

bool IsOldStyle(const ElfFile& file, const Section& section) {
  return section.name.starts_with(kOldPrefix) &&
         AsText(file.RawBytes(section)).starts_with(kOldMagic);
}

// "ZLIB", u64 size in big endian, and the stream.
Result<ExpandedBytes> ExpandOldStyle(Bytes bytes) {
  ByteReader at(bytes, std::endian::big);
  std::uint64_t size = 0;
  at.Padding(kOldMagic.size());
  at.Fixed(size);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "ends inside its header");
  return ExpandZlib(AsBytes(at.Rest()), size);
}

// Elf64_Chdr { u32 type, reserved; u64 size, addralign; }, Elf32_Chdr { u32 type, size, addralign;
// }
Result<ExpandedBytes> ExpandNewStyle(Bytes bytes, const FileHeader& header) {
  FieldReader at(bytes, header);
  std::uint32_t type = 0;
  std::uint64_t size = 0, alignment = 0;
  at.Fixed(type);
  if (at.is_64()) at.Padding(4);
  at.Word(size);
  at.Word(alignment);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "ends inside its header");
  if (type == kZlib) return ExpandZlib(AsBytes(at.Rest()), size);
  if (type == kZstd) return ExpandZstd(AsBytes(at.Rest()), size);
  return Fail(ErrorCode::kUnsupported,
              "compressed in a way that is not known, number " + std::to_string(type));
}

// The file as it grows. What is a word wide in its class is written so; byte order is the file's.
class ImageBuilder {
 public:
  explicit ImageBuilder(const FileHeader& header) : header_(header) {}

  template <FixedField T>
  void Fixed(T value) {
    if (header_.order != std::endian::native) value = std::byteswap(value);
    Append(std::as_bytes(std::span(&value, 1)));
  }
  void Word(std::uint64_t value) {
    if (header_.is_64) {
      Fixed(value);
    } else {
      Fixed(static_cast<std::uint32_t>(value));
    }
  }
  void Append(Bytes bytes) { image_.insert(image_.end(), bytes.begin(), bytes.end()); }
  // Returns where they lie.
  std::uint64_t Place(Bytes bytes) {
    image_.resize((image_.size() + 15) / 16 * 16);
    const std::uint64_t at = image_.size();
    Append(bytes);
    return at;
  }
  // Writes over what is at `offset`, in the file header, where the fields of a word's width are.
  void PatchWord(std::size_t offset, std::uint64_t value) {
    ImageBuilder patch(header_);
    patch.Word(value);
    std::ranges::copy(patch.image_, image_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::uint64_t size() const { return image_.size(); }
  std::vector<std::byte> Take() && { return std::move(image_); }

 private:
  const FileHeader& header_;
  std::vector<std::byte> image_;
};

void AppendHeader(ImageBuilder& image, const Section& section, std::uint32_t name) {
  image.Fixed(name);
  image.Fixed(section.type);
  image.Word(section.flags);
  image.Word(section.address);
  image.Word(section.offset);
  image.Word(section.size);
  image.Fixed(section.link);
  image.Fixed(section.info);
  image.Word(section.alignment);
  image.Word(section.entry_size);
}

// Puts the section's bytes into the image, and says so in its header.
Status PlaceSection(const ElfFile& file, Section& section, ImageBuilder& image) {
  if (section.type == SHT_NULL || section.type == SHT_NOBITS) return {};
  if (section.is_loaded() && section.type != SHT_NOTE) {
    section.type = SHT_NOBITS;
    return {};
  }
  TRY_ASSIGN(const SectionBytes contents, ReadSection(file, section));
  section.flags &= ~std::uint64_t{SHF_COMPRESSED};
  section.offset = image.Place(contents.bytes());
  section.size = contents.bytes().size();
  return {};
}

}  // namespace

bool IsCompressed(const ElfFile& file, const Section& section) {
  if (section.type == SHT_NOBITS) return false;
  return (section.flags & SHF_COMPRESSED) != 0 || IsOldStyle(file, section);
}

Result<SectionBytes> ReadSection(const ElfFile& file, const Section& section) {
  const Bytes raw = file.RawBytes(section);
  const auto in_context = [&](Error error) {
    return Fail(InContext("section " + std::string(section.name), std::move(error)));
  };
  if (section.type != SHT_NOBITS && section.type != SHT_NULL && raw.size() < section.size) {
    return in_context({ErrorCode::kTruncated, "the file ends inside it"});
  }
  if (!IsCompressed(file, section)) return SectionBytes(raw);
  auto expanded = (section.flags & SHF_COMPRESSED) != 0 ? ExpandNewStyle(raw, file.header())
                                                        : ExpandOldStyle(raw);
  if (!expanded) return in_context(std::move(expanded).error());
  return SectionBytes(*std::move(expanded));
}

std::string PlainName(std::string_view section_name) {
  if (!section_name.starts_with(kOldPrefix)) return std::string(section_name);
  return ".debug_" + std::string(section_name.substr(kOldPrefix.size()));
}

bool HasCompressedSections(const ElfFile& file) {
  return std::ranges::any_of(file.sections(),
                             [&](const Section& section) { return IsCompressed(file, section); });
}

Result<std::vector<std::byte>> ExpandedImage(const ElfFile& file) {
  const FileHeader& header = file.header();
  const std::size_t entry_size = header.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (header.section_header_size != entry_size || header.section_count != file.sections().size()) {
    return Fail(ErrorCode::kCorrupt, "the table of sections is not whole");
  }
  const std::size_t header_size = header.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  // Else a small file could stand for as many copies of itself as it has sections.
  std::uint64_t stored = 0;
  for (const Section& section : file.sections()) stored += file.RawBytes(section).size();
  if (stored > file.image().size()) {
    return Fail(ErrorCode::kCorrupt, "sections lie upon each other");
  }
  ImageBuilder image(header);
  image.Append(file.image().first(header_size));
  // The program headers keep their order and sizes; where they are is told anew.
  const std::uint64_t programs_size =
      std::uint64_t{header.program_header_size} * header.program_header_count;
  std::uint64_t programs = 0;
  if (header.program_headers < file.image().size() &&
      programs_size <= file.image().size() - header.program_headers) {
    programs = image.Place(file.image().subspan(header.program_headers, programs_size));
  }

  std::vector<Section> sections(file.sections().begin(), file.sections().end());
  std::vector<std::uint32_t> names;
  std::string name_table(1, '\0');
  for (Section& section : sections) {
    names.push_back(static_cast<std::uint32_t>(name_table.size()));
    name_table += PlainName(section.name) + '\0';
    TRY(PlaceSection(file, section, image));
  }
  if (header.section_names < sections.size() && header.section_names != 0) {
    sections[header.section_names].offset = image.Place(AsBytes(name_table));
    sections[header.section_names].size = name_table.size();
  }
  const std::uint64_t table = image.Place({});
  for (std::size_t i = 0; i < sections.size(); ++i) AppendHeader(image, sections[i], names[i]);
  image.PatchWord(header.is_64 ? offsetof(Elf64_Ehdr, e_phoff) : offsetof(Elf32_Ehdr, e_phoff),
                  programs);
  image.PatchWord(header.is_64 ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff),
                  table);
  return std::move(image).Take();
}

}  // namespace perftape::elf

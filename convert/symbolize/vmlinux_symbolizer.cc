// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vmlinux_symbolizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "formats/elf/symbol_entries.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

// Returns the addresses of the symbols that show where the kernel was loaded.
std::map<std::string, std::uint64_t, std::less<>> AddressesOf(const elf::ElfFile& file) {
  std::map<std::string, std::uint64_t, std::less<>> addresses;
  for (const elf::Section& section : file.sections()) {
    if (section.type != SHT_SYMTAB) continue;
    const elf::SymbolEntries entries(file, section);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const elf::SymbolEntry entry = entries[i];
      const std::string_view name = entries.NameOf(entry);
      const bool is_wanted =
          name == "_text" || name == "_stext" || name == "_etext" || name == "_edata";
      if (is_wanted) addresses.emplace(name, entry.value);
    }
  }
  return addresses;
}

// True for a file without sections.
bool IsCode(const elf::ElfFile& file, ImageAddress address) {
  return file.sections().empty() ||
         std::ranges::any_of(file.sections(), [&](const elf::Section& section) {
           return section.is_code() && section.address <= address.value &&
                  address.value - section.address < section.size;
         });
}

}  // namespace

VmlinuxSymbolizer::VmlinuxSymbolizer(std::shared_ptr<ElfBinary> vmlinux, RecordedKernel recorded)
    : vmlinux_(std::move(vmlinux)), recorded_(std::move(recorded)) {
  const elf::ElfFile& image = *vmlinux_->file().image;
  auto addresses = AddressesOf(image);
  // A stripped vmlinux may have its symbols in the debug file.
  if (addresses.empty() && vmlinux_->file().debug) addresses = AddressesOf(*vmlinux_->file().debug);
  move_ = MoveOf(recorded_,
                 {.build_id = image.build_id(), .address_of = [&](std::string_view name) {
                    const auto found = addresses.find(name);
                    return found == addresses.end() ? std::nullopt : std::optional(found->second);
                  }});
}

Result<Resolution> VmlinuxSymbolizer::Resolve(const convert::Profile& profile,
                                              convert::MappingId id,
                                              std::span<const FileOffset> offsets) {
  const convert::Mapping& mapping = profile[id];
  if (!perfdata::ModuleNameOf(profile.text(mapping.filename)).empty()) {
    return MissAll(offsets.size(), Miss::kNoSymbol, "it has no symbols of modules");
  }
  if (!move_.distance) return MissAll(offsets.size(), Miss::kWrongBuildId, move_.reason);
  const elf::ElfFile& image = *vmlinux_->file().image;
  std::vector<FileOffset> in_file;
  std::size_t outside = 0;
  for (const FileOffset offset : offsets) {
    const std::uint64_t address = mapping.start + (offset.value - mapping.file_offset);
    const ImageAddress in_image{address + *move_.distance};
    const auto found = IsCode(image, in_image) ? image.ToFile(in_image) : std::nullopt;
    if (!found) ++outside;
    // For an offset outside the file no symbol is found.
    in_file.push_back(found.value_or(FileOffset{~std::uint64_t{0}}));
  }
  Resolution resolution = ResolveIn(*vmlinux_, in_file);
  resolution.source += fmt::format(" ({})", move_.reason);
  resolution.warning = MovedKernelWarning(outside, offsets.size(), vmlinux_->file().source);
  return resolution;
}

}  // namespace perftape::symbolize

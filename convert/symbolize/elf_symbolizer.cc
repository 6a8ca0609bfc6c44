// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_symbolizer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file_number.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

// Returns the offset of the code in the file of a kernel module. The mapping begins with it,
// because the kernel loads the sections with code first (kernel/module/main.c, layout_sections).
std::uint64_t StartOfModule(const elf::ElfFile& file) {
  const auto text = std::ranges::find_if(file.segments(), &elf::Segment::executable);
  return text == file.segments().end() ? 0 : text->offset.value;
}

}  // namespace

void ElfBinaries::Wait() {
  if (ahead_.valid()) ahead_.get();
}

void ElfBinaries::ReadNamesAhead() {
  std::vector<ElfBinary*> binaries;
  for (const auto& [key, binary] : by_build_id) binaries.push_back(binary.get());
  Wait();
  try {
    ahead_ = std::async(std::launch::async, [binaries = std::move(binaries)] {
      for (ElfBinary* const binary : binaries) binary->names();
    });
  } catch (const std::system_error&) {
    // The system has no more threads. Each binary is read when its names are needed.
  }
}

Result<Resolution> ElfSymbolizer::Resolve(const convert::Profile& profile, convert::MappingId id,
                                          std::span<const FileOffset> offsets) {
  const convert::Mapping& mapping = profile[id];
  const std::string filename(profile.text(mapping.filename));
  shared_.Wait();
  ElfBinary& binary = Open(NameOf(profile, mapping));
  const bool is_module =
      mapping.type == convert::MappingType::kKernel && !perfdata::ModuleNameOf(filename).empty();
  if (!is_module || !binary.file().image) return ResolveIn(binary, offsets);

  const std::uint64_t start = StartOfModule(*binary.file().image);
  std::vector<FileOffset> in_file;
  for (const FileOffset offset : offsets) {
    in_file.push_back({offset.value - mapping.file_offset + start});
  }
  return ResolveIn(binary, in_file);
}

bool ElfSymbolizer::IsCodeOfFile(const convert::Profile& profile, const convert::Mapping& mapping) {
  constexpr std::uint64_t kPage = std::uint64_t{64} << 10;  // the largest of all machines
  shared_.Wait();
  const DebugFile& file = Open(NameOf(profile, mapping)).file();
  if (!file.image) return false;
  const std::uint64_t begin = mapping.file_offset, size = mapping.limit - mapping.start;
  return std::ranges::any_of(file.image->segments(), [&](const elf::Segment& segment) {
    const std::uint64_t first = segment.offset.value / kPage * kPage;
    const std::uint64_t last = (segment.offset.value + segment.size + kPage - 1) / kPage * kPage;
    return segment.executable && first <= begin && begin <= last && size <= last - begin;
  });
}

ElfSymbolizer::Named ElfSymbolizer::NameOf(const convert::Profile& profile,
                                           const convert::Mapping& mapping) {
  const bool is_instance = (mapping.instance & kFileInstance) != 0;
  return {.filename = std::string(profile.text(mapping.filename)),
          .build_id = BuildId::FromHex(profile.text(mapping.build_id)).value_or(BuildId{}),
          .instance = is_instance ? mapping.instance : 0};
}

ElfBinary& ElfSymbolizer::Open(const Named& named) {
  const BuildId& build_id = named.build_id;
  // Files of this machine add lines, but only for recordings that were made on it.
  const std::string not_local =
      build_id.empty() ? recording_.not_local() : recording_.not_local_by_build_id();
  std::optional<std::pair<BuildId, bool>> shared_key;
  if (!build_id.empty()) shared_key = {build_id, not_local.empty()};
  return OpenOnce(shared_.by_build_id, shared_key, others_, named, [&] {
    const std::vector<SharedBundle> bundles = recording_.Bundles();
    return std::make_unique<ElfBinary>(
        shared_.files.Find({.filename = named.filename,
                            .build_id = build_id,
                            .instance = named.instance,
                            .bundles = bundles,
                            .not_local = not_local,
                            .wants_lines = shared_.options.source_lines != SourceLines::kNone}),
        shared_.options);
  });
}

}  // namespace perftape::symbolize

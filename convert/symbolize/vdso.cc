// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vdso.h"

#include <sys/auxv.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/build_id.h"
#include "formats/base/file.h"

namespace perftape {

Result<std::vector<std::byte>> ReadOwnVdso() {
  const std::uint64_t start = getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return Fail(ErrorCode::kNotFound, "this process has no vdso");
  // How far it reaches is told by the mapping alone.
  TRY_ASSIGN(const std::string maps, ReadWholeFile("/proc/self/maps"));
  for (std::string_view rest = maps; !rest.empty();) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    std::uint64_t from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &from, &to) != 2 || from != start) {
      continue;
    }
    const auto* image = reinterpret_cast<const std::byte*>(start);
    return std::vector<std::byte>(image, image + (to - from));
  }
  return Fail(ErrorCode::kNotFound, "/proc/self/maps: holds no vdso");
}

VdsoSymbolizer::VdsoSymbolizer(std::vector<std::byte> image)
    : image_(std::move(image)), file_(elf::ElfFile::FromBytes(image_)) {
  if (file_) names_.emplace(*file_, nullptr);
}

Result<Resolution> VdsoSymbolizer::Resolve(const Profile& profile, MappingId mapping,
                                           std::span<const FileOffset> offsets) {
  if (!names_) return Fail(InContext("vdso", file_.error()));
  const auto recorded = BuildId::FromHex(profile.text(profile[mapping].build_id));
  if (recorded && !file_->build_id().Matches(*recorded)) {
    return MissAll(offsets.size(), Miss::kWrongBuildId,
                   "recorded was a vdso with build id " + recorded->hex() + ", here it is " +
                       file_->build_id().hex());
  }
  Resolution resolution;
  for (const FileOffset offset : offsets) resolution.answers.push_back(names_->Resolve(offset));
  return resolution;
}

}  // namespace perftape

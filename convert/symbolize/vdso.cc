// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vdso.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/elf/debug_search_paths.h"

namespace perftape::symbolize {
namespace {

constexpr std::string_view kOwn = "the vdso of this machine";

// Uses the first image that matches, and notes why the others did not.
class VdsoSearch {
 public:
  explicit VdsoSearch(const BuildId& wanted) : wanted_(wanted) {}

  bool Try(const std::string& name, Result<elf::ElfFile> file) {
    if (!file) {
      Note(name + ": " + file.error().message, false);
      return false;
    }
    if (!wanted_.empty() && !file->build_id().Matches(wanted_)) {
      const BuildId& id = file->build_id();
      Note(name + ": build id " + (id.empty() ? "absent" : id.hex()) +
               ", but the recorded one is " + wanted_.hex(),
           false);
      found_.miss = Miss::kWrongBuildId;
      return false;
    }
    found_.image = *std::move(file);
    found_.source = name + (wanted_.empty() ? ", build id unchecked" : "");
    found_.miss = Miss::kNone;
    return true;
  }

  void KeepBundle(const SharedBundle& bundle) { found_.bundles.push_back(bundle); }
  void Note(std::string what, bool is_plain) {
    if (!is_plain) found_.problem += (found_.problem.empty() ? "" : "; ") + what;
    found_.tried.push_back(std::move(what));
  }

  DebugFile Finish() && {
    if (!found_.image && found_.miss == Miss::kNone) found_.miss = Miss::kNoFile;
    if (found_.image) found_.problem.clear();
    return std::move(found_);
  }

 private:
  BuildId wanted_;
  DebugFile found_;
};

// Returns the vdso in a bundle: by build id, or by name if none was recorded.
std::optional<Bytes> FindInBundle(const bundle::Bundle& bundle, std::string_view filename,
                                  const BuildId& build_id) {
  if (!build_id.empty()) return bundle.Find(build_id, bundle::FileKind::kVdso);
  for (const bundle::BundledFile& file : bundle.manifest().files) {
    const bool is_it = file.kind == bundle::FileKind::kVdso && file.path == filename;
    if (is_it && !file.member.empty()) return bundle.Find(file.member);
  }
  return std::nullopt;
}

Result<elf::ElfFile> OwnVdso() {
  TRY_ASSIGN(std::vector<std::byte> image, ReadOwnVdso());
  return elf::ElfFile::Owning(std::move(image));
}

}  // namespace

Result<std::vector<std::byte>> ReadOwnVdso() {
  const std::uint64_t start = getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return Fail(ErrorCode::kNotFound, "this process has no vdso");
  // Only the mapping has its size.
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
  return Fail(ErrorCode::kNotFound, "/proc/self/maps: contains no vdso");
}

Result<Resolution> VdsoSymbolizer::Resolve(const convert::Profile& profile, convert::MappingId id,
                                           std::span<const FileOffset> offsets) {
  const auto build_id = BuildId::FromHex(profile.text(profile[id].build_id));
  const std::string filename(profile.text(profile[id].filename));
  return ResolveIn(Open(filename, build_id.value_or(BuildId{})), offsets);
}

ElfBinary& VdsoSymbolizer::Open(const std::string& filename, const BuildId& build_id) {
  const auto shared_key = build_id.empty() ? std::nullopt : std::optional(build_id);
  return OpenOnce(shared_.by_build_id, shared_key, others_, std::pair(filename, build_id),
                  [&] { return Find(filename, build_id); });
}

std::unique_ptr<ElfBinary> VdsoSymbolizer::Find(std::string_view filename,
                                                const BuildId& build_id) {
  VdsoSearch search(build_id);
  const auto find = [&] {
    for (const SharedBundle& bundle : recording_.Bundles()) {
      const auto bytes = FindInBundle(*bundle, filename, build_id);
      if (!bytes) continue;
      search.KeepBundle(bundle);
      if (search.Try("bundle: " + std::string(filename), elf::ElfFile::FromBytes(*bytes))) return;
    }
    if (!build_id.empty()) {
      for (const std::filesystem::path& directory : shared_.directories) {
        for (const auto& path :
             elf::SearchPathsIn(directory, build_id, elf::BuildIdFile::kVdso, filename)) {
          auto file = elf::ElfFile::Open(path);
          const bool is_absent = !file && file.error().code == ErrorCode::kNotFound;
          if (!is_absent && search.Try(path.native(), std::move(file))) return;
        }
        search.Note(directory.native() + ": nothing with build id " + build_id.hex(), true);
      }
    }
    const std::string not_local = recording_.not_local();
    if (not_local.empty()) {
      search.Try(std::string(kOwn), OwnVdso());
    } else {
      search.Note(std::string(kOwn) + ": " + not_local, true);
    }
  };
  find();
  return std::make_unique<ElfBinary>(std::move(search).Finish(), SymbolOptions{});
}

}  // namespace perftape::symbolize

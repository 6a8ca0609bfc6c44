// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/bundle_check/bundle_check.h"
#include "convert/model/mappings_without_files.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::bundle_check {
namespace {

using bundle::BundledFile;
using bundle::FileKind;
using bundle::Kept;
using perfdata::MappingSource;

// Returns whether it is a file, the kernel or the vdso, whose symbols a bundle can contain.
bool HasSymbols(const convert::Mapping& mapping, std::string_view path) {
  return mapping.type == convert::MappingType::kKernel ||
         perfdata::SourceOf(path) == MappingSource::kVdso || perfdata::IsFilePath(path);
}

bool IsKept(const BundledFile& file) {
  return file.kept != Kept::kNothing;
}

// Returns why the bundle does not cover the mapping; nothing if it does.
std::optional<std::string> WhyNot(const bundle::Bundle& bundle, const convert::Mapping& mapping,
                                  std::string_view path, std::string_view hex) {
  const auto& files = bundle.manifest().files;
  const auto id = BuildId::FromHex(hex);
  if (mapping.type == convert::MappingType::kKernel) {
    const bool is_kernel = perfdata::SourceOf(path) == MappingSource::kKernel;
    const auto names_it = [&](const BundledFile& file) {
      if (file.kind != FileKind::kKallsyms || !IsKept(file)) return false;
      // The symbols of modules are in the kernel's kallsyms, under its build id.
      return !is_kernel || !id || file.build_id.empty() || id->Matches(file.build_id);
    };
    if (std::ranges::any_of(files, names_it)) return {};
    if (is_kernel) path = perfdata::kKernelMappingName;
  }
  if (id) {
    for (const FileKind kind : {FileKind::kElf, FileKind::kDebug, FileKind::kVdso}) {
      if (bundle.Find(*id, kind)) return {};
    }
  }
  const BundledFile* found = nullptr;
  for (const FileKind kind :
       {FileKind::kElf, FileKind::kDebug, FileKind::kVdso, FileKind::kKallsyms}) {
    const bundle::FoundByPath by_path =
        Find(bundle.manifest(), {.path = path, .kind = kind, .instance = mapping.instance});
    if (by_path.has_several) return "the bundle has several files for this path";
    if (found == nullptr || (!IsKept(*found) && by_path.file != nullptr)) found = by_path.file;
  }
  if (found == nullptr) return "is not in the bundle";
  if (!IsKept(*found)) return found->missing;
  if (hex.empty() || found->build_id.empty()) return {};
  return "in the bundle with another build id, " + found->build_id.hex();
}

}  // namespace

Coverage CoverageOf(const bundle::Bundle& bundle, const convert::Profile& profile) {
  std::vector<std::uint64_t> addresses(profile.mappings().size());
  for (const convert::Location& location : profile.locations()) ++addresses[location.mapping.index];

  Coverage coverage;
  // Indexes in missing.
  std::map<std::tuple<std::string_view, std::string_view, std::uint64_t>, std::size_t> seen;
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    const convert::Mapping& mapping = profile.mappings()[i];
    const std::string_view path = profile.text(mapping.filename);
    const std::string_view hex = profile.text(mapping.build_id);
    if (addresses[i] == 0 || !HasSymbols(mapping, path)) continue;
    const auto [at, is_new] =
        seen.emplace(std::tuple(path, hex, mapping.instance), coverage.missing.size());
    if (is_new) {
      ++coverage.files;
      auto reason = convert::IsHiddenKernel(profile, mapping)
                        ? std::string(convert::WhyHidden(profile))
                        : WhyNot(bundle, mapping, path, hex);
      if (!reason) {
        at->second = SIZE_MAX;
        continue;
      }
      coverage.missing.push_back(
          {.path = std::string(path), .build_id = std::string(hex), .reason = *std::move(reason)});
    }
    if (at->second != SIZE_MAX) coverage.missing[at->second].addresses += addresses[i];
  }
  return coverage;
}

}  // namespace perftape::bundle_check

// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbol_sources.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "convert/symbolize/perf_map_symbolizer.h"
#include "convert/symbolize/readable_names.h"
#include "convert/symbolize/recording_symbolizer.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/manifest.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

namespace fs = std::filesystem;
using perfdata::MappingSource;

Status MakeDirectories(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return FailErrno(directory.native(), error.value());
  return {};
}

// Writes perf's build-id cache (~/.debug): PATH/ID/{elf,debug,vdso,kallsyms}, and a link to the
// directory from .build-id/aa/rest (formats/bundle/layout.h).
class BuildIdCache {
 public:
  explicit BuildIdCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Adds a file, once even if it is called several times for an entry. Without bytes the entry is
  // reported as not found.
  Status Add(const SymbolFile& entry, std::optional<Bytes> bytes);
  CacheReport Finish() && { return std::move(report_); }

 private:
  Status Write(const std::filesystem::path& member, const SymbolFile& entry, Bytes bytes);

  std::filesystem::path directory_;
  std::set<std::string> seen_;  // members
  CacheReport report_;
};

Status BuildIdCache::Add(const SymbolFile& entry, std::optional<Bytes> bytes) {
  const std::string member =
      bundle::MemberName({.path = entry.path, .kind = entry.kind, .build_id = entry.build_id});
  if (!seen_.insert(member).second) return {};
  std::error_code error;
  if (fs::exists(directory_ / member, error)) {
    ++report_.there;
  } else if (!bytes) {
    report_.not_found.push_back(entry.path + " " + entry.build_id.hex());
    return {};
  } else {
    TRY(Write(member, entry, *bytes));
    ++report_.copied;
  }
  return {};
}

Status BuildIdCache::Write(const fs::path& member, const SymbolFile& entry, Bytes bytes) {
  const fs::path file = directory_ / member;
  TRY(MakeDirectories(file.parent_path()));
  TRY_ASSIGN(OutputFile out, OutputFile::Create(file, IfExists::kReplace));
  TRY(out.Write(bytes));
  TRY(std::move(out).Commit());
  const bundle::BuildIdLink link = bundle::LinkTo(member.native(), entry.build_id);
  const fs::path name = directory_ / link.name;
  TRY(MakeDirectories(name.parent_path()));
  std::error_code error;
  fs::create_symlink(link.target, name, error);
  if (error && error != std::errc::file_exists) return FailErrno(name.native(), error.value());
  return {};
}

}  // namespace

SymbolSources::SymbolSources(std::unique_ptr<SharedSources> shared) : shared_(std::move(shared)) {}
SymbolSources::SymbolSources(SymbolSources&&) noexcept = default;
SymbolSources& SymbolSources::operator=(SymbolSources&&) noexcept = default;
SymbolSources::~SymbolSources() = default;

Result<SymbolSources> SymbolSources::Open(const SymbolOptions& options) {
  TRY_ASSIGN(auto shared, SharedSources::Open(options));
  return SymbolSources(std::move(shared));
}

JitSearchPath SymbolSources::JitSearchPathOf(ProfileOrigin& origin) const {
  return RecordingSources(origin, shared_->options, shared_->given).MakeJitSearchPath();
}

void SymbolSources::ReadKernelAhead(ProfileOrigin& origin) {
  RecordingSources sources(origin, shared_->options, shared_->given);
  KernelSymbolizer(shared_->kernels, sources).ReadAhead();
}

SymbolSources::BinaryFinder SymbolSources::BinariesOf(ProfileOrigin& origin) {
  auto symbolizer = std::make_shared<RecordingSymbolizer>(*shared_, origin);
  return [symbolizer](const std::string& path,
                      const BuildId& build_id) -> Result<const elf::ElfFile*> {
    const bool is_vdso = perfdata::SourceOf(path) == MappingSource::kVdso;
    const DebugFile& file = is_vdso ? symbolizer->vdso().FileOf(path, build_id)
                                    : symbolizer->binaries().FileOf(path, build_id);
    if (file.image) return &*file.image;
    if (!file.problem.empty()) return Fail(ErrorCode::kNotFound, file.problem);
    return Fail(ErrorCode::kNotFound, file.miss == Miss::kWrongBuildId
                                          ? "only files of another build were found"
                                          : "its file was not found");
  };
}

void SymbolSources::ReadNamesAhead() {
  shared_->binaries.ReadNamesAhead();
}

convert::Profile SymbolSources::Name(const convert::Profile& profile, ProfileOrigin origin,
                                     SymbolizeReport& report) {
  origin.LearnLives(ProcessesWithPerfMaps(profile));
  RecordingSymbolizer symbolizer(*shared_, origin);
  // Names of jitdumps, perf maps and of the input are those of a compiler.
  convert::Profile named = DemangleNames(
      Symbolize(profile, symbolizer, report,
                shared_->options.replace_names ? OldNames::kReplace : OldNames::kKeep),
      shared_->options.name_style());
  if (!origin.bundle_problem().empty()) report.problems.push_back(origin.bundle_problem());
  const auto recorded = origin.SimpleperfSymbols();
  if (recorded && !recorded->problem.empty()) report.problems.push_back(recorded->problem);
  return named;
}

Status SymbolSources::Collect(const convert::Profile& profile, ProfileOrigin& origin,
                              const SymbolFileSink& sink) {
  RecordingSymbolizer symbolizer(*shared_, origin);
  for (const convert::Mapping& mapping : profile.mappings()) {
    const std::string filename(profile.text(mapping.filename));
    const auto id = BuildId::FromHex(profile.text(mapping.build_id));
    const MappingSource source = perfdata::SourceOf(filename);
    if (!id || id->empty() || source == MappingSource::kGuestKernel) continue;
    if (mapping.type == convert::MappingType::kKernel && source == MappingSource::kKernel) {
      const auto table = symbolizer.kernel().FindTable(profile);
      const auto text = table ? std::optional(AsBytes(table->symbols().text())) : std::nullopt;
      TRY(sink({std::string(perfdata::kKernelMappingName), bundle::FileKind::kKallsyms, *id},
               text));
      continue;
    }
    const bool is_vdso = source == MappingSource::kVdso;
    const DebugFile& file = is_vdso ? symbolizer.vdso().FileOf(filename, *id)
                                    : symbolizer.binaries().FileOf(filename, *id);
    const auto image = file.image ? std::optional(file.image->image()) : std::nullopt;
    const auto kind = is_vdso ? bundle::FileKind::kVdso : bundle::FileKind::kElf;
    TRY(sink({is_vdso ? std::string(perfdata::kVdsoMappingName) : filename, kind, *id}, image));
    if (file.debug) {
      TRY(sink({filename, bundle::FileKind::kDebug, *id}, file.debug->image()));
    }
  }
  return {};
}

Result<CacheReport> SymbolSources::FillCache(const convert::Profile& profile, ProfileOrigin origin,
                                             const std::filesystem::path& directory) {
  BuildIdCache cache(directory);
  TRY(Collect(profile, origin, [&](const SymbolFile& file, std::optional<Bytes> bytes) {
    return cache.Add(file, bytes);
  }));
  return std::move(cache).Finish();
}

Result<convert::Profile> SymbolizeFrom(const convert::Profile& profile,
                                       const SymbolOptions& options, ProfileOrigin origin,
                                       SymbolizeReport& report) {
  TRY_ASSIGN(SymbolSources sources, SymbolSources::Open(options));
  return sources.Name(profile, std::move(origin), report);
}

}  // namespace perftape::symbolize

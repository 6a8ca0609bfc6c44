// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/recording_symbolizer.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "convert/model/mappings_without_files.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

std::vector<std::filesystem::path> DirectoriesOf(const SymbolOptions& options) {
  std::vector<std::filesystem::path> directories = options.debug_dirs;
  if (options.default_debug_dirs) {
    for (auto& directory : elf::DefaultDebugDirs()) directories.push_back(std::move(directory));
  }
  return directories;
}

// Checks a directory that the user named. Otherwise a wrong path would look like a directory
// without symbols.
Status CheckDirectory(std::string_view what, const std::filesystem::path& path) {
  const std::string name = std::string(what) + " " + path.native();
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return FailErrno(name, errno);
  if (!S_ISDIR(status.st_mode)) return FailErrno(name, ENOTDIR);
  return {};
}

// Names offsets without a name.
void NameBy(const simpleperf::RecordedSymbols& recorded, const convert::Profile& profile,
            convert::MappingId id, std::span<const FileOffset> offsets, Resolution& resolution) {
  const convert::Mapping& mapping = profile[id];
  const auto found = recorded.files.find(profile.text(mapping.filename));
  if (found == recorded.files.end()) return;
  const simpleperf::RecordedFile& file = found->second;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    Resolved& resolved = resolution.answers[i];
    if (!resolved.frames.empty()) continue;
    const std::uint64_t address =
        simpleperf::AddressIn(file, {.mapping_start = mapping.start,
                                     .page_offset = mapping.file_offset,
                                     .distance = offsets[i].value - mapping.file_offset});
    const simpleperf::Symbol* const symbol = file.Find(address);
    if (symbol == nullptr) continue;
    resolved = {.frames = {{.name = symbol->name}}, .symbol_offset = address - symbol->address};
    if (resolution.source.empty()) resolution.source = "the symbols that simpleperf recorded";
  }
}

}  // namespace

SharedSources::SharedSources(const SymbolOptions& wanted)
    : options(wanted),
      directories(DirectoriesOf(wanted)),
      binaries(DebugFiles(wanted.symfs, directories), wanted),
      vdsos(directories),
      kernels(wanted, directories) {}

Result<std::unique_ptr<SharedSources>> SharedSources::Open(const SymbolOptions& options) {
  if (!options.symfs.empty()) TRY(CheckDirectory("symbol directory", options.symfs));
  for (const std::filesystem::path& directory : options.debug_dirs) {
    TRY(CheckDirectory("debug directory", directory));
  }
  auto shared = std::make_unique<SharedSources>(options);
  if (!options.bundle.empty()) {
    auto opened = bundle::Bundle::Open(options.bundle);
    if (!opened) return Fail(InContext(options.bundle.native(), std::move(opened).error()));
    shared->given = std::make_shared<const bundle::Bundle>(*std::move(opened));
  }
  TRY(shared->kernels.CheckGiven());
  return shared;
}

RecordingSymbolizer::RecordingSymbolizer(SharedSources& shared, ProfileOrigin& origin)
    : sources_(origin, shared.options, shared.given),
      binaries_(shared.binaries, sources_),
      vdso_(shared.vdsos, sources_),
      kernel_(shared.kernels, sources_) {}

Result<Resolution> RecordingSymbolizer::Resolve(const convert::Profile& profile,
                                                convert::MappingId id,
                                                std::span<const FileOffset> offsets) {
  TRY_ASSIGN(Resolution resolution, ResolveByFiles(profile, id, offsets));
  if (const auto recorded = sources_.SimpleperfSymbols()) {
    NameBy(*recorded, profile, id, offsets, resolution);
  }
  return resolution;
}

Result<Resolution> RecordingSymbolizer::ResolveByFiles(const convert::Profile& profile,
                                                       convert::MappingId id,
                                                       std::span<const FileOffset> offsets) {
  const std::string_view filename = profile.text(profile[id].filename);
  if (profile[id].type == convert::MappingType::kKernel) return ResolveKernel(profile, id, offsets);
  if (perfdata::SourceOf(filename) == perfdata::MappingSource::kVdso) {
    return vdso_.Resolve(profile, id, offsets);
  }
  if (!perfdata::MayHoldJitCode(filename)) return binaries_.Resolve(profile, id, offsets);
  if (perfdata::MayHoldElfFile(filename) && binaries_.IsCodeOfFile(profile, profile[id])) {
    return binaries_.Resolve(profile, id, offsets);
  }
  if (!perf_maps_) perf_maps_.emplace(sources_.MakeJitSearchPath());
  return perf_maps_->Resolve(profile, id, offsets);
}

Result<Resolution> RecordingSymbolizer::ResolveKernel(const convert::Profile& profile,
                                                      convert::MappingId id,
                                                      std::span<const FileOffset> offsets) {
  // Where the kernel was is unknown, and with KASLR it is elsewhere at each boot.
  if (convert::IsHiddenKernel(profile, profile[id])) {
    return MissAll(offsets.size(), Miss::kNoFile, std::string(convert::WhyHidden(profile)));
  }
  TRY_ASSIGN(Resolution named, kernel_.Resolve(profile, id, offsets));
  const bool is_module = !perfdata::ModuleNameOf(profile.text(profile[id].filename)).empty();
  if (!named.source.empty() || !is_module) return named;
  // The module's own file may be available.
  TRY_ASSIGN(Resolution of_file, binaries_.Resolve(profile, id, offsets));
  of_file.tried.insert(of_file.tried.begin(), named.tried.begin(), named.tried.end());
  if (!of_file.source.empty()) return of_file;
  named.tried = std::move(of_file.tried);
  return named;
}

}  // namespace perftape::symbolize

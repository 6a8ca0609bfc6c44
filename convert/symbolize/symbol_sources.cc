// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbol_sources.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "convert/symbolize/build_id_cache.h"
#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/elf_symbolizer.h"
#include "convert/symbolize/kernel_symbolizer.h"
#include "convert/symbolize/module_name.h"
#include "convert/symbolize/perf_map_symbolizer.h"
#include "convert/symbolize/vdso.h"
#include "formats/elf/debug_places.h"

namespace perftape::symbolize {
namespace {

std::vector<std::filesystem::path> DirectoriesOf(const SymbolOptions& options) {
  std::vector<std::filesystem::path> directories = options.debug_dirs;
  if (options.default_debug_dirs) {
    for (auto& directory : elf::DefaultDebugDirs()) directories.push_back(std::move(directory));
  }
  return directories;
}

// A directory that the user named: a wrong one would look like one without symbols.
Status CheckDirectory(std::string_view option, const std::filesystem::path& path) {
  const std::string name = std::string(option) + " " + path.native();
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return FailErrno(name, errno);
  if (!S_ISDIR(status.st_mode)) return FailErrno(name, ENOTDIR);
  return {};
}

}  // namespace

// For each mapping of one recording the symbolizer that fits it.
struct SymbolSources::Places : public Symbolizer {
  explicit Places(const SymbolOptions& wanted)
      : options(wanted),
        directories(DirectoriesOf(wanted)),
        files({wanted.symfs, directories}, wanted),
        vdsos(directories) {}

  // Both must live until the next call.
  void BeginRecording(Recording& recording);
  std::vector<SharedBundle> Bundles() const;
  std::string NotLocal() const;
  JitPlaces JitFilePlaces() const {
    return {.bundles = Bundles(), .symfs = options.symfs, .not_local = NotLocal()};
  }
  Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                             std::span<const FileOffset> offsets) override;

  SymbolOptions options;
  std::vector<std::filesystem::path> directories;
  SharedBundle given;  // null where none is
  ElfSymbolizer files;
  std::unique_ptr<KernelSymbolizer> kernel;
  VdsoSymbolizer vdsos;
  PerfMapSymbolizer perf_maps;
  Recording* recording = nullptr;
};

void SymbolSources::Places::BeginRecording(Recording& of) {
  recording = &of;
  const auto bundles = [this] { return Bundles(); };
  const auto not_local = [this] { return NotLocal(); };
  files.BeginRecording({.bundles = bundles, .not_local = not_local});
  vdsos.BeginRecording({.bundles = bundles, .not_local = not_local});
  kernel->BeginRecording(of, bundles);
  perf_maps.BeginRecording([this] { return JitFilePlaces(); });
}

std::vector<SharedBundle> SymbolSources::Places::Bundles() const {
  std::vector<SharedBundle> bundles;
  if (auto own = recording->OwnBundle()) bundles.push_back(std::move(own));
  if (given) bundles.push_back(given);
  return bundles;
}

std::string SymbolSources::Places::NotLocal() const {
  switch (options.local) {
    case LocalSystem::kAlways:
      return {};
    case LocalSystem::kNever:
      return "not asked";
    case LocalSystem::kSameBoot:
      break;
  }
  return recording->machine().other_than_here;
}

Result<Resolution> SymbolSources::Places::Resolve(const convert::Profile& profile,
                                                  convert::MappingId id,
                                                  std::span<const FileOffset> offsets) {
  const std::string_view filename = profile.text(profile[id].filename);
  if (profile[id].kind == convert::MappingKind::kKernel) {
    TRY_ASSIGN(Resolution named, kernel->Resolve(profile, id, offsets));
    if (!named.source.empty() || ModuleNameOf(filename).empty()) return named;
    // The module's own file may be somewhere.
    TRY_ASSIGN(Resolution of_file, files.Resolve(profile, id, offsets));
    of_file.tried.insert(of_file.tried.begin(), named.tried.begin(), named.tried.end());
    if (!of_file.source.empty()) return of_file;
    named.tried = std::move(of_file.tried);
    return named;
  }
  if (IsVdsoName(filename)) return vdsos.Resolve(profile, id, offsets);
  if (!IsJitMemory(filename)) return files.Resolve(profile, id, offsets);
  return perf_maps.Resolve(profile, id, offsets);
}

SymbolSources::SymbolSources(std::unique_ptr<Places> places) : places_(std::move(places)) {}
SymbolSources::SymbolSources(SymbolSources&&) noexcept = default;
SymbolSources& SymbolSources::operator=(SymbolSources&&) noexcept = default;
SymbolSources::~SymbolSources() = default;

Result<SymbolSources> SymbolSources::Open(const SymbolOptions& options) {
  if (!options.symfs.empty()) TRY(CheckDirectory("symbol directory", options.symfs));
  for (const std::filesystem::path& directory : options.debug_dirs) {
    TRY(CheckDirectory("debug directory", directory));
  }
  auto places = std::make_unique<Places>(options);
  if (!options.bundle.empty()) {
    auto opened = bundle::Bundle::Open(options.bundle);
    if (!opened) return Fail(InContext(options.bundle.native(), std::move(opened).error()));
    places->given = std::make_shared<const bundle::Bundle>(*std::move(opened));
  }
  TRY_ASSIGN(places->kernel, KernelSymbolizer::Create(options, places->directories));
  return SymbolSources(std::move(places));
}

JitPlaces SymbolSources::JitPlacesOf(Recording& recording) const {
  Recording* const before = std::exchange(places_->recording, &recording);
  JitPlaces places = places_->JitFilePlaces();
  places_->recording = before;
  return places;
}

convert::Profile SymbolSources::Name(const convert::Profile& profile, Recording recording,
                                     SymbolizeReport& report) {
  places_->BeginRecording(recording);
  convert::Profile named =
      Symbolize(profile, *places_, report,
                places_->options.replace_names ? OldNames::kReplace : OldNames::kKeep);
  if (!recording.bundle_problem().empty()) report.problems.push_back(recording.bundle_problem());
  return named;
}

Status SymbolSources::Collect(const convert::Profile& profile, Recording& recording,
                              const SymbolFileSink& sink) {
  places_->BeginRecording(recording);
  for (const convert::Mapping& mapping : profile.mappings()) {
    const std::string filename(profile.text(mapping.filename));
    const auto id = BuildId::FromHex(profile.text(mapping.build_id));
    if (!id || id->empty() || IsGuestName(filename)) continue;
    if (mapping.kind == convert::MappingKind::kKernel && IsKernelName(filename)) {
      const auto table = places_->kernel->FindTable(profile);
      const auto text = table ? std::optional(AsBytes(table->symbols().text())) : std::nullopt;
      TRY(sink({std::string(kKernelMappingName), bundle::FileKind::kKallsyms, *id}, text));
      continue;
    }
    const bool is_vdso = IsVdsoName(filename);
    const DebugFile& file =
        is_vdso ? places_->vdsos.FileOf(filename, *id) : places_->files.FileOf(filename, *id);
    const auto image = file.image ? std::optional(file.image->image()) : std::nullopt;
    const auto kind = is_vdso ? bundle::FileKind::kVdso : bundle::FileKind::kElf;
    TRY(sink({is_vdso ? "[vdso]" : filename, kind, *id}, image));
    if (file.debug) {
      TRY(sink({filename, bundle::FileKind::kDebug, *id}, file.debug->image()));
    }
  }
  return {};
}

Result<CacheReport> SymbolSources::FillCache(const convert::Profile& profile, Recording recording,
                                             const std::filesystem::path& directory) {
  BuildIdCache cache(directory);
  TRY(Collect(profile, recording, [&](const SymbolFile& file, std::optional<Bytes> bytes) {
    return cache.Add(file, bytes);
  }));
  return std::move(cache).Finish();
}

Result<convert::Profile> SymbolizeFrom(const convert::Profile& profile,
                                       const SymbolOptions& options, Recording recording,
                                       SymbolizeReport& report) {
  TRY_ASSIGN(SymbolSources sources, SymbolSources::Open(options));
  return sources.Name(profile, std::move(recording), report);
}

}  // namespace perftape::symbolize

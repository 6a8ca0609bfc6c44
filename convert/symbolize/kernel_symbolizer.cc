// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "convert/symbolize/vmlinux_symbolizer.h"
#include "formats/base/file.h"
#include "formats/base/symbol_limits.h"
#include "formats/dwarf/sections.h"
#include "formats/elf/build_id.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

namespace fs = std::filesystem;

constexpr char kRunningKallsyms[] = "/proc/kallsyms";
constexpr std::string_view kAbsent = "not there";

// Empty where it cannot be read.
BuildId RunningKernelBuildId() {
  const auto notes = ReadWholeFile("/sys/kernel/notes");
  return notes ? elf::BuildIdFromNotes(AsBytes(*notes)) : BuildId{};
}

// Below a root, as perf looks for them (tools/perf/util/symbol.c, vmlinux_paths).
std::vector<fs::path> VmlinuxPaths(const std::string& release) {
  std::vector<fs::path> paths = {"vmlinux", "boot/vmlinux"};
  if (release.empty() || release.find('/') != std::string::npos) return paths;
  for (const std::string_view pattern :
       {"boot/vmlinux-{}", "usr/lib/debug/boot/vmlinux-{}", "lib/modules/{}/build/vmlinux",
        "usr/lib/debug/lib/modules/{}/vmlinux", "usr/lib/debug/boot/vmlinux-{}.debug"}) {
    paths.emplace_back(fmt::format(fmt::runtime(pattern), release));
  }
  return paths;
}

Result<std::shared_ptr<const KernelTable>> TableOfBundle(const bundle::Bundle& bundle,
                                                         const BuildId& build_id) {
  const bundle::Manifest& manifest = bundle.manifest();
  std::optional<Bytes> bytes;
  BuildId id = build_id;
  if (!id.empty()) bytes = bundle.Find(id, bundle::FileKind::kKallsyms);
  std::string missing;
  for (const bundle::BundledFile& file : manifest.files) {
    if (bytes || file.kind != bundle::FileKind::kKallsyms) continue;
    bytes = bundle.Find(file.member);
    id = file.build_id.empty() ? manifest.kernel_build_id : file.build_id;
    missing = file.missing;
  }
  if (!bytes) return Fail(ErrorCode::kNotFound, missing.empty() ? "not there" : missing);
  if (bytes->size() > symbol_limits::kKallsyms) {
    return Fail(ErrorCode::kUnsupported,
                "kallsyms " + MoreThanIsRead(bytes->size(), symbol_limits::kKallsyms));
  }
  TRY_ASSIGN(kallsyms::Kallsyms symbols, kallsyms::Kallsyms::Parse(std::string(AsText(*bytes))));
  return std::make_shared<const KernelTable>("bundle: [kernel.kallsyms]", std::move(symbols), id,
                                             manifest.modules);
}

}  // namespace

Result<std::unique_ptr<KernelSymbolizer>> KernelSymbolizer::Create(
    const SymbolOptions& options, std::vector<fs::path> directories) {
  std::unique_ptr<KernelSymbolizer> kernel(new KernelSymbolizer(options, std::move(directories)));
  for (const fs::path& path : {options.kallsyms, options.vmlinux}) {
    if (path.empty()) continue;
    if (path == options.vmlinux && kernel->VmlinuxAt(path)) continue;
    const auto table = kernel->TableOf(path, {});
    if (!table) return Fail(table.error());
  }
  return kernel;
}

KernelSymbolizer::KernelSymbolizer(const SymbolOptions& options, std::vector<fs::path> directories)
    : options_(options), directories_(std::move(directories)) {}
KernelSymbolizer::~KernelSymbolizer() = default;

void KernelSymbolizer::BeginRecording(const Recording& recording,
                                      std::function<std::vector<SharedBundle>()> bundles) {
  recording_ = &recording;
  bundles_ = std::move(bundles);
  kernel_ = recording.machine().kernel;
  places_.clear();
  are_listed_ = false;
}

Result<Resolution> KernelSymbolizer::Resolve(const convert::Profile& profile, convert::MappingId id,
                                             std::span<const FileOffset> offsets) {
  const std::string_view filename = profile.text(profile[id].filename);
  if (perfdata::SourceOf(filename) == perfdata::MappingSource::kGuestKernel) {
    return MissAll(offsets.size(), Miss::kNoFile, "the kernel of a guest");
  }
  ListPlaces(profile);
  Resolution best = MissAll(offsets.size(), Miss::kNoFile, {});
  std::vector<std::string> tried;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    std::string problem;
    if (Open(place, kernel_)) {
      TRY_ASSIGN(Resolution found, place.symbolizer->Resolve(profile, id, offsets));
      if (!found.source.empty()) {
        found.tried = std::move(tried);
        if (!place.is_vmlinux) {
          AddLines(found, std::span(places_).subspan(i + 1),
                   [&](Symbolizer& vmlinux) { return vmlinux.Resolve(profile, id, offsets); });
        }
        return found;
      }
      problem = found.problem;
      if (best.answers.empty() || best.answers[0].miss == Miss::kNoFile) best = std::move(found);
    } else {
      problem = place.problem;
    }
    if (place.is_guess && problem == kAbsent) continue;
    tried.push_back(place.name + ": " + problem);
  }
  best.problem.clear();
  for (const std::string& place : tried) {
    if (place.ends_with(kAbsent) || place.ends_with(recording_->machine().other_than_here))
      continue;
    best.problem += (best.problem.empty() ? "" : "; ") + place;
  }
  best.tried = std::move(tried);
  return best;
}

void KernelSymbolizer::AddLines(Resolution& named, std::span<Place> later,
                                const std::function<Result<Resolution>(Symbolizer&)>& resolve) {
  // Only a build id tells that both are of one kernel.
  if (options_.source_lines == SourceLines::kNone || kernel_.build_id.empty()) return;
  for (Place& place : later) {
    if (!place.is_vmlinux || !HasLines(place)) continue;
    const auto found = Open(place, kernel_) ? resolve(*place.symbolizer) : Result<Resolution>();
    if (!found || found->source.empty()) continue;
    for (std::size_t i = 0; i < named.answers.size(); ++i) {
      Resolved answer = found->answers[i];
      if (answer.frames.empty()) continue;
      if (const Resolved& name = named.answers[i]; !name.frames.empty()) {
        answer.frames.back().name = name.frames.back().name;
        answer.frames.back().system_name = name.frames.back().system_name;
      }
      named.answers[i] = std::move(answer);
    }
    named.source += ", lines from " + place.name;
    return;
  }
}

bool KernelSymbolizer::HasLines(const Place& vmlinux) {
  const auto binary = VmlinuxAt(vmlinux.name);
  if (!binary) return false;
  const elf::ElfFile& image = *(*binary)->file.image;
  return image.build_id().Matches(kernel_.build_id) && dwarf::HasDwarf(image, dwarf::Part::kLinked);
}

bool KernelSymbolizer::Open(Place& place, const RecordedKernel& kernel) {
  if (place.symbolizer) return true;
  if (!place.problem.empty()) return false;
  auto opened = place.open(kernel);
  if (opened) {
    place.symbolizer = *std::move(opened);
    return true;
  }
  place.problem = opened.error().code == ErrorCode::kNotFound ? kAbsent : opened.error().message;
  if (place.problem.starts_with(place.name + ": ")) place.problem.erase(0, place.name.size() + 2);
  return false;
}

std::shared_ptr<const KernelTable> KernelSymbolizer::FindTable(const convert::Profile& profile) {
  ListPlaces(profile);
  for (Place& place : places_) {
    if (!Open(place, kernel_)) continue;
    const auto* table = dynamic_cast<const KallsymsSymbolizer*>(place.symbolizer.get());
    if (table != nullptr && table->belongs()) return table->table();
  }
  return nullptr;
}

void KernelSymbolizer::ListPlaces(const convert::Profile& profile) {
  if (std::exchange(are_listed_, true)) return;
  // What the profile itself says has to do for other formats.
  if (kernel_.reference_address == 0) kernel_ = KernelOf(profile);
  AddBundles();
  AddSymfs();
  if (!options_.kallsyms.empty()) AddKallsyms(options_.kallsyms, {});
  if (const auto& own = recording_->kallsyms()) AddKallsyms(*own, kernel_.build_id);
  if (!options_.vmlinux.empty()) AddVmlinux(options_.vmlinux);
  if (!kernel_.build_id.empty()) {
    const std::size_t listed = places_.size();
    for (const fs::path& directory : directories_) AddDirectory(directory);
    for (std::size_t i = listed; i < places_.size(); ++i) places_[i].is_guess = true;
  }
  AddRunningKernel();
}

void KernelSymbolizer::AddBundles() {
  // Its kernel's symbols may be known of another recording's.
  if (const auto known = of_bundles_.find(kernel_.build_id);
      known != of_bundles_.end() && !kernel_.build_id.empty()) {
    places_.push_back({.name = known->second->name(),
                       .open = [table = known->second](const RecordedKernel& kernel) {
                         return Result<std::unique_ptr<Symbolizer>>(
                             std::make_unique<KallsymsSymbolizer>(table, kernel));
                       }});
    return;
  }
  for (const SharedBundle& bundle : bundles_()) {
    places_.push_back({.name = "bundle: [kernel.kallsyms]",
                       .open = [this, bundle](const RecordedKernel& kernel)
                           -> Result<std::unique_ptr<Symbolizer>> {
                         TRY_ASSIGN(auto table, TableOfBundle(*bundle, kernel.build_id));
                         if (!kernel.build_id.empty()) of_bundles_.emplace(kernel.build_id, table);
                         return std::make_unique<KallsymsSymbolizer>(std::move(table), kernel);
                       }});
  }
}

void KernelSymbolizer::AddSymfs() {
  if (options_.symfs.empty()) return;
  const std::string& release = recording_->machine().kernel_release;
  const std::size_t listed = places_.size();
  AddKallsyms(options_.symfs / "proc/kallsyms", {});
  for (const fs::path& path : VmlinuxPaths(release)) AddVmlinux(options_.symfs / path);
  AddKallsyms(options_.symfs / ("boot/System.map-" + release), {});
  for (std::size_t i = listed; i < places_.size(); ++i) places_[i].is_guess = true;
}

void KernelSymbolizer::AddDirectory(const fs::path& directory) {
  for (const fs::path& path :
       elf::SearchPathsIn(directory, kernel_.build_id, elf::BuildIdFile::kKallsyms,
                          perfdata::kKernelMappingName)) {
    AddKallsyms(path, kernel_.build_id);
  }
  for (const elf::BuildIdFile what : {elf::BuildIdFile::kImage, elf::BuildIdFile::kDebug}) {
    for (const fs::path& path :
         elf::SearchPathsIn(directory, kernel_.build_id, what, perfdata::kKernelMappingName)) {
      std::error_code error;
      if (!fs::is_directory(path, error)) AddVmlinux(path);
    }
  }
}

void KernelSymbolizer::AddKallsyms(const fs::path& path, const BuildId& build_id) {
  places_.push_back(
      {.name = path.native(),
       .open = [=, this](const RecordedKernel& kernel) -> Result<std::unique_ptr<Symbolizer>> {
         TRY_ASSIGN(auto table, TableOf(path, build_id));
         return std::make_unique<KallsymsSymbolizer>(std::move(table), kernel);
       }});
}

void KernelSymbolizer::AddVmlinux(const fs::path& path) {
  places_.push_back(
      {.name = path.native(),
       .open = [=, this](const RecordedKernel& kernel) -> Result<std::unique_ptr<Symbolizer>> {
         if (auto vmlinux = VmlinuxAt(path)) {
           return std::make_unique<VmlinuxSymbolizer>(*std::move(vmlinux), kernel);
         }
         // A System.map, then.
         TRY_ASSIGN(auto table, TableOf(path, {}));
         return std::make_unique<KallsymsSymbolizer>(std::move(table), kernel);
       },
       .is_vmlinux = true});
}

void KernelSymbolizer::AddRunningKernel() {
  std::string not_here = recording_->machine().other_than_here;
  if (options_.local == LocalSystem::kAlways) not_here.clear();
  if (options_.local == LocalSystem::kNever) not_here = "not asked";
  if (not_here.empty()) {
    AddKallsyms(kRunningKallsyms, RunningKernelBuildId());
  } else {
    places_.push_back({.name = kRunningKallsyms, .problem = "of this machine, and " + not_here});
  }
}

Result<std::shared_ptr<const KernelTable>> KernelSymbolizer::TableOf(const fs::path& path,
                                                                     const BuildId& build_id) {
  const auto known = tables_.find(path.native());
  if (known != tables_.end()) return known->second;
  Result<std::shared_ptr<const KernelTable>> table;
  // What the user named may be a pipe: <(zcat kallsyms.gz).
  const bool is_given = path == options_.kallsyms || path == options_.vmlinux;
  auto symbols = is_given ? kallsyms::Kallsyms::Read(path) : kallsyms::Kallsyms::ReadRegular(path);
  if (symbols) {
    const BuildId id = path == kRunningKallsyms ? RunningKernelBuildId() : build_id;
    table = std::make_shared<const KernelTable>(path.native(), *std::move(symbols), id);
  } else {
    table = Fail(std::move(symbols).error());
  }
  return tables_.emplace(path.native(), std::move(table)).first->second;
}

Result<std::shared_ptr<ElfBinary>> KernelSymbolizer::VmlinuxAt(const fs::path& path) {
  const auto known = vmlinuxes_.find(path.native());
  if (known != vmlinuxes_.end()) return known->second;
  Result<std::shared_ptr<ElfBinary>> vmlinux;
  if (auto image = elf::ElfFile::Open(path)) {
    DebugFile file;
    file.image = *std::move(image);
    file.source = path.native();
    vmlinux = std::make_shared<ElfBinary>(std::move(file), options_);
  } else {
    vmlinux = Fail(std::move(image).error());
  }
  return vmlinuxes_.emplace(path.native(), std::move(vmlinux)).first->second;
}

}  // namespace perftape::symbolize

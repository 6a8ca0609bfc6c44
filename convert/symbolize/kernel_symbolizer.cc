// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_symbolizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "convert/symbolize/vmlinux_symbolizer.h"
#include "formats/dwarf/debug_sections.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAbsent = "not there";

// Paths below a root, in perf's order (tools/perf/util/symbol.c, vmlinux_paths).
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

}  // namespace

KernelSymbolizer::KernelSymbolizer(KernelFiles& files, RecordingSources& recording)
    : files_(files), recording_(recording), kernel_(recording.origin().machine().kernel) {}
KernelSymbolizer::~KernelSymbolizer() = default;

Result<Resolution> KernelSymbolizer::Resolve(const convert::Profile& profile, convert::MappingId id,
                                             std::span<const FileOffset> offsets) {
  const std::string_view filename = profile.text(profile[id].filename);
  if (perfdata::SourceOf(filename) == perfdata::MappingSource::kGuestKernel) {
    return MissAll(offsets.size(), Miss::kNoFile, "the kernel of a guest");
  }
  ListSources(&profile);
  Resolution best = MissAll(offsets.size(), Miss::kNoFile, {});
  std::vector<std::string> tried;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    std::string problem;
    if (Open(source)) {
      TRY_ASSIGN(Resolution found, source.opened.symbolizer->Resolve(profile, id, offsets));
      if (!found.source.empty()) {
        found.tried = std::move(tried);
        if (!source.is_vmlinux) {
          AddLines(found, std::span(sources_).subspan(i + 1),
                   [&](Symbolizer& vmlinux) { return vmlinux.Resolve(profile, id, offsets); });
        }
        return found;
      }
      problem = found.problem;
      if (best.answers.empty() || best.answers[0].miss == Miss::kNoFile) best = std::move(found);
    } else {
      problem = source.problem;
    }
    if (source.is_guess && problem == kAbsent) continue;
    tried.push_back(source.name + ": " + problem);
  }
  best.problem.clear();
  for (const std::string& source : tried) {
    if (source.ends_with(kAbsent) ||
        source.ends_with(recording_.origin().machine().other_than_here))
      continue;
    best.problem += (best.problem.empty() ? "" : "; ") + source;
  }
  best.tried = std::move(tried);
  return best;
}

void KernelSymbolizer::AddLines(Resolution& named, std::span<Source> later,
                                const std::function<Result<Resolution>(Symbolizer&)>& resolve) {
  // Only an equal build id proves that both are of the same kernel.
  if (files_.options().source_lines == SourceLines::kNone || kernel_.build_id.empty()) return;
  for (Source& source : later) {
    if (!source.is_vmlinux || !HasLines(source)) continue;
    const auto found = Open(source) ? resolve(*source.opened.symbolizer) : Result<Resolution>();
    if (!found || found->source.empty()) continue;
    for (std::size_t i = 0; i < named.answers.size(); ++i) {
      Resolved answer = found->answers[i];
      if (answer.frames.empty()) continue;
      if (const Resolved& name = named.answers[i]; !name.frames.empty()) {
        answer.frames.back().name = name.frames.back().name;
        answer.frames.back().system_name = name.frames.back().system_name;
        answer.symbol_offset = name.symbol_offset;
      }
      named.answers[i] = std::move(answer);
    }
    named.source += ", lines from " + source.name;
    return;
  }
}

bool KernelSymbolizer::HasLines(const Source& vmlinux) {
  const auto binary = files_.VmlinuxAt(vmlinux.name);
  if (!binary) return false;
  const elf::ElfFile& image = *(*binary)->file().image;
  return image.build_id().Matches(kernel_.build_id) && dwarf::HasDwarf(image, dwarf::Part::kLinked);
}

bool KernelSymbolizer::Open(Source& source) {
  if (source.opened.symbolizer) return true;
  if (!source.problem.empty()) return false;
  auto opened = source.open();
  if (opened) {
    source.opened = *std::move(opened);
    return true;
  }
  source.problem = opened.error().code == ErrorCode::kNotFound ? kAbsent : opened.error().message;
  if (source.problem.starts_with(source.name + ": "))
    source.problem.erase(0, source.name.size() + 2);
  return false;
}

void KernelSymbolizer::ReadAhead() {
  // A bundle would be unpacked for the list.
  if (recording_.origin().brings_names() || !files_.options().bundle.empty()) return;
  ListSources();
  const auto is_there = [](const Source& source) {
    std::error_code error;
    return source.problem.empty() && fs::exists(source.name, error);
  };
  const auto first = std::ranges::find_if(sources_, is_there);
  if (first != sources_.end() && first->read_ahead) first->read_ahead();
}

std::shared_ptr<const KernelTable> KernelSymbolizer::FindTable(const convert::Profile& profile) {
  ListSources(&profile);
  for (Source& source : sources_) {
    if (Open(source) && source.opened.table) return source.opened.table;
  }
  return nullptr;
}

void KernelSymbolizer::ListSources(const convert::Profile* profile) {
  if (std::exchange(are_listed_, true)) return;
  // For other formats than perf.data the profile's mappings describe the kernel.
  if (profile != nullptr && kernel_.reference_address == 0) kernel_ = KernelOf(*profile);
  AddBundles();
  AddSymfs();
  if (!files_.options().kallsyms.empty()) AddKallsyms(files_.options().kallsyms, {});
  if (const auto& own = recording_.origin().kallsyms()) AddKallsyms(*own, kernel_.build_id);
  if (!files_.options().vmlinux.empty()) AddVmlinux(files_.options().vmlinux);
  if (!kernel_.build_id.empty()) {
    const std::size_t listed = sources_.size();
    for (const fs::path& directory : files_.directories()) AddDirectory(directory);
    for (std::size_t i = listed; i < sources_.size(); ++i) sources_[i].is_guess = true;
  }
  AddRunningKernel();
}

KernelSymbolizer::Opened KernelSymbolizer::NamesOf(std::shared_ptr<const KernelTable> table) const {
  auto symbolizer = std::make_unique<KallsymsSymbolizer>(table, kernel_);
  if (!symbolizer->belongs()) table.reset();
  return {.symbolizer = std::move(symbolizer), .table = std::move(table)};
}

void KernelSymbolizer::AddBundles() {
  // The symbols of this kernel may be known from another recording's bundle.
  if (const auto known = files_.BundledTable(kernel_.build_id)) {
    sources_.push_back(
        {.name = known->name(), .open = [=, this]() -> Result<Opened> { return NamesOf(known); }});
    return;
  }
  for (const SharedBundle& bundle : recording_.Bundles()) {
    sources_.push_back({.name = "bundle: [kernel.kallsyms]", .open = [=, this]() -> Result<Opened> {
                          TRY_ASSIGN(auto table, files_.TableIn(*bundle, kernel_.build_id));
                          return NamesOf(std::move(table));
                        }});
  }
}

void KernelSymbolizer::AddSymfs() {
  if (files_.options().symfs.empty()) return;
  const std::string& release = recording_.origin().machine().kernel_release;
  const std::size_t listed = sources_.size();
  AddKallsyms(files_.options().symfs / "proc/kallsyms", {});
  for (const fs::path& path : VmlinuxPaths(release)) AddVmlinux(files_.options().symfs / path);
  AddKallsyms(files_.options().symfs / ("boot/System.map-" + release), {});
  for (std::size_t i = listed; i < sources_.size(); ++i) sources_[i].is_guess = true;
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
  sources_.push_back({.name = path.native(),
                      .open = [=, this]() -> Result<Opened> {
                        TRY_ASSIGN(auto table, files_.TableAt(path, build_id));
                        return NamesOf(std::move(table));
                      },
                      .read_ahead = [=, this] { files_.ReadAhead(path, build_id); }});
}

void KernelSymbolizer::AddVmlinux(const fs::path& path) {
  sources_.push_back({.name = path.native(),
                      .open = [=, this]() -> Result<Opened> {
                        if (auto vmlinux = files_.VmlinuxAt(path)) {
                          return Opened{.symbolizer = std::make_unique<VmlinuxSymbolizer>(
                                            *std::move(vmlinux), kernel_)};
                        }
                        // If it is not an ELF file, it may be a System.map.
                        TRY_ASSIGN(auto table, files_.TableAt(path, {}));
                        return NamesOf(std::move(table));
                      },
                      .is_vmlinux = true});
}

void KernelSymbolizer::AddRunningKernel() {
  const BuildId running = RunningKernelBuildId();
  const bool is_same_kernel = !kernel_.build_id.empty() && running.Matches(kernel_.build_id);
  const std::string not_here =
      is_same_kernel ? recording_.not_local_by_build_id() : recording_.not_local();
  if (not_here.empty()) {
    AddKallsyms(kRunningKallsyms, running);
  } else {
    sources_.push_back({.name = kRunningKallsyms, .problem = "of this machine, and " + not_here});
  }
}

}  // namespace perftape::symbolize

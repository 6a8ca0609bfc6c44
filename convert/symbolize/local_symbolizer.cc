// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/local_symbolizer.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/elf/build_id.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape {
namespace {

constexpr char kRunningKallsyms[] = "/proc/kallsyms";

std::filesystem::path CacheOf(const SymbolOptions& options) {
  if (!options.debug_dirs.empty()) return options.debug_dirs.front();
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): never set here
  return home == nullptr ? std::filesystem::path() : std::filesystem::path(home) / ".debug";
}

// Empty where it cannot be read.
BuildId RunningKernelBuildId() {
  const auto notes = ReadWholeFile("/sys/kernel/notes");
  return notes ? elf::BuildIdFromNotes(AsBytes(*notes)) : BuildId{};
}

}  // namespace

Result<std::unique_ptr<LocalSymbolizer>> LocalSymbolizer::Create(const SymbolOptions& options) {
  std::unique_ptr<LocalSymbolizer> local(new LocalSymbolizer(options));
  if (options.kallsyms.empty() || options.kallsyms == kRunningKallsyms) return local;
  TRY_ASSIGN(kallsyms::Kallsyms table, kallsyms::Kallsyms::Read(options.kallsyms));
  local->kernel_.emplace(std::move(table), BuildId{});
  return local;
}

LocalSymbolizer::LocalSymbolizer(const SymbolOptions& options)
    : elf_(DebugFiles("/usr/lib/debug", CacheOf(options))) {}

Result<Resolution> LocalSymbolizer::Resolve(const Profile& profile, MappingId mapping,
                                            std::span<const FileOffset> offsets) {
  TRY_ASSIGN(Symbolizer* const symbolizer,
             Choose(profile[mapping], profile.text(profile[mapping].filename)));
  return symbolizer->Resolve(profile, mapping, offsets);
}

Result<Symbolizer*> LocalSymbolizer::Choose(const Mapping& mapping, std::string_view filename) {
  if (mapping.kind == MappingKind::kKernel) {
    if (!kernel_) TRY(ReadRunningKernel());
    return &*kernel_;
  }
  if (filename == "[vdso]") {
    if (!vdso_) {
      TRY_ASSIGN(std::vector<std::byte> image, ReadOwnVdso());
      vdso_.emplace(std::move(image));
    }
    return &*vdso_;
  }
  if (IsJitMemory(filename)) return &perf_maps_;
  return &elf_;
}

Status LocalSymbolizer::ReadRunningKernel() {
  if (has_tried_kernel_) return running_kernel_read_;
  has_tried_kernel_ = true;
  auto table = kallsyms::Kallsyms::Read(kRunningKallsyms);
  if (!table) {
    running_kernel_read_ = Fail(std::move(table).error());
    return running_kernel_read_;
  }
  kernel_.emplace(*std::move(table), RunningKernelBuildId());
  return {};
}

}  // namespace perftape

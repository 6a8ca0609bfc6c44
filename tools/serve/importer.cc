// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/importer.h"

#include <malloc.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <system_error>
#include <utility>

#include "convert/export/to_pprof.h"
#include "convert/formats.h"
#include "convert/import/from_perfdata.h"
#include "convert/model/profile_builder.h"
#include "convert/symbolize/jit_file_search.h"
#include "convert/symbolize/perf_map_symbolizer.h"
#include "formats/base/file.h"
#include "tools/serve/push/pyroscope_payload.h"

namespace perftape::serve {
namespace {

// Returns the memory of this process, also that of mapped files; 0 if it is not known.
std::uint64_t ResidentBytes() {
  const Result<std::string> statm =
      ReadWholeFile("/proc/self/statm");  // SIZE RESIDENT ... in pages
  std::uint64_t size = 0, resident = 0;
  const bool is_read =
      statm && std::sscanf(statm->c_str(), "%" SCNu64 " %" SCNu64, &size, &resident) == 2;
  return is_read ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// The first and last samples need not reach the ends of their window.
convert::Profile WithDurationOf(const Window& window, const convert::Profile& profile) {
  convert::Metadata metadata = profile.metadata();
  metadata.duration_ns = static_cast<std::int64_t>(window.end_ns - window.start_ns);
  convert::ProfileBuilder builder(profile);
  builder.SetMetadata(std::move(metadata));
  return std::move(builder).Finish();
}

}  // namespace

bool IsTimeToReopen(std::chrono::nanoseconds age, std::uint64_t resident_bytes) {
  constexpr std::uint64_t kMuch = std::uint64_t{256} << 20;
  if (age > std::chrono::hours(1)) return true;
  return age > std::chrono::minutes(1) && resident_bytes > kMuch;
}

Result<symbolize::SymbolSources*> Importer::Sources() {
  const auto now = std::chrono::steady_clock::now();
  if (sources_ && IsTimeToReopen(now - opened_, ResidentBytes())) {
    sources_.reset();
    (void)malloc_trim(0);  // symbols are many small objects
  }
  if (!sources_) {
    // Source lines and inlined functions would take the memory of all debug information.
    const symbolize::SymbolOptions options = {.debug_dirs = {binaries_.directory()},
                                              .source_lines = symbolize::SourceLines::kNone};
    std::error_code ignored;
    std::filesystem::create_directories(binaries_.directory(), ignored);
    TRY_ASSIGN(sources_, symbolize::SymbolSources::Open(options));
    opened_ = now;
  }
  return &*sources_;
}

Result<ImportedFile> Importer::Import(const std::filesystem::path& file) {
  TRY_ASSIGN(Input input, convert::OpenInput(file));
  (void)unlink(file.c_str());
  TRY_ASSIGN(symbolize::SymbolSources* const sources, Sources());
  symbolize::ProfileOrigin origin(input);
  convert::ImportOptions options = {
      .cgroup_label = true, .container_labels = true, .service_labels = true};
  options.find_jit_dump = [&](const std::string& path,
                              std::uint32_t pid) -> Result<convert::JitDumpBytes> {
    origin.LearnLives(std::span(&pid, 1));
    TRY_ASSIGN(symbolize::FoundJitFile found,
               symbolize::FindJitDump(path, pid, sources->JitSearchPathOf(origin)));
    return convert::JitDumpBytes{
        .bytes = found.bytes, .keeper = std::move(found.keeper), .own_pid = found.own_pid};
  };
  convert::ImportReport report;
  TRY_ASSIGN(const convert::Profile profile, convert::ReadPerfData(input, options, report));
  if (!report.recording_notes) {
    return Fail(ErrorCode::kNotFound, file.native() + ": has no notes of its recorder");
  }
  ImportedFile imported = {.window = {.notes = *report.recording_notes}};
  Window& window = imported.window.window;
  window.start_ns = imported.window.notes.start_ns;
  window.end_ns = imported.window.notes.end_ns;
  if (profile.samples().empty()) return imported;
  for (const convert::Mapping& mapping : profile.mappings()) {
    if (const auto id = BuildId::FromHex(profile.text(mapping.build_id))) binaries_.Use(*id);
  }
  origin.LearnLives(symbolize::ProcessesWithPerfMaps(profile));
  symbolize::SymbolizeReport symbols;
  const convert::Profile named = sources->Name(profile, std::move(origin), symbols);
  TRY_ASSIGN(window.profile, convert::EncodePprof(named, kWindowEncoding));
  if (payload_kind_) {
    const convert::Profile whole = WithDurationOf(window, named);
    const bool is_pyroscope = *payload_kind_ == PushProtocol::kPyroscope;
    TRY_ASSIGN(imported.payloads, is_pyroscope ? PyroscopePayloadsOf(whole) : PayloadsOf(whole));
  }
  return imported;
}

}  // namespace perftape::serve

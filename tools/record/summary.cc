// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary.h"

#include <fmt/format.h>

#include <cstring>

#include "tools/common/cli/console.h"
#include "tools/common/cli/count.h"

namespace perftape::record_tool {
namespace {

std::string SizeText(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{} bytes", bytes);
  const auto size = static_cast<double>(bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.1f} KiB", size / kKibi);
  return fmt::format("{:.1f} MiB", size / (kKibi * kKibi));
}

// As perf record ends with it (tools/perf/builtin-record.c).
std::string CompressionText(const perfdata::Compression& compression) {
  return fmt::format(", compressed (original {}, ratio {:.1f})", SizeText(compression.taken),
                     compression.ratio());
}

// "symbols of 35 files, 10.0 MiB (3 % of these files)"; of what is missing, the first few.
void AddBundleLines(const RecordSummary& summary, std::vector<std::string>& lines) {
  if (!summary.bundle) return;
  constexpr std::size_t kMostShown = 3;
  const BundleSummary& bundle = *summary.bundle;
  lines.push_back(
      fmt::format("symbols of {}, {}", cli::Counted(bundle.files, "file"), SizeText(bundle.bytes)));
  if (bundle.original_bytes > 0) {
    lines.back() += fmt::format(
        " ({:.0f} % of what they are from)",
        100.0 * static_cast<double>(bundle.bytes) / static_cast<double>(bundle.original_bytes));
  }
  if (bundle.missing.empty()) return;
  lines.back() += fmt::format(", {} missing", bundle.missing.size());
  for (std::size_t i = 0; i < bundle.missing.size() && i < kMostShown; ++i) {
    lines.push_back("no symbols of " + bundle.missing[i]);
  }
}

}  // namespace

std::string FailureText(const RecordSummary& summary) {
  return fmt::format("{}; {} safe in it, {} lost", summary.failure,
                     cli::Counted(summary.samples, "sample"), summary.lost_samples);
}

std::string SecondSignalText(int signal, const RecordOptions& options) {
  using Place = BundleRequest::Place;
  return fmt::format(
      "a second signal (SIG{}) ends it at once: {} has what was written until now, "
      "without {}summary",
      sigabbrev_np(signal), options.output == "-" ? "stdout" : options.output.native(),
      options.bundle.place == Place::kNone ? "" : "symbols and ");
}

std::vector<std::string> SummaryLines(const RecordSummary& summary) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}, {} lost, {} in {}", cli::Counted(summary.samples, "sample"),
                              summary.lost_samples, SizeText(summary.bytes_written),
                              summary.file.empty() ? "stdout" : summary.file.native()));
  if (summary.compression) lines.back() += CompressionText(*summary.compression);
  for (const LossByCpu& loss : summary.losses) {
    if (loss.ring_full != 0) {
      lines.push_back(
          fmt::format("lost on CPU {}: {}, the ring was full", loss.cpu, loss.ring_full));
    }
    if (loss.no_scratch != 0) {
      lines.push_back(fmt::format("lost on CPU {}: {}, a sample interrupted another", loss.cpu,
                                  loss.no_scratch));
    }
  }
  if (summary.damaged_messages != 0) {
    lines.push_back(
        fmt::format("lost: {}, damaged on their way from the kernel", summary.damaged_messages));
  }
  if (summary.unwritten_samples != 0) {
    lines.push_back(
        fmt::format("lost: {}, there was no room for them in the file", summary.unwritten_samples));
  }
  if (summary.lost_process_events != 0) {
    lines.push_back(fmt::format("process events lost: {}; names or mappings may be missing",
                                summary.lost_process_events));
  }
  AddBundleLines(summary, lines);
  return lines;
}

int ExitStatus(const RecordSummary& summary) {
  if (!summary.failure.empty()) return cli::kFailed;
  if (summary.command_status) return *summary.command_status;
  if (!summary.bundle_failure.empty()) return cli::kDegraded;
  const std::uint64_t lost = summary.lost_samples;
  return lost > (summary.samples + lost) / 20 ? cli::kDegraded : cli::kDone;
}

}  // namespace perftape::record_tool

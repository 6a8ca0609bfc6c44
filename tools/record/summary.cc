// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary.h"

#include <fmt/format.h>

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

}  // namespace

std::vector<std::string> SummaryLines(const RecordSummary& summary,
                                      const std::filesystem::path& output) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}, {} lost, {} in {}", cli::Counted(summary.samples, "sample"),
                              summary.lost_samples, SizeText(summary.bytes_written),
                              output == "-" ? "stdout" : output.native()));
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
  if (summary.lost_process_events != 0) {
    lines.push_back(fmt::format("process events lost: {}; names or mappings may be missing",
                                summary.lost_process_events));
  }
  return lines;
}

int ExitStatus(const RecordSummary& summary) {
  if (summary.command_status) return *summary.command_status;
  const std::uint64_t lost = summary.lost_samples;
  return lost > (summary.samples + lost) / 20 ? cli::kDegraded : cli::kDone;
}

}  // namespace perftape::record_tool

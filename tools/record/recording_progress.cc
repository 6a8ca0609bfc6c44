// SPDX-License-Identifier: Apache-2.0
#include "tools/record/recording_progress.h"

#include <fmt/format.h>

#include <vector>

#include "tools/common/cli/progress_line.h"
#include "tools/common/cli/progress_text.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

std::string RecordingText(const record::RecordProgress& made, std::chrono::seconds elapsed,
                          std::size_t columns) {
  std::vector<std::string> parts = {cli::ShortTime(elapsed),
                                    cli::ShortCount(made.samples) + " samples",
                                    cli::ShortBytes(made.file_bytes)};
  if (made.lost_samples != 0) {
    const auto lost = static_cast<double>(made.lost_samples);
    const double percent = 100 * lost / (lost + static_cast<double>(made.samples));
    parts.push_back(percent < 0.1 ? "less than 0.1% lost" : fmt::format("{:.1f}% lost", percent));
  }
  return cli::FitParts(RecordCommand().name, parts, columns);
}

void RecordingProgress::Show(const record::RecordProgress& made) {
  constexpr std::chrono::milliseconds kPause{250};
  const Clock::time_point now = Clock::now();
  if (now < next_ || now - begin_ < cli::kWorkWithoutProgress) return;
  next_ = now + kPause;
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
  cli::ShowProgress(RecordingText(made, elapsed, cli::ProgressColumns()));
}

}  // namespace perftape::record_tool

// SPDX-License-Identifier: Apache-2.0
// Counts how much of its work a program has done, for a line on the terminal. Readers add to the
// counts once for a block of records; another thread reads them.
#pragma once

#include <cstdint>

namespace perftape {
inline namespace base {

struct ProgressCounts {
  std::uint64_t inputs = 0;  // opened
  std::uint64_t expected_inputs = 0;
  std::uint64_t input_bytes = 0;     // the sizes of the files among them
  std::uint64_t work_bytes = 0;      // bytes to read, counted once for each pass over them
  std::uint64_t done_bytes = 0;      // of work_bytes
  std::uint64_t streamed_bytes = 0;  // read from pipes
  std::uint64_t samples = 0;
};

// `count` inputs will be opened.
void ExpectInputs(std::uint64_t count);
// An input was opened. `bytes` is its size, 0 if it is a stream.
void AddInputToProgress(std::uint64_t bytes);
// The `bytes` of an input will be read `passes` times.
void AddWorkToProgress(std::uint64_t bytes, unsigned passes);
// Bytes arrived from a pipe.
void AddStreamedToProgress(std::uint64_t bytes);
// The counts since the start of the program. Any thread may call it.
ProgressCounts CurrentProgress();

// Counts one pass over a part of a file. Each record may call MoveTo: it usually only compares.
class ProgressMeter {
 public:
  // The pass begins at `offset` in the file, with the caller's count of samples.
  explicit ProgressMeter(std::uint64_t offset, std::uint64_t samples = 0)
      : offset_(offset), samples_(samples) {}

  // The pass has reached `offset`. Smaller offsets than before are allowed, and ignored.
  void MoveTo(std::uint64_t offset, std::uint64_t samples) {
    if (static_cast<std::int64_t>(offset - offset_) >= kStep) Publish(offset, samples);
  }
  // The pass has ended at `offset`.
  void Finish(std::uint64_t offset, std::uint64_t samples) {
    if (offset >= offset_) Publish(offset, samples);
  }

 private:
  static constexpr std::int64_t kStep = 1 << 20;
  void Publish(std::uint64_t offset, std::uint64_t samples);

  std::uint64_t offset_;   // bytes before it are in the counts
  std::uint64_t samples_;  // in the counts
};

}  // namespace base
}  // namespace perftape

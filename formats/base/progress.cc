// SPDX-License-Identifier: Apache-2.0
#include "formats/base/progress.h"

#include <atomic>

namespace perftape {
inline namespace base {
namespace {

// Independent counters: no reader needs all of one instant.
struct Counters {
  std::atomic<std::uint64_t> inputs = 0, expected_inputs = 1, input_bytes = 0, work_bytes = 0,
                             done_bytes = 0, streamed_bytes = 0, samples = 0;
};
constinit Counters progress_counters;

void Increase(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace

void AddWorkToProgress(std::uint64_t bytes, unsigned passes) {
  Increase(progress_counters.work_bytes, bytes * passes);
}

void ExpectInputs(std::uint64_t count) {
  progress_counters.expected_inputs.store(count, std::memory_order_relaxed);
}

void AddInputToProgress(std::uint64_t bytes) {
  Increase(progress_counters.inputs, 1);
  Increase(progress_counters.input_bytes, bytes);
}

void AddStreamedToProgress(std::uint64_t bytes) {
  Increase(progress_counters.streamed_bytes, bytes);
}

ProgressCounts CurrentProgress() {
  const auto load = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {.inputs = load(progress_counters.inputs),
          .expected_inputs = load(progress_counters.expected_inputs),
          .input_bytes = load(progress_counters.input_bytes),
          .work_bytes = load(progress_counters.work_bytes),
          .done_bytes = load(progress_counters.done_bytes),
          .streamed_bytes = load(progress_counters.streamed_bytes),
          .samples = load(progress_counters.samples)};
}

void ProgressMeter::Publish(std::uint64_t offset, std::uint64_t samples) {
  Increase(progress_counters.done_bytes, offset - offset_);
  Increase(progress_counters.samples, samples - samples_);
  offset_ = offset;
  samples_ = samples;
}

}  // namespace base
}  // namespace perftape

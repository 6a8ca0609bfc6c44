// SPDX-License-Identifier: Apache-2.0
#include "convert/import/hashed_stacks.h"

#include <bit>
#include <utility>

namespace perftape::convert {
namespace {

// The hash of no frames below the outermost frame of a cut stack.
constexpr Hash128 kCutHash = {0x27d4eb2f165667c5, 0x85ebca77c2b2ae63};

std::uint64_t Mix(std::uint64_t word, std::uint64_t factor) {
  word *= factor;
  return word ^ (word >> 32);
}

// The hash of no frames below those of an unwound stack.
Hash128 HashOf(UnwoundStacks::Id unwound) {
  return {Mix(unwound, 0x9fb21c651e98df25), Mix(unwound, 0xd6e8feb86659fd93)};
}

Hash128 HashOf(const perfdata::ChainFrame& frame, const SpaceFingerprints& spaces) {
  const std::uint64_t kind =
      static_cast<std::uint64_t>(frame.mode) << 2 | static_cast<std::uint64_t>(frame.found_by);
  const std::uint64_t mapped =
      (frame.mode == perfdata::CpuMode::kKernel ? spaces.kernel : spaces.user) + kind;
  return {Mix(Mix(frame.address, 0x9e3779b97f4a7c15) + mapped, 0xc2b2ae3d27d4eb4f),
          Mix(Mix(mapped, 0x9e3779b97f4a7c15) + frame.address, 0x165667b19e3779f9)};
}

}  // namespace

// Builds a HashedStacks, one stack after the other.
class StackHasher {
 public:
  StackHasher(std::endian byte_order, Origin origin, const ProcessHistory& history)
      : byte_order_(byte_order), origin_(origin), history_(history) {}

  void Add(const RawStack& stack);
  HashedStacks Finish() && { return std::move(hashed_); }

 private:
  std::span<const perfdata::ChainFrame> FramesOf(const RawStack& stack);

  std::endian byte_order_;
  Origin origin_;
  const ProcessHistory& history_;
  perfdata::CallchainReader callchains_;
  perfdata::ChainFrame ip_alone_;  // for the last stack without a callchain
  HashedStacks hashed_;
};

// Leaf first; valid until the next call.
std::span<const perfdata::ChainFrame> StackHasher::FramesOf(const RawStack& stack) {
  const perfdata::Sample sample{.ip = stack.ip,
                                .pid = stack.pid,
                                .callchain = WordArray(stack.chain, byte_order_),
                                .branches = WordArray(stack.branches, byte_order_)};
  perfdata::SampleFormat format;
  if (!stack.branches.empty()) {
    format.sample_type = perfdata::kBranchStack;
    format.branch_sample_type = perfdata::kBranchCallStack;
  }
  const auto frames = callchains_.FramesOf(sample, format, stack.mode);
  // A converted file may have a stack without frames. Those of the user may be unwound.
  if (!frames.empty() || origin_ == Origin::kConverted || stack.unwound != UnwoundStacks::kNone) {
    return frames;
  }
  ip_alone_ = {.address = stack.ip, .mode = stack.mode};
  return {&ip_alone_, 1};
}

void StackHasher::Add(const RawStack& stack) {
  const std::span<const perfdata::ChainFrame> frames = FramesOf(stack);
  const SpaceFingerprints spaces = history_.SpacesOf(stack.pid, stack.epoch);
  const std::size_t begin = hashed_.frames_.size();
  hashed_.frames_.insert(hashed_.frames_.end(), frames.begin(), frames.end());
  if (stack.is_precise && !frames.empty()) {
    hashed_.frames_[begin] = {.address = stack.ip, .mode = stack.mode};
  }
  for (std::size_t i = begin; i < hashed_.frames_.size(); ++i) {
    hashed_.frame_hashes_.push_back(HashOf(hashed_.frames_[i], spaces));
  }
  Hash128 prefix = HashOf(stack.unwound);
  if (stack.is_cut) prefix = kCutHash;
  for (std::size_t i = hashed_.frames_.size(); i > begin; --i) {
    const Hash128& frame = hashed_.frame_hashes_[i - 1];
    prefix.low = Mix(std::rotl(prefix.low, 27) + frame.low, 0x9e3779b97f4a7c15);
    prefix.high = Mix(std::rotl(prefix.high, 31) ^ frame.high, 0xc2b2ae3d27d4eb4f);
    hashed_.prefix_hashes_.push_back(prefix);
  }
  hashed_.stacks_.push_back({.pid = stack.pid,
                             .epoch = stack.epoch,
                             .is_cut = stack.is_cut,
                             .unwound = stack.unwound,
                             .end = hashed_.frames_.size()});
}

HashedStack HashedStacks::operator[](std::size_t index) const {
  const Stack& stack = stacks_[index];
  const std::size_t begin = index == 0 ? 0 : stacks_[index - 1].end;
  const std::size_t size = stack.end - begin;
  return {.pid = stack.pid,
          .epoch = stack.epoch,
          .is_cut = stack.is_cut,
          .unwound = stack.unwound,
          .frames = std::span(frames_).subspan(begin, size),
          .frame_hashes = std::span(frame_hashes_).subspan(begin, size),
          .prefix_hashes = std::span(prefix_hashes_).subspan(begin, size)};
}

HashedStacks HashStacks(const SampleTable& table, std::span<const std::uint32_t> indexes,
                        std::endian byte_order, Origin origin, const ProcessHistory& history) {
  constexpr std::size_t kAhead = 16;  // the words of the stacks are far apart in memory
  const std::vector<RawStack> stacks = table.StacksAt(indexes);
  StackHasher hasher(byte_order, origin, history);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (i + kAhead < stacks.size()) __builtin_prefetch(stacks[i + kAhead].chain.data());
    hasher.Add(stacks[i]);
  }
  return std::move(hasher).Finish();
}

}  // namespace perftape::convert

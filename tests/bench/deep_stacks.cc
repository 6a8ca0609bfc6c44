// SPDX-License-Identifier: Apache-2.0
// A program to record: deep stacks of functions with long names, most of them different. Its
// threads walk random paths in a tree of calls and spend their time at the leaves.
//
//   deep_stacks SECONDS [THREADS]
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace perftape::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The path of one thread through the calls.
struct Walk {
  explicit Walk(unsigned seed) : random(seed) {}

  std::minstd_rand random;
  std::uint64_t sum = 0;
};

constexpr unsigned kFunctions = 64;
// Most stacks begin with the same functions, followed by this many random ones.
constexpr unsigned kCommonDepth = 3, kRandomDepth = 7;

// Names of some hundred bytes, as those of templates.
template <unsigned kNumber>
struct RequestPipelineStage {
  [[gnu::noinline]] static void DescendThroughTheStages(Walk& walk, unsigned depth);
};

using Descend = void (*)(Walk&, unsigned);

template <unsigned... kNumbers>
constexpr std::array<Descend, sizeof...(kNumbers)> Stages(
    std::integer_sequence<unsigned, kNumbers...> /*numbers*/) {
  return {&RequestPipelineStage<kNumbers>::DescendThroughTheStages...};
}

const std::array<Descend, kFunctions>& AllStages() {
  static constexpr auto kStages = Stages(std::make_integer_sequence<unsigned, kFunctions>());
  return kStages;
}

template <class Key, class Value>
[[gnu::noinline]] void SpendTimeInALeafFunction(Walk& walk) {
  const std::uint64_t rounds = 2000 + walk.random() % 4000;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    walk.sum = (walk.sum ^ (walk.sum >> 13)) * 0x9e3779b97f4a7c15 + sizeof(Key) + sizeof(Value) + i;
  }
}

template <unsigned kNumber>
void RequestPipelineStage<kNumber>::DescendThroughTheStages(Walk& walk, unsigned depth) {
  if (depth == 0) {
    SpendTimeInALeafFunction<std::array<std::string, kNumber + 1>,
                             std::map<std::string, std::vector<int>>>(walk);
  } else {
    const auto random = static_cast<unsigned>(walk.random());
    // Half of the functions call few others, so that stacks repeat.
    const unsigned choices = kNumber % 2 == 0 ? 3 : 8;
    const unsigned next = depth > kRandomDepth ? depth : (kNumber * 7 + random % choices + depth);
    AllStages()[next % kFunctions](walk, depth - 1);
  }
  // No tail call: the caller stays on the stack.
  walk.sum += kNumber;
}

struct Worker {
  Clock::time_point end;
  unsigned seed;

  void operator()() const {
    Walk walk(seed);
    while (Clock::now() < end) {
      const auto first = static_cast<unsigned>(walk.random()) % 4;
      AllStages()[first](walk, kCommonDepth + kRandomDepth);
    }
  }
};

// Returns 0 if `text` is no number.
unsigned NumberOf(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace
}  // namespace perftape::bench

int main(int argc, char** argv) {
  using namespace perftape::bench;
  const unsigned seconds = argc > 1 ? NumberOf(argv[1]) : 0;
  const unsigned threads = argc > 2 ? NumberOf(argv[2]) : std::thread::hardware_concurrency();
  if (argc > 3 || seconds == 0 || threads == 0) {
    fmt::print(stderr, "usage: deep_stacks SECONDS [THREADS]\n");
    return 2;
  }
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i) running.emplace_back(Worker{end, i + 1});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// The C++ workload of unwind_oracle_test.py: threads that throw exceptions through several frames,
// match regular expressions and sort, for MS milliseconds.
//
//   mixed_stacks THREADS MS
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

int Throw(int depth) {
  if (depth == 0) throw std::runtime_error("from below");
  const std::string held(static_cast<std::size_t>(depth), 'x');
  return Throw(depth - 1) + static_cast<int>(held.size());
}

std::size_t CatchAndMatch(unsigned seed) {
  std::size_t found = 0;
  try {
    found += static_cast<std::size_t>(Throw(static_cast<int>(seed % 12)));
  } catch (const std::exception& error) {
    found += std::string(error.what()).size();
  }
  const std::regex words("([a-z]+)=([0-9]+|x(y|z)*)");
  const std::string text = "alpha=1 beta=xyzy gamma=77 delta=x" + std::to_string(seed);
  found += static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), words), std::sregex_iterator()));
  std::vector<std::string> sorted;
  for (unsigned i = 0; i < 200; ++i) sorted.push_back(std::to_string(i * seed % 997));
  std::ranges::sort(sorted);
  return found + sorted.front().size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(std::atoi(argv[2]));
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    threads.emplace_back([end] {
      for (unsigned seed = 1; Clock::now() < end; ++seed) CatchAndMatch(seed);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

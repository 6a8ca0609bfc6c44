// SPDX-License-Identifier: Apache-2.0
// A plain main for a fuzz target, where libFuzzer is not linked: runs it over the files given, over
// all files in the folders given, and over damaged copies of each, always the same ones.
//
//   perfdata_read_fuzzer [--damage=N] FILE|FOLDER…
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

// On the heap and of the exact size, so that a sanitizer sees a read past its end.
void RunOne(const Input& input) {
  const Input exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::size_t Below(std::mt19937_64& random, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit);
}

// One to eight bytes changed, most often near the start, where headers and counts are; in one of
// four copies the end cut off.
Input Damaged(const Input& input, std::mt19937_64& random) {
  constexpr std::uint8_t kTelling[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  Input damaged = input;
  if (damaged.empty()) return damaged;
  for (std::size_t changes = 1 + Below(random, 8); changes > 0; --changes) {
    const std::size_t reach = Below(random, 2) == 0 ? damaged.size() : damaged.size() / 16 + 1;
    damaged[Below(random, reach)] = Below(random, 2) == 0
                                        ? kTelling[Below(random, std::size(kTelling))]
                                        : static_cast<std::uint8_t>(random());
  }
  if (Below(random, 4) == 0) damaged.resize(Below(random, damaged.size()));
  return damaged;
}

bool ReplayFile(const std::filesystem::path& path, int damaged_copies) {
  std::ifstream file(path, std::ios::binary);
  const Input input{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // The last line names the file of a crash.
  RunOne(input);
  std::mt19937_64 random(input.size());
  for (int copy = 0; copy < damaged_copies; ++copy) RunOne(Damaged(input, random));
  return true;
}

std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& place) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(place)) return {place};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kDamage = "--damage=";
  int damaged_copies = 0;
  std::size_t files = 0;
  bool good = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kDamage)) {
      damaged_copies = std::atoi(argv[i] + kDamage.size());
      continue;
    }
    for (const std::filesystem::path& path : FilesIn(argument)) {
      good = ReplayFile(path, damaged_copies) && good;
      ++files;
    }
  }
  std::printf("%zu files, each with %d damaged copies\n", files, damaged_copies);
  return good && files > 0 ? 0 : 1;
}

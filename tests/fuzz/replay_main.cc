// SPDX-License-Identifier: Apache-2.0
// A plain main for a fuzz target without libFuzzer. Runs the target on the given files, on all
// files in the given folders, on a folder of the corpus, if there is one, and on damaged copies of
// each, which are always the same. The target's own mutator, if it has one, makes half of the
// copies. A large file has fewer.
//
//   perfdata_read_fuzzer [--damage=N] [--corpus=FOLDER] FILE|FOLDER…
#include <algorithm>
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

#include "tests/support/corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Null if the target has none.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                             std::size_t max_size, unsigned seed);

// Replaces libFuzzer's function, which mutators call for unstructured bytes: changes one byte, and
// adds one if that byte is even and there is room.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size) {
  static std::minstd_rand random(1);
  if (size == 0) return 0;
  std::uint8_t& byte = data[random() % size];
  byte = static_cast<std::uint8_t>(random());
  if (byte % 2 != 0 || size >= max_size) return size;
  data[size] = byte;
  return size + 1;
}

namespace {

using Input = std::vector<std::uint8_t>;

// On the heap with the exact size, so that a sanitizer detects a read behind the end.
void RunOne(const Input& input) {
  const Input exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::size_t Below(std::mt19937_64& random, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit);
}

// Changes one to eight bytes, usually near the start, where headers and counts are. One of four
// copies is truncated.
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

Input Mutated(const Input& input, unsigned seed) {
  constexpr std::size_t kGrowth = 4096;
  Input mutated = input;
  mutated.resize(input.size() + kGrowth);
  mutated.resize(LLVMFuzzerCustomMutator(mutated.data(), input.size(), mutated.size(), seed));
  return mutated;
}

// A large file has fewer copies: one bad byte in a megabyte shows no more than in a kilobyte.
int CopiesOf(std::size_t size, int most) {
  constexpr std::size_t kEnoughBytes = std::size_t{1} << 20;  // in all copies of a file
  const std::size_t copies =
      std::max<std::size_t>(2, kEnoughBytes / std::max<std::size_t>(1, size));
  return static_cast<int>(std::min(copies, static_cast<std::size_t>(most)));
}

bool ReplayFile(const std::filesystem::path& path, int most_copies) {
  std::ifstream file(path, std::ios::binary);
  const Input input{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // the last line names the file of a crash
  RunOne(input);
  std::mt19937_64 random(input.size());
  const int copies = CopiesOf(input.size(), most_copies);
  for (int copy = 0; copy < copies; ++copy) {
    const bool is_structured = copy % 2 == 1 && LLVMFuzzerCustomMutator != nullptr;
    RunOne(is_structured ? Mutated(input, static_cast<unsigned>(copy)) : Damaged(input, random));
  }
  return true;
}

// Returns the files sorted by name, so that all runs are equal.
std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(path)) return {path};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const bool is_text = entry.path().extension() == ".md" || entry.path().extension() == ".tsv";
    if (entry.is_regular_file() && !is_text) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

struct Plan {
  int most_copies = 0;  // damaged, of each file
  std::vector<std::filesystem::path> files;
};

void AddFiles(const std::filesystem::path& path, Plan& plan) {
  for (const std::filesystem::path& file : FilesIn(path)) plan.files.push_back(file);
}

Plan PlanOf(int argc, char** argv) {
  constexpr std::string_view kDamage = "--damage=", kCorpus = "--corpus=";
  Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kDamage)) {
      plan.most_copies = std::atoi(argv[i] + kDamage.size());
    } else if (!argument.starts_with(kCorpus)) {
      AddFiles(argument, plan);
    } else if (const std::filesystem::path corpus = perftape::CorpusDirectory(); corpus.empty()) {
      std::printf("without the damaged files of others: %s\n", perftape::kNoCorpus);
    } else {
      AddFiles(corpus / argument.substr(kCorpus.size()), plan);
    }
  }
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = PlanOf(argc, argv);
  bool good = !plan.files.empty();
  for (const std::filesystem::path& file : plan.files) {
    good = ReplayFile(file, plan.most_copies) && good;
  }
  std::printf("%zu files, each with up to %d damaged copies\n", plan.files.size(),
              plan.most_copies);
  return good ? 0 : 1;
}

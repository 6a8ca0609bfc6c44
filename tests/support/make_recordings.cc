// SPDX-License-Identifier: Apache-2.0
// make_recordings DIR N: writes N small perf.data, DIR/0000.data and so on, for the tests of
// merging. They share programs, threads and stacks. They differ in which of these they contain, and
// in events, hosts, addresses, times and counts. Equal N gives equal files.
#include <fcntl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>
#include <string>

#include "formats/base/file.h"
#include "tests/support/perfdata_builder.h"

namespace perftape {
namespace {

using namespace perfdata;

constexpr std::uint64_t kPageFaults = 2;  // PERF_COUNT_SW_PAGE_FAULTS
constexpr std::uint64_t kKernelText = 0xffffffff81000000;

class RecordingMaker {
 public:
  explicit RecordingMaker(unsigned number) : number_(number), dice_(number) {}

  std::vector<std::byte> Make() {
    // One file in ten also has a second event, one in a hundred only that one.
    if (number_ % 100 != 99) AddEvent("cpu-clock", kSoftwareCpuClock);
    if (number_ % 10 == 9) AddEvent("page-faults", kPageFaults);
    file_.AddFeature(FeatureBit::kHostname, TextFeature{fmt::format("host{}", number_ % 5)});
    file_.AddMmap({.start = kKernelText,
                   .length = 0x1000000,
                   .page_offset = kKernelText,
                   .path = "[kernel.kallsyms]_text",
                   .mode = CpuMode::kKernel});
    for (std::uint32_t pid = 1; pid <= 3; ++pid) AddProcess(pid);
    for (int sample = Roll(40); sample > 0; --sample) AddSample();
    file_.AddRound();
    return file_.Build();
  }

 private:
  int Roll(int sides) { return static_cast<int>(dice_() % static_cast<unsigned>(sides)); }

  void AddEvent(std::string_view name, std::uint64_t config) {
    file_.AddEvent({.name = name, .config = config, .sample_period = 1000, .flags = kSampleIdAll});
    ++events_;
  }

  // Maps the program at a different address in each file.
  void AddProcess(std::uint32_t pid) {
    starts_[pid] = 0x400000 + 0x1000 * static_cast<std::uint64_t>(Roll(256));
    file_.AddComm({.pid = pid, .tid = pid, .comm = fmt::format("app{}", pid), .time = 1});
    file_.AddMmap({.pid = pid,
                   .tid = pid,
                   .start = starts_[pid],
                   .length = 0x10000,
                   .path = fmt::format("/nonexistent/app{}", pid % 2),
                   .time = 2});
  }

  void AddSample() {
    const auto pid = static_cast<std::uint32_t>(1 + Roll(3));
    std::vector<std::uint64_t> chain;
    const bool in_kernel = Roll(4) == 0;
    if (in_kernel) {
      chain = {kContextKernel, kKernelText + 0x100 * static_cast<std::uint64_t>(Roll(8))};
    }
    chain.push_back(kContextUser);
    for (int depth = 1 + Roll(5); depth > 0; --depth) {
      chain.push_back(starts_[pid] + 0x10 * static_cast<std::uint64_t>(1 + Roll(6)));
    }
    time_ += 1 + static_cast<std::uint64_t>(Roll(1000));
    file_.AddSample({.ip = chain[1],  // after the first context marker
                     .pid = pid,
                     .tid = pid,
                     .time = time_,
                     .cpu = static_cast<std::uint32_t>(Roll(4)),
                     .period = 1000,
                     .callchain = chain,
                     .mode = in_kernel ? CpuMode::kKernel : CpuMode::kUser,
                     .event = static_cast<std::size_t>(Roll(events_))});
  }

  unsigned number_;
  std::mt19937 dice_;
  PerfDataBuilder file_;
  int events_ = 0;
  std::uint64_t starts_[4] = {};
  std::uint64_t time_ = 1000;
};

bool WriteFile(const std::string& path, Bytes bytes) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  return fd && WriteAll(fd.get(), bytes);
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto count = static_cast<unsigned>(std::atoi(argv[2]));
  for (unsigned i = 0; i < count; ++i) {
    const std::string path = fmt::format("{}/{:04}.data", argv[1], i);
    if (!perftape::WriteFile(path, perftape::RecordingMaker(i).Make())) return 1;
  }
  return 0;
}

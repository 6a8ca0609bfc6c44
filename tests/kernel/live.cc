// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/live.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "record/events/event_attrs.h"
#include "record/machine/requirements.h"

namespace perftape {
namespace {

std::uint64_t return_address_in_caller = 0;

std::int64_t CpuTimeNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

template <class T>
T OrThrow(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

LiveSample SampleIn(Bytes message) {
  LiveSample sample;
  std::memcpy(&sample.fields, message.data(), sizeof sample.fields);
  const Bytes frames = message.subspan(sizeof sample.fields);
  const WordArray words(frames, std::endian::native);
  sample.frames.assign(words.begin(), words.end());
  return sample;
}

}  // namespace

void LiveTest::SetUp() {
  const std::vector<record::Finding> missing =
      record::CheckFacts(record::ReadSystemFacts()).missing;
  if (!missing.empty()) GTEST_SKIP() << missing.front().text();
}

void PinTo(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(cpu), &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0) throw std::runtime_error("sched_setaffinity");
}

[[gnu::noinline]] void Burn(std::int64_t milliseconds) {
  return_address_in_caller = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  const std::int64_t end = CpuTimeNs() + milliseconds * 1'000'000;
  while (CpuTimeNs() < end) {
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
  }
}

void BurnInKernel(std::int64_t milliseconds) {
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(1 << 20);
  const std::int64_t end = CpuTimeNs() + milliseconds * 1'000'000;
  while (CpuTimeNs() < end) {
    for (int i = 0; i < 16; ++i) {
      if (read(zeros, buffer.data(), buffer.size()) < 0) _exit(9);
    }
  }
  close(zeros);
}

std::uint64_t ReturnAddressInCaller() {
  return return_address_in_caller;
}

[[gnu::noinline]] void BurnFromHere(std::int64_t milliseconds) {
  Burn(milliseconds);
  asm volatile("");  // no tail call
}

Process::Process(const std::function<void()>& work) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    close(go[1]);
    char byte = 0;
    try {
      if (read(go[0], &byte, 1) == 1) work();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "process %d: %s\n", getpid(), failure.what());
      _exit(9);
    }
    _exit(0);
  }
  close(go[0]);
  go_ = go[1];
}

Process::~Process() {
  if (go_ < 0) return;
  close(go_);
  waitpid(pid_, nullptr, 0);
}

void Process::Finish() {
  ASSERT_EQ(write(go_, "g", 1), 1);
  close(std::exchange(go_, -1));
  int status = 0;
  ASSERT_EQ(waitpid(pid_, &status, 0), pid_);
  ASSERT_EQ(status, 0);
}

std::vector<std::uint64_t> LiveSample::kernel_frames() const {
  return {frames.begin(), frames.begin() + fields.kernel_frames};
}

std::vector<std::uint64_t> LiveSample::user_frames() const {
  return {frames.begin() + fields.kernel_frames, frames.end()};
}

LiveRecording::LiveRecording(const record::BpfOptions& options)
    : session_(OrThrow(record::BpfSession::Load(options))),
      events_(OrThrow(record::OpenOnCpus(
          record::AttrForBpf(record::CounterAttr(
              perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, record::Period{kPeriod})),
          OrThrow(record::OnlineCpus())))) {
  OrThrow(session_.AttachTo(0, events_));
  OrThrow(record::EnableAll(events_));
}

std::vector<LiveSample> LiveRecording::Stop() {
  OrThrow(record::DisableAll(events_));
  std::vector<LiveSample> samples;
  OrThrow(session_.Drain([&](Bytes message) { samples.push_back(SampleIn(message)); }));
  return samples;
}

std::uint64_t LiveRecording::ring_full() {
  std::uint64_t sum = 0;
  for (const wire_cpu& counters : session_.Counters(0)) sum += counters.ring_full;
  return sum;
}

std::size_t CountOf(const std::vector<LiveSample>& samples, pid_t pid) {
  return static_cast<std::size_t>(std::ranges::count_if(samples, [&](const LiveSample& sample) {
    return sample.fields.pid == static_cast<__u32>(pid);
  }));
}

std::vector<pid_t> PidsOf(const std::vector<LiveSample>& samples) {
  std::set<pid_t> pids;
  for (const LiveSample& sample : samples) pids.insert(static_cast<pid_t>(sample.fields.pid));
  return {pids.begin(), pids.end()};
}

}  // namespace perftape

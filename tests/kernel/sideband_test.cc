// SPDX-License-Identifier: Apache-2.0
#include "record/rings/sideband.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

#include "formats/perfdata/record.h"
#include "record/events/event_attrs.h"
#include "record/processes/child.h"
#include "record/rings/background_drain.h"
#include "tests/kernel/live.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using perfdata::Decode;
using perfdata::RecordType;
using perfdata::RecordView;
using testing::Contains;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RecordView ViewOf(Bytes record) {
  perfdata::RecordHeader header{};
  std::memcpy(&header, record.data(), sizeof header);
  return {.type = header.type, .misc = header.misc, .payload = record.subspan(sizeof header)};
}

// Keeps the records of the sideband.
class Recorded {
 public:
  explicit Recorded(record::SidebandOptions options = {})
      : events_(record::OpenOnCpus(record::SidebandAttr(), record::OnlineCpus().value()).value()),
        sideband_(record::Sideband::Open(events_, options).value()) {}

  void Drain() {
    const Result<std::size_t> drained =
        sideband_.Drain([&](Bytes record) { records_.emplace_back(record.begin(), record.end()); });
    ASSERT_THAT(drained, IsOk());
  }

  const std::vector<record::CpuEvent>& events() const { return events_; }
  const perfdata::SampleFormat& format() const { return format_; }

  std::vector<RecordView> views() const {
    std::vector<RecordView> views;
    for (const std::vector<std::byte>& record : records_) views.push_back(ViewOf(record));
    return views;
  }

  // Returns all records of one type, decoded, each with its misc bits.
  template <class Record>
  std::vector<std::pair<Record, std::uint16_t>> All() const {
    std::vector<std::pair<Record, std::uint16_t>> found;
    for (const RecordView& view : views()) {
      if (view.type == Record::kType) {
        found.emplace_back(Decode<Record>(view, format_).value(), view.misc);
      }
    }
    return found;
  }

  // Returns whether a record of that type matches.
  template <class Record, class Predicate>
  bool Has(Predicate matches) const {
    return std::ranges::any_of(All<Record>(),
                               [&](const auto& pair) { return std::apply(matches, pair); });
  }

 private:
  std::vector<record::CpuEvent> events_;
  record::Sideband sideband_;
  perfdata::SampleFormat format_ = perfdata::FormatOf(record::SidebandAttr());
  std::vector<std::vector<std::byte>> records_;
};

class SidebandTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) recorded_ = std::make_unique<Recorded>();
  }

  std::unique_ptr<Recorded> recorded_;
};

TEST_F(SidebandTest, ReportsForkAndExitOfAProcess) {
  Process process([] {});
  process.Finish();
  recorded_->Drain();
  const auto pid = static_cast<std::uint32_t>(process.pid());
  EXPECT_TRUE(recorded_->Has<perfdata::Fork>([&](const perfdata::Fork& fork, std::uint16_t) {
    return fork.pid == pid && fork.ppid == static_cast<std::uint32_t>(getpid());
  }));
  EXPECT_TRUE(recorded_->Has<perfdata::Exit>(
      [&](const perfdata::Exit& exit, std::uint16_t) { return exit.pid == pid; }));
}

TEST_F(SidebandTest, ReportsANewNameOfAThread) {
  Process process([] { prctl(PR_SET_NAME, "renamed"); });
  process.Finish();
  recorded_->Drain();
  EXPECT_TRUE(recorded_->Has<perfdata::Comm>([&](const perfdata::Comm& comm, std::uint16_t misc) {
    return comm.pid == static_cast<std::uint32_t>(process.pid()) && comm.comm == "renamed" &&
           (misc & perfdata::kMiscCommExec) == 0;
  }));
}

TEST_F(SidebandTest, DistinguishesAnExecFromARenaming) {
  const std::vector<std::string> command = {"/bin/true"};
  record::Child child = record::Child::Start(command, record::SignalState::Now()).value();
  ASSERT_THAT(child.Release(), IsOk());
  ASSERT_EQ(child.Wait().value(), 0);
  recorded_->Drain();
  EXPECT_TRUE(recorded_->Has<perfdata::Comm>([&](const perfdata::Comm& comm, std::uint16_t misc) {
    return comm.pid == static_cast<std::uint32_t>(child.pid()) && comm.comm == "true" &&
           (misc & perfdata::kMiscCommExec) != 0;
  }));
}

TEST_F(SidebandTest, ReportsExecutableMappings) {
  const TempDir dir;
  const std::string path = dir.Write("mapped", std::string(8192, '\0'));
  Process process([&] {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096) == MAP_FAILED) _exit(9);
  });
  process.Finish();
  recorded_->Drain();
  EXPECT_TRUE(recorded_->Has<perfdata::Mmap2>([&](const perfdata::Mmap2& mmap, std::uint16_t) {
    return mmap.pid == static_cast<std::uint32_t>(process.pid()) && mmap.filename == path &&
           mmap.length == 4096 && mmap.page_offset == 4096;
  }));
}

TEST_F(SidebandTest, ReportsLoadedBpfPrograms) {
  const record::BpfSession session = record::BpfSession::Load({}).value();
  recorded_->Drain();
  EXPECT_TRUE(recorded_->Has<perfdata::Ksymbol>([](const perfdata::Ksymbol& symbol, std::uint16_t) {
    return symbol.name.starts_with("bpf_prog_") && symbol.name.ends_with("_on_cpu");
  }));
  EXPECT_THAT(recorded_->All<perfdata::BpfEvent>(), Not(IsEmpty()));
}

TEST_F(SidebandTest, EndsEveryRecordWithIdAndTime) {
  Process process([] {});
  process.Finish();
  recorded_->Drain();
  std::vector<std::uint64_t> ids;
  for (const record::CpuEvent& event : recorded_->events()) ids.push_back(event.id);
  ASSERT_THAT(recorded_->views(), Not(IsEmpty()));
  for (const RecordView& view : recorded_->views()) {
    const perfdata::SampleId trailer = perfdata::DecodeSampleId(view, recorded_->format());
    ASSERT_THAT(ids, Contains(trailer.id));
    ASSERT_THAT(trailer.time, Gt(0U));
  }
}

TEST_F(SidebandTest, GivesTheRecordsOfACpuInTimeOrder) {
  for (int i = 0; i < 20; ++i) Process([] {}).Finish();
  recorded_->Drain();
  std::map<std::uint32_t, std::uint64_t> last_by_cpu;
  for (const RecordView& view : recorded_->views()) {
    const perfdata::SampleId trailer = perfdata::DecodeSampleId(view, recorded_->format());
    ASSERT_GE(trailer.time, last_by_cpu[trailer.cpu]);
    last_by_cpu[trailer.cpu] = trailer.time;
  }
  EXPECT_THAT(last_by_cpu, Not(IsEmpty()));
}

// Forks and ends this many processes on each CPU.
void ForkOnEachCpu(const std::vector<record::CpuEvent>& events, int count) {
  Process([&] {
    for (const record::CpuEvent& event : events) {
      PinTo(event.cpu);
      for (int i = 0; i < count; ++i) Process([] {}).Finish();
    }
  }).Finish();
}

TEST_F(SidebandTest, ForwardsLossesOfTheKernel) {
  Recorded small({.ring_bytes = 4096});
  ForkOnEachCpu(small.events(), 64);  // a FORK and an EXIT need some 150 bytes
  small.Drain();
  // The kernel reports a loss with the next record that fits, on the CPU of the loss.
  ForkOnEachCpu(small.events(), 1);
  small.Drain();
  for (const record::CpuEvent& event : small.events()) {
    EXPECT_TRUE(small.Has<perfdata::Lost>([&](const perfdata::Lost& lost, std::uint16_t) {
      return lost.event_id == event.id && lost.count > 0;
    })) << event.cpu;
  }
}

constexpr record::SidebandOptions kSmallRings = {.ring_bytes = 16384};

TEST_F(SidebandTest, WakesItsReaderBeforeARingIsFull) {
  const std::vector<record::CpuEvent> events =
      record::OpenOnCpus(record::AttrForPolling(record::SidebandAttr(), kSmallRings),
                         record::OnlineCpus().value())
          .value();
  record::Sideband sideband = record::Sideband::Open(events, kSmallRings).value();
  pollfd readable = {.fd = sideband.poll_fd(), .events = POLLIN, .revents = 0};
  for (int i = 0; i < 1000 && poll(&readable, 1, 0) == 0; ++i) Process([] {}).Finish();
  EXPECT_EQ(readable.revents, POLLIN);
  ASSERT_THAT(sideband.Drain([](Bytes) {}), IsOk());
  (void)poll(&readable, 1, 0);  // one more may arrive
  EXPECT_EQ(poll(&readable, 1, 0), 0);
}

TEST_F(SidebandTest, LosesNothingWhileItIsDrainedInTheBackground) {
  const std::vector<record::CpuEvent> events =
      record::OpenOnCpus(record::AttrForPolling(record::SidebandAttr(), kSmallRings),
                         record::OnlineCpus().value())
          .value();
  record::Sideband sideband = record::Sideband::Open(events, kSmallRings).value();
  const perfdata::SampleFormat format = perfdata::FormatOf(record::SidebandAttr());
  std::atomic<int> forks = 0, losses = 0;
  const auto count = [&](Bytes record) {
    const RecordView view = ViewOf(record);
    if (view.type == RecordType::kLost) ++losses;
    if (view.type != RecordType::kFork) return;
    const perfdata::Fork fork = Decode<perfdata::Fork>(view, format).value();
    if (fork.ppid == static_cast<std::uint32_t>(getpid())) ++forks;
  };
  record::BackgroundDrain drain =
      record::BackgroundDrain::Start(
          {.readable_fd = sideband.poll_fd(), .interval = std::chrono::milliseconds(10)},
          [&]() -> Status {
            TRY(sideband.Drain(count));
            return {};
          })
          .value();
  // Their records need more room than all rings have. Those of a batch take a small part of one
  // ring: other programs of this machine start processes, too.
  constexpr int kBatch = 16;
  const int all = static_cast<int>(4 * kSmallRings.ring_bytes * events.size() / 128);
  for (int made = 0; made < all; made += kBatch) {
    for (int i = 0; i < kBatch; ++i) Process([] {}).Finish();
    while (forks < made + kBatch && losses == 0) sched_yield();
  }
  EXPECT_THAT(drain.Stop(), IsOk());
  EXPECT_THAT(drain.Stop(), IsOk()) << "a second time";
  EXPECT_EQ(losses, 0);
  EXPECT_GE(forks, all);
}

TEST_F(SidebandTest, IsRefusedMoreMemoryThanAUserMayLock) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become someone else";
  int message[2];
  ASSERT_EQ(pipe(message), 0);
  const std::vector<record::CpuEvent> events =
      record::OpenOnCpus(record::SidebandAttr(), std::vector<int>{0}).value();
  Process process([&] {
    if (setuid(65534) != 0) _exit(8);
    const Result<record::Sideband> sideband =
        record::Sideband::Open(events, {.ring_bytes = std::size_t{64} << 20});
    const std::string text = sideband ? "" : sideband.error().message;
    if (write(message[1], text.data(), text.size()) < 0) _exit(9);
  });
  process.Finish();
  close(message[1]);
  char text[1024];
  const ssize_t size = read(message[0], text, sizeof text);
  close(message[0]);
  ASSERT_GE(size, 0);
  EXPECT_THAT(std::string(text, static_cast<std::size_t>(size)),
              HasSubstr("kernel.perf_event_mlock_kb"));
}

}  // namespace
}  // namespace perftape

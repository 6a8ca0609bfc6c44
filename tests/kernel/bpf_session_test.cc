// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/bpf_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <thread>
#include <vector>

#include "record/events/event_attrs.h"
#include "record/processes/child.h"
#include "tests/kernel/live.h"
#include "tests/support/matchers.h"

namespace perftape {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Lt;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using BpfSessionTest = LiveTest;

constexpr std::int64_t kBurnMs = 100;            // gives a hundred samples,
constexpr std::size_t kPlausible = kBurnMs / 2;  // of which a busy host may lose some
constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;

// Forks a process that does `work` and waits for it. Called in a Process's work.
pid_t ForkAndWait(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    work();
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  return pid;
}

std::uint64_t MonotonicNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TEST_F(BpfSessionTest, SamplesAProcessThatSpins) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_THAT(samples, SizeIs(Ge(kPlausible)));
  EXPECT_THAT(PidsOf(samples), ElementsAre(process.pid()));
}

TEST_F(BpfSessionTest, SendsSamplesOfTheirTrueLength) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  for (const LiveSample& sample : recording.Stop()) {
    ASSERT_EQ(sample.fields.header.type, WIRE_SAMPLE);
    ASSERT_EQ(sample.fields.header.size, sizeof(wire_sample) + sample.frames.size() * 8);
    ASSERT_EQ(sample.fields.kernel_frames + sample.fields.user_frames, sample.frames.size());
  }
}

TEST_F(BpfSessionTest, ReportsPeriodCpuAndTime) {
  const std::uint64_t before = MonotonicNs();
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  const std::uint64_t after = MonotonicNs();
  ASSERT_THAT(samples, Not(IsEmpty()));
  const std::vector<int> cpus = record::OnlineCpus().value();
  for (const LiveSample& sample : samples) {
    ASSERT_EQ(sample.fields.period, kPeriod);
    ASSERT_THAT(cpus, Contains(sample.fields.header.cpu));
    ASSERT_THAT(sample.fields.header.time_ns, AllOf(Gt(before), Lt(after)));
  }
}

TEST_F(BpfSessionTest, WalksFromTheInterruptedInstructionToItsCallers) {
  BurnFromHere(0);
  const std::uint64_t in_caller = ReturnAddressInCaller();
  Process process([] { BurnFromHere(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();

  std::size_t user_samples = 0;
  std::size_t with_caller = 0;
  for (const LiveSample& sample : recording.Stop()) {
    if (sample.fields.mode != WIRE_MODE_USER) continue;
    ++user_samples;
    ASSERT_EQ(sample.fields.kernel_frames, 0U);
    ASSERT_EQ(sample.frames.front(), sample.fields.ip);
    ASSERT_LT(sample.fields.ip, kFirstKernelAddress);
    if (std::ranges::find(sample.frames, in_caller) != sample.frames.end()) ++with_caller;
  }
  EXPECT_GE(user_samples, kPlausible);
  EXPECT_GE(with_caller * 10, user_samples * 9) << "all but those in the C library";
}

TEST_F(BpfSessionTest, PutsKernelFramesBeforeUserFrames) {
  Process process([] { BurnInKernel(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();

  std::size_t kernel_samples = 0;
  for (const LiveSample& sample : recording.Stop()) {
    if (sample.fields.mode != WIRE_MODE_KERNEL) continue;
    ++kernel_samples;
    ASSERT_GE(sample.fields.ip, kFirstKernelAddress);
    ASSERT_EQ(sample.frames.front(), sample.fields.ip);
    ASSERT_THAT(sample.kernel_frames(), Each(Ge(kFirstKernelAddress)));
  }
  EXPECT_GE(kernel_samples, kPlausible);
}

TEST_F(BpfSessionTest, OmitsFramesIfAsked) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording(
      {.filter = {.processes = {process.pid()}}, .callchains = record::Callchains::kNone});
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  ASSERT_THAT(samples, SizeIs(Ge(kPlausible)));
  for (const LiveSample& sample : samples) ASSERT_THAT(sample.frames, IsEmpty());
}

TEST_F(BpfSessionTest, SamplesEveryProcessByDefault) {
  Process first([] { Burn(kBurnMs); });
  Process second([] { Burn(kBurnMs); });
  LiveRecording recording({});
  first.Finish();
  second.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_GE(CountOf(samples, first.pid()), kPlausible);
  EXPECT_GE(CountOf(samples, second.pid()), kPlausible);
}

TEST_F(BpfSessionTest, SamplesOnlySelectedProcesses) {
  Process wanted([] { Burn(kBurnMs); });
  Process unwanted([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {wanted.pid()}}});
  wanted.Finish();
  unwanted.Finish();
  EXPECT_THAT(PidsOf(recording.Stop()), ElementsAre(wanted.pid()));
}

TEST_F(BpfSessionTest, FollowsDescendantsOfAProcess) {
  Process process([] { ForkAndWait([] { ForkAndWait([] { Burn(kBurnMs); }); }); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_GE(samples.size() - CountOf(samples, process.pid()), kPlausible);
}

TEST_F(BpfSessionTest, KeepsAProcessWhoseFirstThreadHasEnded) {
  Process process([] {
    std::thread([] {
      // The group lives as long as one of its threads does.
      Burn(kBurnMs);
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);
  });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  EXPECT_GE(CountOf(recording.Stop(), process.pid()), kPlausible);
}

// Forks a process with the id of one that has ended (clone3's set_tid, for root).
pid_t ForkWithId(pid_t pid) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&pid);
  arguments.set_tid_size = 1;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

TEST_F(BpfSessionTest, ForgetsAProcessThatHasEnded) {
  Process process([] {});
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  const pid_t successor = ForkWithId(process.pid());
  if (successor < 0) GTEST_SKIP() << "no clone3 with set_tid here";
  if (successor == 0) {
    Burn(kBurnMs);
    _exit(0);
  }
  ASSERT_EQ(waitpid(successor, nullptr, 0), process.pid());
  EXPECT_LT(CountOf(recording.Stop(), successor), kPlausible) << "at most its start and end";
}

TEST_F(BpfSessionTest, SamplesOnlySelectedThreads) {
  int tids[2];
  ASSERT_EQ(pipe(tids), 0);
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  // One of two threads sends its id and burns when it is released; the other one burns beside it.
  Process process([&] {
    std::thread wanted([&] {
      const pid_t tid = gettid();
      char byte = 0;
      if (write(tids[1], &tid, sizeof tid) < 0 || read(go[0], &byte, 1) != 1) _exit(9);
      Burn(kBurnMs);
    });
    std::thread unwanted([] { Burn(kBurnMs); });
    wanted.join();
    unwanted.join();
  });
  std::thread finish([&] { process.Finish(); });
  pid_t tid = 0;
  ASSERT_EQ(read(tids[0], &tid, sizeof tid), static_cast<ssize_t>(sizeof tid));
  LiveRecording recording({.filter = {.threads = {tid}}});
  ASSERT_EQ(write(go[1], "g", 1), 1);
  finish.join();

  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_THAT(samples, SizeIs(Ge(kPlausible)));
  for (const LiveSample& sample : samples) {
    ASSERT_EQ(sample.fields.tid, static_cast<__u32>(tid));
    ASSERT_EQ(sample.fields.pid, static_cast<__u32>(process.pid()));
  }
}

TEST_F(BpfSessionTest, SamplesOnlyTheSelectedUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become someone else";
  constexpr uid_t kSomeone = 54321;
  Process theirs([] {
    if (setuid(kSomeone) != 0) _exit(9);
    Burn(kBurnMs);
  });
  Process ours([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.user = kSomeone}});
  theirs.Finish();
  ours.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_GE(samples.size(), kPlausible);
  EXPECT_THAT(PidsOf(samples), ElementsAre(theirs.pid()));
}

TEST_F(BpfSessionTest, DoesNotCountTheIdleTaskAsRoots) {
  LiveRecording recording({.filter = {.user = 0}});
  Process process([] { Burn(kBurnMs); });
  process.Finish();
  EXPECT_THAT(PidsOf(recording.Stop()), Each(Gt(0)));
}

TEST_F(BpfSessionTest, NeverSamplesTheExcludedProcess) {
  Process excluded([] { Burn(kBurnMs); });
  Process other([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.excluded_process = excluded.pid()}});
  excluded.Finish();
  other.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_EQ(CountOf(samples, excluded.pid()), 0U);
  EXPECT_GE(CountOf(samples, other.pid()), kPlausible);
}

TEST_F(BpfSessionTest, SamplesACommandFromItsExecOn) {
  const std::vector<std::string> command = {"sh", "-c",
                                            "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"};
  record::Child child = record::Child::Start(command, record::SignalState::Now()).value();
  LiveRecording recording({.filter = {.command = child.pid()}});
  ASSERT_THAT(child.Release(), IsOk());
  ASSERT_EQ(child.Wait().value(), 0);
  EXPECT_THAT(PidsOf(recording.Stop()), ElementsAre(child.pid()));
}

TEST_F(BpfSessionTest, DoesNotSampleACommandWithoutExec) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.command = process.pid()}});
  process.Finish();
  EXPECT_THAT(recording.Stop(), IsEmpty());
}

TEST_F(BpfSessionTest, CountsWhatTheRingHasNoRoomFor) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}, .ring_bytes = 4096});
  process.Finish();
  const std::vector<LiveSample> samples = recording.Stop();
  EXPECT_THAT(samples, SizeIs(Le(4096 / sizeof(wire_sample))));
  EXPECT_GT(recording.ring_full(), 0U);
  EXPECT_GE(samples.size() + recording.ring_full(), kPlausible) << "none is unaccounted for";
}

TEST_F(BpfSessionTest, LosesNothingWhereThereIsRoom) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  EXPECT_THAT(recording.Stop(), SizeIs(Ge(kPlausible)));
  EXPECT_EQ(recording.ring_full(), 0U);
}

TEST_F(BpfSessionTest, HasCountersForEachCpu) {
  const record::BpfSession session = record::BpfSession::Load({}).value();
  EXPECT_GE(session.Counters(0).size(), record::OnlineCpus().value().size());
}

void BurnOn(int cpu) {
  PinTo(cpu);
  Burn(kBurnMs);
}

// A clock whose missed expiries are counted.
record::BpfEvent ClockEvent() {
  record::BpfEvent event;
  event.settings.period_ns = kPeriod;
  return event;
}

// On a busy machine, too, each expiry of a timer must be an overflow or counted as missed. Each CPU
// has work to do, because some virtual machines hide their idle task from perf events.
void ExpectThatEveryExpiryIsCounted(record::ExpirySource source) {
  const std::vector<int> online = record::OnlineCpus().value();
  Process process([&] {
    std::vector<std::jthread> threads;
    for (const int cpu : online) threads.emplace_back([cpu] { BurnOn(cpu); });
  });
  const std::uint64_t before_ns = MonotonicNs();
  LiveRecording recording({.events = {ClockEvent()}, .expiry_source = source});
  const std::uint64_t after_ns = MonotonicNs();
  process.Finish();
  recording.Stop();
  const std::vector<wire_cpu> counters = recording.session().Counters(0);
  for (const int cpu : online) {
    const wire_cpu& counter = counters[static_cast<std::size_t>(cpu)];
    std::uint64_t expiries = counter.overflows;
    std::uint64_t halves = counter.missed_unwanted;
    for (const std::uint64_t missed : counter.missed) halves += missed;
    expiries += halves / 2;
    EXPECT_GT(counter.overflows, 0U);
    EXPECT_GE(expiries + 2, (counter.expiry_ns - after_ns) / kPeriod) << "CPU " << cpu;
    EXPECT_LE(expiries, (counter.expiry_ns - before_ns) / kPeriod + 1) << "CPU " << cpu;
  }
}

TEST_F(BpfSessionTest, CountsEveryExpiryOfATimer) {
  ExpectThatEveryExpiryIsCounted(record::ExpirySource::kKernelIfPossible);
}

TEST_F(BpfSessionTest, CountsEveryExpiryOfATimerByItsOwnClock) {
  ExpectThatEveryExpiryIsCounted(record::ExpirySource::kOwnClock);
}

TEST_F(BpfSessionTest, DoesNotExplainMissesByItsOwnClock) {
  LiveRecording recording(
      {.events = {ClockEvent()}, .expiry_source = record::ExpirySource::kOwnClock});
  Process process([] { Burn(kBurnMs); });
  process.Finish();
  recording.Stop();
  for (const wire_cpu& counter : recording.session().Counters(0)) {
    EXPECT_EQ(counter.missed[WIRE_SKIPPED] + counter.missed[WIRE_LATE] +
                  counter.missed[WIRE_THROTTLED] + counter.missed[WIRE_STALLED],
              0U);
  }
}

TEST_F(BpfSessionTest, DoesNotWakeItsReaderForAFewSamples) {
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}}});
  process.Finish();
  pollfd ring = {.fd = recording.session().poll_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ring, 1, 0), 0);
  EXPECT_THAT(recording.Stop(), Not(IsEmpty())) << "but hands them on when asked";
}

TEST_F(BpfSessionTest, WakesAReaderBeforeTheRingIsFull) {
  // Half of the smallest ring is 2 KiB: some thirty samples without frames.
  Process process([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {process.pid()}},
                           .callchains = record::Callchains::kNone,
                           .ring_bytes = 4096});
  std::thread finish([&] { process.Finish(); });
  pollfd ring = {.fd = recording.session().poll_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ring, 1, -1), 1);
  finish.join();
}

TEST_F(BpfSessionTest, PassesOnLibbpfsMessages) {
  std::string log;
  const auto append = [&](std::string_view message) { log += message; };
  ASSERT_THAT(record::BpfSession::Load({.log = append}), IsOk());
  EXPECT_THAT(log, HasSubstr("on_cpu"));
}

TEST_F(BpfSessionTest, StopsSamplingWhenItGoes) {
  Process process([] { Burn(kBurnMs); });
  auto recording = std::make_unique<LiveRecording>(record::BpfOptions{});
  recording.reset();
  LiveRecording later({.filter = {.processes = {process.pid()}}});
  process.Finish();
  EXPECT_THAT(later.Stop(), SizeIs(Ge(kPlausible)));
}

// Returns the message for a recorder without privileges, from a process that dropped them.
std::string MessageWithoutPrivileges(const std::function<Error()>& attempt) {
  int message[2];
  if (pipe(message) != 0) return "no pipe";
  ForkAndWait([&] {
    if (setuid(65534) != 0) _exit(9);
    const std::string text = attempt().message;
    if (write(message[1], text.data(), text.size()) < 0) _exit(9);
  });
  close(message[1]);
  std::string text(4096, '\0');
  const ssize_t size = read(message[0], text.data(), text.size());
  close(message[0]);
  return text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

TEST_F(BpfSessionTest, ReportsMissingPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become someone else";
  EXPECT_THAT(MessageWithoutPrivileges([] { return record::BpfSession::Load({}).error(); }),
              AllOf(HasSubstr("cannot load the BPF programs"),
                    HasSubstr("CAP_BPF and CAP_PERFMON are missing"), HasSubstr("setcap")));
}

using OpenOnCpusTest = LiveTest;

TEST_F(OpenOnCpusTest, GivesEveryCpuAnIdOfItsOwn) {
  const std::vector<int> cpus = record::OnlineCpus().value();
  const std::vector<record::CpuEvent> events =
      record::OpenOnCpus(record::SidebandAttr(), cpus).value();
  ASSERT_EQ(events.size(), cpus.size());
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].cpu, cpus[i]);
    EXPECT_THAT(ids, Not(Contains(events[i].id)));
    ids.push_back(events[i].id);
  }
}

TEST_F(OpenOnCpusTest, LeavesOutACpuThatIsNotThere) {
  const std::vector<int> cpus = {0, 65000};
  const std::vector<record::CpuEvent> events =
      record::OpenOnCpus(record::SidebandAttr(), cpus).value();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().cpu, 0);
}

TEST_F(OpenOnCpusTest, NamesTheHighestFrequencyThatTheKernelAllows) {
  EXPECT_THAT(
      record::OpenOnCpus(record::CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock,
                                             record::Frequency{10'000'000}),
                         record::OnlineCpus().value()),
      FailsWith(
          ErrorCode::kInvalidArgument,
          AllOf(HasSubstr("10000000 Hz"), HasSubstr("kernel.perf_event_max_sample_rate is"))));
}

TEST_F(OpenOnCpusTest, RaisesTheLimitOfOpenFiles) {
  Process process([] {
    const int next_fd = dup(0);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(next_fd) + 1;
    if (close(next_fd) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(8);
    // The list of CPUs uses the last free descriptor, and closes it before the first event is
    // opened.
    if (!record::OpenOnCpus(record::SidebandAttr(), std::vector<int>{0, 0})) _exit(9);
  });
  process.Finish();
}

TEST_F(OpenOnCpusTest, ReportsTheHardLimitOfOpenFiles) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer looks at objects through a pipe, for which no descriptor is left";
#endif
  Process process([] {
    const int next_fd = dup(0);
    const auto limit = static_cast<rlim_t>(next_fd) + 1;
    const rlimit limits = {.rlim_cur = limit, .rlim_max = limit};
    if (close(next_fd) != 0 || setrlimit(RLIMIT_NOFILE, &limits) != 0) _exit(8);
    const Result<std::vector<record::CpuEvent>> events =
        record::OpenOnCpus(record::SidebandAttr(), std::vector<int>{0, 0});
    if (events || events.error().message.find("ulimit -Hn") == std::string::npos) _exit(9);
  });
  process.Finish();
}

TEST_F(OpenOnCpusTest, ReportsTheSettingThatRefusesUnprivilegedUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become someone else";
  EXPECT_THAT(MessageWithoutPrivileges([] {
                const Result<std::vector<record::CpuEvent>> events =
                    record::OpenOnCpus(record::SidebandAttr(), std::vector<int>{0});
                return events ? Error{} : events.error();
              }),
              AllOf(HasSubstr("kernel.perf_event_paranoid"), HasSubstr("CAP_PERFMON")));
}

// The samples of a recorder that runs in its own pid namespace.
struct SeenInNamespace {
  pid_t burner = 0;         // its ids in the recorder's namespace
  std::size_t samples = 0;  // with these ids
  std::size_t others = 0;   // with other ids
};

// The recorder is process 1 of a new namespace, the burner its child. With kNamespaceBelow the
// burner is in a nested namespace, where its own id is 1 again.
enum class BurnerIn : std::uint8_t { kSameNamespace, kNamespaceBelow };

SeenInNamespace RecordInNamespace(BurnerIn where) {
  SeenInNamespace seen;
  if (where == BurnerIn::kNamespaceBelow && unshare(CLONE_NEWPID) != 0) _exit(9);
  Process burner([] { Burn(kBurnMs); });
  LiveRecording recording({.filter = {.processes = {burner.pid()}}});
  burner.Finish();
  seen.burner = burner.pid();
  const std::vector<LiveSample> samples = recording.Stop();
  seen.samples = CountOf(samples, seen.burner);
  seen.others = samples.size() - seen.samples;
  return seen;
}

SeenInNamespace SeenFromInside(BurnerIn where) {
  int result[2];
  if (pipe(result) != 0) return {};
  ForkAndWait([&] {
    if (unshare(CLONE_NEWPID) != 0) _exit(9);
    ForkAndWait([&] {
      const SeenInNamespace seen = RecordInNamespace(where);
      if (write(result[1], &seen, sizeof seen) < 0) _exit(9);
    });
  });
  close(result[1]);
  SeenInNamespace seen;
  if (read(result[0], &seen, sizeof seen) < 0) seen = {};
  close(result[0]);
  return seen;
}

TEST_F(BpfSessionTest, CountsProcessesAsItsOwnPidNamespaceDoes) {
  const SeenInNamespace seen = SeenFromInside(BurnerIn::kSameNamespace);
  EXPECT_EQ(seen.burner, 2) << "the second process there";
  EXPECT_GE(seen.samples, kPlausible);
  EXPECT_EQ(seen.others, 0U);
}

TEST_F(BpfSessionTest, CountsProcessesOfANamespaceBelowAsItsOwnDoes) {
  const SeenInNamespace seen = SeenFromInside(BurnerIn::kNamespaceBelow);
  EXPECT_EQ(seen.burner, 2);
  EXPECT_GE(seen.samples, kPlausible);
  EXPECT_EQ(seen.others, 0U);
}

}  // namespace
}  // namespace perftape

// SPDX-License-Identifier: Apache-2.0
#include "record/processes/proc_snapshot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>

#include "tests/record/records.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using perfdata::Comm;
using perfdata::Fork;
using perfdata::Mmap2;
using perfdata::RecordType;
using perfdata::RecordView;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

std::string StatLine(int pid, std::string_view comm, int ppid, std::string_view flags = "4194304") {
  return std::to_string(pid) + " (" + std::string(comm) + ") S " + std::to_string(ppid) +
         " 1 1 0 -1 " + std::string(flags) + " 0 0 0 0\n";
}

// A directory like /proc.
class FakeProc {
 public:
  void AddProcess(int pid, std::string_view comm, int ppid, std::string_view maps = "") {
    const std::string directory = std::to_string(pid);
    dir_.Write(directory + "/stat", StatLine(pid, comm, ppid));
    dir_.Write(directory + "/maps", maps);
    AddThread(pid, pid, comm);
  }
  void AddThread(int pid, int tid, std::string_view comm, std::string_view maps = "") {
    const std::string directory = std::to_string(pid) + "/task/" + std::to_string(tid);
    dir_.Write(directory + "/comm", std::string(comm) + "\n");
    dir_.Write(directory + "/maps", maps);
  }
  void AddKernelThread(int pid, std::string_view comm) {
    dir_.Write(std::to_string(pid) + "/stat", StatLine(pid, comm, 2, "69238848"));
  }
  const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
};

struct EncodedSnapshot {
  std::vector<std::byte> bytes;
  std::vector<RecordView> records;
};

EncodedSnapshot SnapshotOf(const FakeProc& proc) {
  EncodedSnapshot snapshot;
  EXPECT_TRUE(SnapshotAll(proc.dir().path(), kTestFormat, snapshot.bytes));
  snapshot.records = RecordsIn(snapshot.bytes);
  return snapshot;
}

std::ptrdiff_t CountOf(const EncodedSnapshot& snapshot, RecordType type) {
  return std::ranges::count(snapshot.records, type, &RecordView::type);
}

std::vector<RecordType> TypesOf(const EncodedSnapshot& snapshot) {
  std::vector<RecordType> types;
  for (const RecordView& record : snapshot.records) types.push_back(record.type);
  return types;
}

TEST(ProcSnapshot, WritesTheNameBeforeTheMappings) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3, "400000-402000 r-xp 00001000 fe:01 42 /usr/bin/ls\n");
  const EncodedSnapshot snapshot = SnapshotOf(proc);

  ASSERT_THAT(TypesOf(snapshot),
              ElementsAre(RecordType::kFork, RecordType::kComm, RecordType::kMmap2));
  const Fork fork = Decoded<Fork>(snapshot.records).at(0);
  EXPECT_EQ(fork.pid, 7u);
  EXPECT_EQ(fork.tid, 7u);
  EXPECT_EQ(fork.ppid, 3u);
  EXPECT_EQ(fork.ptid, 3u);
  const Comm comm = Decoded<Comm>(snapshot.records).at(0);
  EXPECT_EQ(comm.pid, 7u);
  EXPECT_EQ(comm.comm, "ls");
  const Mmap2 mmap = Decoded<Mmap2>(snapshot.records).at(0);
  EXPECT_EQ(mmap.pid, 7u);
  EXPECT_EQ(mmap.tid, 7u);
  EXPECT_EQ(mmap.start, 0x400000u);
  EXPECT_EQ(mmap.length, 0x2000u);
  EXPECT_EQ(mmap.page_offset, 0x1000u);
  EXPECT_EQ(mmap.device_major, 0xfeu);
  EXPECT_EQ(mmap.device_minor, 1u);
  EXPECT_EQ(mmap.inode, 42u);
  EXPECT_EQ(mmap.protection, static_cast<std::uint32_t>(PROT_READ | PROT_EXEC));
  EXPECT_EQ(mmap.flags, static_cast<std::uint32_t>(MAP_PRIVATE));
  EXPECT_EQ(mmap.filename, "/usr/bin/ls");
}

TEST(ProcSnapshot, MarksForksSoThatNoMappingsAreCopied) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3);
  EXPECT_EQ(SnapshotOf(proc).records.at(0).misc, perfdata::kMiscForkExec);
}

TEST(ProcSnapshot, MarksMappingsAsOfUserSpace) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3, "400000-402000 r-xp 00001000 fe:01 42 /usr/bin/ls\n");
  EXPECT_EQ(SnapshotOf(proc).records.at(2).cpumode(), perfdata::CpuMode::kUser);
}

TEST(ProcSnapshot, HappensAtTimeZeroWithAZeroTrailer) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3, "400000-402000 r-xp 00001000 fe:01 42 /usr/bin/ls\n");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  for (const RecordView& record : snapshot.records) {
    const perfdata::SampleId id = DecodeSampleId(record, kTestFormat);
    EXPECT_EQ(id.time, 0u);
    EXPECT_EQ(id.id, 0u);
    EXPECT_EQ(id.pid, 0u);
  }
}

TEST(ProcSnapshot, LeavesOutWhatCannotBeExecuted) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3,
                  "400000-401000 r--p 00000000 fe:01 42 /usr/bin/ls\n"
                  "401000-402000 rw-p 00001000 fe:01 42 /usr/bin/ls\n");
  EXPECT_EQ(CountOf(SnapshotOf(proc), RecordType::kMmap2), 0);
}

TEST(ProcSnapshot, HasReadableMappingsIfAsked) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3,
                  "400000-401000 r--p 00000000 fe:01 42 /usr/bin/ls\n"
                  "401000-402000 r-xp 00001000 fe:01 42 /usr/bin/ls\n"
                  "402000-403000 ---p 00000000 00:00 0 \n");
  EncodedSnapshot snapshot;
  ASSERT_TRUE(SnapshotAll(proc.dir().path(), kTestFormat, snapshot.bytes, {.data_mappings = true}));
  snapshot.records = RecordsIn(snapshot.bytes);
  ASSERT_EQ(CountOf(snapshot, RecordType::kMmap2), 2);
  EXPECT_NE(snapshot.records.at(2).misc & perfdata::kMiscMmapData, 0);
  EXPECT_EQ(snapshot.records.at(3).misc & perfdata::kMiscMmapData, 0);
}

TEST(ProcSnapshot, HasNoMappingsFromBeforeTheExec) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3, "401000-402000 r-xp 00001000 fe:01 42 /usr/bin/ls\n");
  EncodedSnapshot snapshot;
  ASSERT_TRUE(SnapshotAll(proc.dir().path(), kTestFormat, snapshot.bytes, {.before_exec = 7}));
  snapshot.records = RecordsIn(snapshot.bytes);
  EXPECT_THAT(TypesOf(snapshot), ElementsAre(RecordType::kFork, RecordType::kComm));
}

TEST(ProcSnapshot, NamesEveryThreadAfterItsProcess) {
  FakeProc proc;
  proc.AddProcess(7, "server", 3);
  proc.AddThread(7, 9, "worker\n2");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  EXPECT_EQ(CountOf(snapshot, RecordType::kComm), 2);

  const std::vector<Fork> forks = Decoded<Fork>(snapshot.records);
  ASSERT_EQ(forks.size(), 2u);
  EXPECT_EQ(forks[1].pid, 7u);
  EXPECT_EQ(forks[1].tid, 9u);
  EXPECT_EQ(forks[1].ppid, 7u);
  EXPECT_EQ(forks[1].ptid, 7u);
  EXPECT_THAT(Decoded<Comm>(snapshot.records),
              ElementsAre(AllOf(Field(&Comm::tid, 7u), Field(&Comm::comm, "server")),
                          AllOf(Field(&Comm::tid, 9u), Field(&Comm::comm, "worker\n2"))));
}

TEST(ProcSnapshot, WritesOnlyTheNameOfAKernelThread) {
  FakeProc proc;
  proc.AddKernelThread(14, "kworker/u8:0-events_unbound");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  ASSERT_THAT(TypesOf(snapshot), ElementsAre(RecordType::kComm));
  // Truncated as in the kernel's own COMM records.
  EXPECT_EQ(Decoded<Comm>(snapshot.records).at(0).comm, "kworker/u8:0-ev");
}

TEST(ProcSnapshot, CallsNamelessExecutableMemoryAnon) {
  FakeProc proc;
  proc.AddProcess(7, "node", 3,
                  "10000-20000 rwxp 00000000 00:00 0 \n"
                  "30000-40000 r-xp 00000000 00:00 0 [anon:jit]\n");
  EXPECT_THAT(Decoded<Mmap2>(SnapshotOf(proc).records),
              ElementsAre(Field(&Mmap2::filename, "//anon"), Field(&Mmap2::filename, "//anon")));
}

TEST(ProcSnapshot, ReportsTextOnHugePagesAsAnon) {
  FakeProc proc;
  proc.dir().Write("mounts", "tmpfs /run tmpfs rw 0 0\nnone /huge hugetlbfs rw 0 0\n");
  proc.AddProcess(7, "big", 3,
                  "200000-400000 r-xp 00000000 00:0f 5 /huge/text\n"
                  "600000-601000 r-xp 00000000 fe:01 5 /hugely/other\n");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  const std::vector<Mmap2> mmaps = Decoded<Mmap2>(snapshot.records);
  ASSERT_EQ(mmaps.size(), 2u);
  EXPECT_EQ(mmaps[0].filename, "//anon");
  EXPECT_NE(mmaps[0].flags & MAP_HUGETLB, 0u);
  EXPECT_EQ(mmaps[1].filename, "/hugely/other");
}

// Returns "START@OFFSET NAME" of each recorded mapping of a process with these lines.
std::vector<std::string> RecordedMaps(std::string_view maps) {
  FakeProc proc;
  proc.AddProcess(7, "app", 3, maps);
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  std::vector<std::string> texts;
  for (const Mmap2& map : Decoded<Mmap2>(snapshot.records)) {
    texts.push_back(fmt::format("{:x}@{:x} {}", map.start, map.page_offset, map.filename));
  }
  return texts;
}

// As GNU ld and node --use-largepages, and as lld lay out a file: the segments of lld share pages.
TEST(ProcSnapshot, NamesMovedTextBetweenTwoPartsOfItsFile) {
  EXPECT_THAT(RecordedMaps("400000-401000 r--p 00000000 fe:00 99 /app\n"
                           "401000-403000 r-xp 00000000 00:00 0 \n"
                           "403000-404000 r-xp 00000000 00:00 0 [anon:text]\n"
                           "404000-405000 r--p 00004000 fe:00 99 /app\n"),
              ElementsAre("401000@1000 /app", "403000@3000 /app"));
  EXPECT_THAT(RecordedMaps("400000-401000 r-xp 00001000 fe:00 99 /app\n"
                           "401000-402000 r-xp 00000000 00:00 0 \n"
                           "402000-403000 r-xp 00003000 fe:00 99 /app\n"),
              ElementsAre("400000@1000 /app", "401000@2000 /app", "402000@3000 /app"));
  EXPECT_THAT(RecordedMaps("200000-201000 r--p 00000000 fe:00 99 /app\n"
                           "201000-203000 r-xp 00000000 00:00 0 \n"
                           "203000-204000 rw-p 00001000 fe:00 99 /app\n"),
              ElementsAre("201000@0 /app"));
}

TEST(ProcSnapshot, NamesMovedTextAtTheStartOfItsFile) {
  EXPECT_THAT(RecordedMaps("400000-402000 r-xp 00000000 00:00 0 \n"
                           "402000-403000 r-xp 00002000 fe:00 99 /app\n"),
              ElementsAre("400000@0 /app", "402000@2000 /app"));
  EXPECT_THAT(RecordedMaps("400000-402000 r-xp 00000000 00:00 0 \n"
                           "402000-403000 rw-p 00001000 fe:00 99 /app\n"),
              ElementsAre("400000@0 /app"));
}

TEST(ProcSnapshot, LeavesCompiledCodeBesideFilesAnonymous) {
  // The offsets of the file leave no room for the memory, or another room.
  EXPECT_THAT(RecordedMaps("400000-401000 r-xp 00000000 fe:00 99 /app\n"
                           "401000-402000 rwxp 00000000 00:00 0 \n"
                           "402000-403000 r-xp 00001000 fe:00 99 /app\n"),
              ElementsAre("400000@0 /app", "401000@0 //anon", "402000@1000 /app"));
  EXPECT_THAT(RecordedMaps("401000-402000 rwxp 00000000 00:00 0 \n"
                           "402000-403000 r--p 00000000 fe:00 99 /lib\n"
                           "403000-404000 r-xp 00001000 fe:00 99 /lib\n"),
              ElementsAre("401000@0 //anon", "403000@1000 /lib"));
  EXPECT_THAT(RecordedMaps("400000-401000 r-xp 00000000 fe:00 98 /a\n"
                           "401000-402000 rwxp 00000000 00:00 0 \n"
                           "402000-403000 r--p 00005000 fe:00 99 /b\n"),
              ElementsAre("400000@0 /a", "401000@0 //anon"));
  // Both the page below and the page above may be shared.
  EXPECT_THAT(RecordedMaps("400000-401000 r--p 00001000 fe:00 99 /app\n"
                           "401000-402000 r-xp 00000000 00:00 0 \n"
                           "402000-403000 r--p 00002000 fe:00 99 /app\n"),
              ElementsAre("401000@0 //anon"));
}

TEST(ProcSnapshot, FindsTheMemoryOfAProcessWhoseFirstThreadEnded) {
  FakeProc proc;
  proc.AddProcess(7, "server", 3, "");
  proc.AddThread(7, 9, "worker", "400000-402000 r-xp 00001000 fe:01 42 /usr/bin/server\n");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  EXPECT_THAT(Decoded<Mmap2>(snapshot.records),
              ElementsAre(AllOf(Field(&Mmap2::pid, 7u), Field(&Mmap2::tid, 7u),
                                Field(&Mmap2::filename, "/usr/bin/server"))));
}

TEST(ProcSnapshot, SkipsAProcessThatVanishes) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3);
  std::filesystem::create_directory(proc.dir() / "8");
  proc.dir().Write("9/stat", "");
  proc.AddThread(7, 10, "gone");
  std::filesystem::remove(proc.dir() / "7/task/10/comm");
  const EncodedSnapshot snapshot = SnapshotOf(proc);
  EXPECT_EQ(CountOf(snapshot, RecordType::kComm), 1);
}

TEST(ProcSnapshot, ReadsMapsLargerThanItsBuffer) {
  FakeProc proc;
  std::string maps;
  for (int i = 0; i < 5000; ++i) {
    maps += std::to_string(100000 + i) + "000-" + std::to_string(100000 + i) +
            "800 r-xp 00000000 fe:01 42 /usr/bin/many\n";
  }
  proc.AddProcess(7, "many", 3, maps);
  EXPECT_EQ(CountOf(SnapshotOf(proc), RecordType::kMmap2), 5000);
}

TEST(ProcSnapshot, WritesOnlyTheGivenProcesses) {
  FakeProc proc;
  proc.AddProcess(7, "ls", 3);
  proc.AddProcess(8, "cat", 3);
  std::vector<std::byte> bytes;
  const std::vector<std::uint32_t> pids = {8, 4711};
  ASSERT_TRUE(SnapshotProcesses(proc.dir().path(), pids, kTestFormat, bytes));
  EXPECT_THAT(Decoded<Comm>(RecordsIn(bytes)), ElementsAre(Field(&Comm::comm, "cat")));
}

TEST(ProcSnapshot, WritesNamespacesOfThreadsIfAsked) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const std::vector<std::uint32_t> pids = {pid};
  std::vector<std::byte> bytes;
  ASSERT_TRUE(SnapshotProcesses("/proc", pids, kTestFormat, bytes, {.namespaces = true}));
  const auto namespaces = Decoded<perfdata::Namespaces>(RecordsIn(bytes));
  ASSERT_EQ(namespaces.size(), 1U);
  EXPECT_EQ(namespaces[0].pid, pid);
  EXPECT_EQ(namespaces[0].tid, pid);
  struct stat cgroup = {};
  ASSERT_EQ(stat("/proc/self/ns/cgroup", &cgroup), 0);
  ASSERT_EQ(namespaces[0].links.size(), 14U);
  EXPECT_EQ(namespaces[0].links[12], cgroup.st_dev);
  EXPECT_EQ(namespaces[0].links[13], cgroup.st_ino);

  bytes.clear();
  ASSERT_TRUE(SnapshotProcesses("/proc", pids, kTestFormat, bytes));
  EXPECT_THAT(Decoded<perfdata::Namespaces>(RecordsIn(bytes)), IsEmpty());
}

TEST(ProcSnapshot, FailsWithoutProc) {
  std::vector<std::byte> bytes;
  const TempDir dir;
  const Status status = SnapshotAll(dir / "proc", kTestFormat, bytes);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

void ThisFunctionIsMapped() {}

TEST(ProcSnapshot, FindsThisVeryProcess) {
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  std::vector<std::byte> bytes;
  ASSERT_TRUE(SnapshotAll("/proc", kTestFormat, bytes));
  const std::vector<RecordView> records = RecordsIn(bytes);

  const auto pid = static_cast<std::uint32_t>(::getpid());
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe");
  const auto function = reinterpret_cast<std::uint64_t>(&ThisFunctionIsMapped);
  const std::vector<Mmap2> mmaps = Decoded<Mmap2>(records);
  EXPECT_TRUE(std::ranges::any_of(mmaps, [&](const Mmap2& mmap) {
    return mmap.pid == pid && mmap.filename == executable && mmap.start <= function &&
           function - mmap.start < mmap.length;
  }));
  EXPECT_EQ(std::ranges::count(Decoded<Comm>(records), pid, &Comm::pid), 2);
}

TEST(Descendants, AreAllChildrenAndTheirChildren) {
  FakeProc proc;
  proc.AddProcess(1, "init", 0);
  proc.AddProcess(5, "shell", 1);
  proc.AddProcess(6, "other", 1);
  proc.AddProcess(9, "make", 5);
  proc.AddProcess(4, "cc1", 9);  // pids wrap around
  EXPECT_THAT(Descendants(proc.dir().path(), 5).value(), ElementsAre(4, 9));
  EXPECT_THAT(Descendants(proc.dir().path(), 6).value(), IsEmpty());
}

TEST(Descendants, EndWhereAChangingTreeSeemsToHoldACircle) {
  FakeProc proc;
  proc.AddProcess(5, "a", 6);
  proc.AddProcess(6, "b", 5);
  proc.AddProcess(7, "c", 7);
  EXPECT_THAT(Descendants(proc.dir().path(), 5).value(), ElementsAre(6));
}

TEST(ProcessOf, IsTheThreadGroup) {
  const FakeProc proc;
  proc.dir().Write("9/status", "Name:\tw\nTgid:\t7\nPid:\t9\n");
  EXPECT_EQ(ProcessOf(proc.dir().path(), 9).value(), 7u);
  EXPECT_EQ(ProcessOf(proc.dir().path(), 10).error().code, ErrorCode::kNotFound);
}

TEST(ThreadsOf, ListsThoseOfEachProcessThatRuns) {
  FakeProc proc;
  proc.AddProcess(7, "seven", 1);
  proc.AddThread(7, 12, "worker");
  proc.AddProcess(9, "nine", 1);
  const std::vector<std::uint32_t> pids = {9, 8, 7};
  const auto threads = ThreadsOf(proc.dir().path(), pids);
  ASSERT_TRUE(threads);
  EXPECT_THAT(*threads, ElementsAre(9, 7, 12));
}

}  // namespace
}  // namespace perftape::record

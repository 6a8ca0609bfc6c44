// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/recording_notes.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "formats/bundle/archive_reader.h"
#include "formats/bundle/archive_writer.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/embedding.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

RecordingNotes AllNotes() {
  RecordingNotes notes;
  notes.samples = 99;
  notes.start_ns = 5;
  notes.end_ns = 8;
  notes.lost = {{"cpu-clock", 1, "ring_full", 3}, {"", -1, "damaged", 1}};
  notes.lost_processes = {{"", 0, "sideband_ring", 7}};
  notes.chains = {{"cpu-clock", "complete", 90}};
  notes.throttled = {{"cycles", 1, 2, 3}};
  notes.absences = {{1, 5, 6}, {2, 7, {}}};
  notes.rates = {{10, 2, 1.5}};
  notes.pauses = {{"", 2, 30, {{10, 20}, {40, 60}}}, {"page-faults", 4000, 9, {}}};
  notes.aggregate_ns = 1'000'000'000;
  notes.aggregated = 4;
  notes.trigger = "cpu>80%/5s";
  notes.containers = {{"/kubepods/pod1/2", "1", "2", "shop", "web-0", "nginx"},
                      {.cgroup = "/docker/3", .container_id = "3"}};
  notes.cgroups = {{.path = "/app",
                    .cpu_quota_us = 20'000,
                    .cpu_period_us = 100'000,
                    .memory_limit = 1 << 26,
                    .task_limit = 100,
                    .first = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                    .last = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
                    .memory_peak = 21,
                    .memory_peak_ns = 22,
                    .io_limits = {{"7:0", "wbps", 1000, 1, 2, 3}},
                    .pids = {42, 43}},
                   {.path = "/"}};
  notes.processes = {{7, 0, 99, {{"service.name", "cart"}, {"service.version", "1.2"}}},
                     {7, 99, {}, {{"service.name", "pay"}}}};
  notes.latency = {{.probe = "tcp-connect",
                    .pid = 7,
                    .comm = "curl",
                    .cgroup = "/system.slice",
                    .count = 5,
                    .sum_ns = 90,
                    .max_ns = 40,
                    .errors = {{110, 1}, {111, 2}},
                    .buckets = {{3, 2}, {18, 3}}},
                   {.probe = "read", .pid = 7}};
  notes.latency_min = {{"tcp-connect", 100'000'000, true}, {"read", 1'000, false}};
  notes.latency_lost = {{"read", "no_room", 12}};
  return notes;
}

TEST(RecordingNotes, AreReadAsTheyWereWritten) {
  EXPECT_THAT(DecodeNotes(EncodeNotes(AllNotes())), Holds(Eq(AllNotes())));
  EXPECT_THAT(DecodeNotes(EncodeNotes({})), Holds(Eq(RecordingNotes{})));
}

TEST(RecordingNotes, OfALaterVersionOrWithAWrongFieldAreRefused) {
  EXPECT_THAT(DecodeNotes(R"({"version": 2})"), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(DecodeNotes("{}"), FailsWith(ErrorCode::kCorrupt, HasSubstr("version")));
  EXPECT_THAT(DecodeNotes("["), FailsWith(ErrorCode::kCorrupt));
  EXPECT_THAT(DecodeNotes(R"({"version": 1, "lost": [{"samples": -1}]})"),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("lost[0]: samples")));
  for (const char* cgroup : {R"({"readings": [{}, {"cpu_ns": -1}]})", R"({"readings": [{}]})",
                             R"({"readings": [{}, {}], "pids": ["x"]})",
                             R"({"readings": [{}, {}], "io_limits": [{"limit": "x"}]})"}) {
    EXPECT_THAT(DecodeNotes(std::string(R"({"version": 1, "cgroups": [)") + cgroup + "]}"),
                FailsWith(ErrorCode::kCorrupt, HasSubstr("cgroups[0]: ")));
  }
  EXPECT_THAT(DecodeNotes(R"({"version": 1, "lost": [{"cpu": 99999999999}]})"),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("lost[0]: cpu")));
  EXPECT_THAT(DecodeNotes(R"({"version": 1, "latency": [{"buckets": [[1]]}]})"),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("latency[0]: buckets")));
  EXPECT_THAT(DecodeNotes(R"({"version": 1, "latency": [{"pid": 4294967296}]})"),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("latency[0]: pid")));
  EXPECT_THAT(DecodeNotes(R"({"version": 1, "latency_min": [{"errors": 1}]})"),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("latency_min[0]: errors")));
}

TEST(RecordingNotes, AloneInAnArchiveAreNoBundle) {
  const TempDir dir;
  const std::string path = dir / "a.data";
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_THAT(WriteAllAt(fd.get(), AsBytes("PERFILE2 and what perf reads"), 0), IsOk());
  const auto offset = BeginEmbedding(fd.get());
  ASSERT_THAT(offset, IsOk());
  ASSERT_THAT(WriteNotesArchive(UniqueFd(::dup(fd.get())), AllNotes()), IsOk());
  ASSERT_THAT(EndEmbedding(fd.get(), *offset), IsOk());
  const auto file = ReadWholeFile(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(FindNotes(AsBytes(*file)), Holds(Optional(Eq(AllNotes()))));
  EXPECT_THAT(FindNotes(AsBytes("PERFILE2 and what perf reads")), Holds(Eq(std::nullopt)));
  EXPECT_THAT(Bundle::Open(path), FailsWith(ErrorCode::kNotFound));
}

// Returns an open file with these bytes, which has no name any more.
UniqueFd FileWith(const TempDir& dir, Bytes bytes) {
  const std::string path = dir / "file";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  EXPECT_THAT(WriteAllAt(fd.get(), bytes, 0), IsOk());
  return fd;
}

std::vector<std::byte> BytesIn(const UniqueFd& fd) {
  const auto file = MappedFile::FromFd(fd.get(), "file");
  EXPECT_THAT(file, IsOk());
  return {file->bytes().begin(), file->bytes().end()};
}

TEST(RecordingNotes, ReplaceThoseOfAnotherRecordingInAnArchive) {
  const TempDir dir;
  const UniqueFd made = FileWith(dir, {});
  {
    auto tar = ArchiveWriter::Create(UniqueFd(::dup(made.get())), 1);
    ASSERT_THAT(tar, IsOk());
    ASSERT_THAT(tar->AddFile("usr/bin/ls/aa/elf", AsBytes("binary")), IsOk());
    ASSERT_THAT(tar->AddFile(std::string(kNotesName), AsBytes(EncodeNotes({.samples = 1}))),
                IsOk());
    ASSERT_THAT(tar->AddLink(".build-id/aa", "../usr/bin/ls/aa"), IsOk());
    ASSERT_THAT(std::move(*tar).Finish(), IsOk());
  }
  const std::vector<std::byte> archive = BytesIn(made);
  for (const auto& notes : {std::optional(AllNotes()), std::optional<RecordingNotes>()}) {
    const UniqueFd copy = FileWith(dir, AsBytes("before"));
    const auto size = WriteArchiveWithNotes(UniqueFd(::dup(copy.get())), archive, notes);
    ASSERT_THAT(size, IsOk());
    const std::vector<std::byte> bytes = BytesIn(copy);
    ASSERT_EQ(bytes.size(), 6 + *size);
    EXPECT_THAT(FindNotesInArchive(Bytes(bytes).subspan(6)), Holds(Eq(notes)));
    const auto unpacked = Unpack(Bytes(bytes).subspan(6), UnpackLimits{});
    ASSERT_THAT(unpacked, IsOk());
    const std::size_t others = notes ? 1 : 0;  // the notes are first
    ASSERT_EQ(unpacked->members.size(), others + 2);
    EXPECT_EQ(AsText(unpacked->BytesOf(unpacked->members[others])), "binary");
    EXPECT_EQ(unpacked->members[others + 1].target, "../usr/bin/ls/aa");
  }
}

}  // namespace
}  // namespace perftape::bundle

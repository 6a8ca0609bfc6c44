// SPDX-License-Identifier: Apache-2.0
#include "record/output/seam_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/base/duration.h"
#include "tests/record/records.h"

namespace perftape::record {
namespace {

using perfdata::Comm;
using perfdata::Exit;
using perfdata::Fork;
using perfdata::Mmap2;
using perfdata::RecordType;
using testing::ElementsAre;
using testing::IsEmpty;

// The state after some records, as text.
class Seam : public testing::Test {
 protected:
  template <class Record>
  void Add(const Record& record, std::uint64_t time = 0, std::uint16_t misc = 0) {
    EXPECT_TRUE(state_.Apply(RecordOf(record, time, misc)));
  }
  void Map(std::uint32_t pid, std::uint64_t start, std::uint64_t length, const char* name) {
    Add(Mmap2{.pid = pid,
              .tid = pid,
              .start = start,
              .length = length,
              .page_offset = 0x100,
              .inode = 5,
              .protection = 5,
              .flags = 2,
              .filename = name},
        1, perfdata::MiscOf(perfdata::CpuMode::kUser));
  }
  void End(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    Add(Exit{{.pid = pid, .ppid = 1, .tid = tid, .ptid = 1, .time = time}}, time);
  }

  template <class Record>
  std::vector<Record> Encoded() {
    bytes_ = state_.Encode().value();
    return Decoded<Record>(RecordsIn(bytes_));
  }
  std::vector<std::string> Comms() {
    std::vector<std::string> texts;
    for (const Comm& comm : Encoded<Comm>()) {
      texts.push_back(std::to_string(comm.pid) + "/" + std::to_string(comm.tid) + " " +
                      std::string(comm.comm));
    }
    return texts;
  }
  std::vector<std::string> Maps() {
    std::vector<std::string> texts;
    for (const Mmap2& map : Encoded<Mmap2>()) {
      texts.push_back(std::to_string(map.pid) + " " + std::to_string(map.start) + "+" +
                      std::to_string(map.length) + "@" + std::to_string(map.page_offset) + " " +
                      std::string(map.filename));
    }
    return texts;
  }

  SeamState state_{kTestFormat};
  std::vector<std::byte> bytes_;
};

TEST_F(Seam, HasTheNamesOfNow) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "old"});
  Add(Comm{.pid = 7, .tid = 8, .comm = "worker"});
  Add(Comm{.pid = 7, .tid = 7, .comm = "new"}, 5);
  EXPECT_THAT(Comms(), ElementsAre("7/7 new", "7/8 worker"));
}

TEST_F(Seam, KnowsTheFileOfTextThatWasMoved) {
  Map(7, 0x1000, 0x2000, "/bin/app");
  Map(7, 0x1000, 0x2000, "//anon");
  Map(7, 0x9000, 0x1000, "//anon");
  EXPECT_THAT(Maps(), ElementsAre("7 4096+8192@256 /bin/app", "7 36864+4096@256 //anon"));
}

TEST_F(Seam, KeepsTheNamesThatAreUsed) {
  Map(8, 0x1000, 0x1000, "/bin/kept");
  for (int i = 0; i < 20000; ++i) Map(7, 0x1000, 0x1000, ("/bin/" + std::to_string(i)).c_str());
  EXPECT_THAT(Maps(), ElementsAre("7 4096+4096@256 /bin/19999", "8 4096+4096@256 /bin/kept"));
}

TEST_F(Seam, HasTimeZeroInEachRecord) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "a"}, 5);
  Add(Fork{{.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 6}}, 6);
  bytes_ = state_.Encode().value();
  for (const perfdata::RecordView& record : RecordsIn(bytes_)) {
    if (record.type == RecordType::kFinishedInit) continue;
    EXPECT_EQ(TimeOf(record, kTestFormat), 0u) << static_cast<int>(record.type);
  }
}

TEST_F(Seam, EndsWithFinishedInit) {
  bytes_ = state_.Encode().value();
  ASSERT_EQ(RecordsIn(bytes_).size(), 1u);
  EXPECT_EQ(RecordsIn(bytes_)[0].type, RecordType::kFinishedInit);
}

TEST_F(Seam, CutsMappingsAsTheKernelDoes) {
  Map(7, 0x1000, 0x3000, "/bin/a");
  Map(7, 0x2000, 0x1000, "/bin/b");
  EXPECT_THAT(Maps(), ElementsAre("7 4096+4096@256 /bin/a", "7 8192+4096@256 /bin/b",
                                  "7 12288+4096@8448 /bin/a"));
}

TEST_F(Seam, KeepsAllFieldsOfAMapping) {
  Map(7, 0x1000, 0x3000, "/bin/a");
  const Mmap2 map = Encoded<Mmap2>().at(0);
  EXPECT_EQ(map.inode, 5u);
  EXPECT_EQ(map.protection, 5u);
  EXPECT_EQ(map.flags, 2u);
}

TEST_F(Seam, GivesAChildTheNameAndMappingsOfItsParent) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "sh"});
  Map(7, 0x1000, 0x1000, "/bin/sh");
  Add(Fork{{.pid = 9, .ppid = 7, .tid = 9, .ptid = 7, .time = 3}}, 3);
  Map(9, 0x5000, 0x1000, "/lib/c");
  EXPECT_THAT(Comms(), ElementsAre("7/7 sh", "9/9 sh"));
  EXPECT_THAT(Maps(), ElementsAre("7 4096+4096@256 /bin/sh", "9 4096+4096@256 /bin/sh",
                                  "9 20480+4096@256 /lib/c"));
  const std::vector<Fork> forks = Encoded<Fork>();
  ASSERT_EQ(forks.size(), 1u);
  EXPECT_EQ(forks[0].ppid, 7u);
}

TEST_F(Seam, RemovesMappingsAndThreadsAtExec) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "sh"});
  Add(Fork{{.pid = 7, .ppid = 7, .tid = 8, .ptid = 7, .time = 2}}, 2);
  Map(7, 0x1000, 0x1000, "/bin/sh");
  Add(Comm{.pid = 7, .tid = 7, .comm = "ls"}, 3, perfdata::kMiscCommExec);
  Map(7, 0x9000, 0x1000, "/bin/ls");
  EXPECT_THAT(Comms(), ElementsAre("7/7 ls"));
  EXPECT_THAT(Maps(), ElementsAre("7 36864+4096@256 /bin/ls"));
}

TEST_F(Seam, KeepsAnEndedProcessForItsLastSamplesOnly) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "gone"});
  Map(7, 0x1000, 0x1000, "/bin/gone");
  Add(Comm{.pid = 9, .tid = 9, .comm = "later"});
  End(7, 7, 10 * kNsPerSecond);
  EXPECT_THAT(Comms(), ElementsAre("7/7 gone", "9/9 later"));
  End(9, 9, 11 * kNsPerSecond + 1);
  EXPECT_THAT(Comms(), ElementsAre("9/9 later"));
  EXPECT_THAT(Maps(), IsEmpty());
}

TEST_F(Seam, DoesNotConfuseAReusedPidWithTheEndedProcess) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "first"});
  Map(7, 0x1000, 0x1000, "/bin/first");
  End(7, 7, 10 * kNsPerSecond);
  Add(Fork{{.pid = 7, .ppid = 1, .tid = 7, .ptid = 1, .time = 10 * kNsPerSecond + 1}},
      10 * kNsPerSecond + 1);
  Add(Comm{.pid = 7, .tid = 7, .comm = "second"}, 10 * kNsPerSecond + 2);
  Add(Comm{.pid = 9, .tid = 9, .comm = "other"});
  End(9, 9, 20 * kNsPerSecond);
  EXPECT_THAT(Comms(), ElementsAre("7/7 second", "9/9 other"));
  EXPECT_THAT(Maps(), IsEmpty());
}

TEST_F(Seam, HasThePresentKernelSymbolsAndCgroups) {
  Add(perfdata::Ksymbol{.address = 16, .length = 8, .symbol_type = 1, .flags = 0, .name = "bpf_a"});
  Add(perfdata::Ksymbol{.address = 32, .length = 8, .symbol_type = 1, .flags = 0, .name = "bpf_b"});
  Add(perfdata::Ksymbol{.address = 16, .length = 8, .symbol_type = 1, .flags = 1, .name = "bpf_a"},
      4);
  Add(perfdata::Cgroup{.id = 3, .path = "/old"});
  Add(perfdata::Cgroup{.id = 3, .path = "/new"}, 5);
  const auto symbols = Encoded<perfdata::Ksymbol>();
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols[0].name, "bpf_b");
  const auto cgroups = Encoded<perfdata::Cgroup>();
  ASSERT_EQ(cgroups.size(), 1u);
  EXPECT_EQ(cgroups[0].path, "/new");
}

TEST_F(Seam, IsTheSameAfterBeingReadBack) {
  Add(Comm{.pid = 7, .tid = 7, .comm = "sh"});
  Add(Fork{{.pid = 9, .ppid = 7, .tid = 9, .ptid = 7, .time = 3}}, 3);
  Map(9, 0x5000, 0x1000, "/lib/c");
  const std::vector<std::byte> first = state_.Encode().value();
  SeamState second(kTestFormat);
  ASSERT_TRUE(second.Apply(first));
  EXPECT_EQ(second.Encode().value(), first);
}

}  // namespace
}  // namespace perftape::record

// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <sstream>

#include "formats/base/file.h"
#include "record/machine/loaded_bpf_programs.h"
#include "tests/kernel/live.h"

namespace perftape {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// The tests read one program that is loaded for certain: the sampling program of a session.
class LoadedBpfProgramsTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) return;
    session_ = std::make_unique<record::BpfSession>(record::BpfSession::Load({}).value());
    for (record::BpfProgram& program : record::LoadedBpfPrograms()) {
      if (program.name == "on_cpu") program_ = std::move(program);
    }
    if (program_.id == 0) GTEST_SKIP() << "listing programs needs CAP_SYS_ADMIN";
  }

  std::unique_ptr<record::BpfSession> session_;
  record::BpfProgram program_;
};

TEST_F(LoadedBpfProgramsTest, NamesAFunctionAsKallsymsDoes) {
  ASSERT_EQ(program_.functions.size(), 1U);
  const record::BpfProgram::Function& function = program_.functions.front();
  EXPECT_THAT(function.name, StartsWith("bpf_prog_"));
  EXPECT_THAT(function.name, EndsWith("_on_cpu"));
  std::ostringstream line;
  line << std::hex << function.address << " t " << function.name << "\t[bpf]";
  EXPECT_THAT(ReadWholeFile("/proc/kallsyms").value(), HasSubstr(line.str()));
}

TEST_F(LoadedBpfProgramsTest, ReportsTheSizeOfAFunction) {
  EXPECT_GT(program_.functions.at(0).length, 100U);
  EXPECT_LT(program_.functions.at(0).length, 100'000U);
}

template <class T>
T FieldAt(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// struct bpf_prog_info of include/uapi/linux/bpf.h; bits of enum perf_bpil_array_types.
TEST_F(LoadedBpfProgramsTest, StoresOffsetsWhereTheKernelGavePointers) {
  const perfdata::BpfProgInfo::Program& info = program_.info;
  ASSERT_EQ(info.info.size(), 208U);
  EXPECT_EQ(FieldAt<std::uint32_t>(info.info, 4), program_.id);
  constexpr std::size_t kNrJitedKsyms = 104, kJitedKsyms = 112;
  ASSERT_NE(info.arrays & (1U << 3), 0U);
  ASSERT_EQ(FieldAt<std::uint32_t>(info.info, kNrJitedKsyms), 1U);
  const auto offset = FieldAt<std::uint64_t>(info.info, kJitedKsyms);
  ASSERT_LE(offset + 8, info.data.size());
  EXPECT_EQ(offset % 8, 0U);
  EXPECT_EQ(FieldAt<std::uint64_t>(info.data, offset), program_.functions.at(0).address);
}

TEST_F(LoadedBpfProgramsTest, IsEmptyForAUserWithoutPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become someone else";
  Process process([] {
    if (setuid(65534) != 0) _exit(8);
    if (!record::LoadedBpfPrograms().empty()) _exit(9);
  });
  process.Finish();
}

// Returns how many instructions the verifier has looked at for a loaded program, also those of
// other paths again; 0 before Linux 5.16.
std::uint32_t VerifiedInstructions(std::uint32_t id) {
  const int program = bpf_prog_get_fd_by_id(id);
  if (program < 0) return 0;
  bpf_prog_info info{};
  __u32 size = sizeof info;
  bpf_obj_get_info_by_fd(program, &info, &size);
  close(program);
  return info.verified_insns;
}

// The kernel verifies them at each start: 255,000 instructions took 0.4 s, and 2 s beside eight
// busy threads on two CPUs.
TEST_F(LiveTest, TheVerifierSoonEnds) {
  std::set<std::uint32_t> others;
  for (const record::BpfProgram& program : record::LoadedBpfPrograms()) others.insert(program.id);
  record::BpfOptions options;
  options.callchains = record::Callchains::kUnwindTables;
  for (const record::SampleCause cause :
       {record::SampleCause::kCounter, record::SampleCause::kSleep, record::SampleCause::kDiskSleep,
        record::SampleCause::kRunnable, record::SampleCause::kWakeup}) {
    options.events.push_back({.cause = cause});
  }
  const auto session = record::BpfSession::Load(options).value();
  int programs = 0;
  for (const record::BpfProgram& program : record::LoadedBpfPrograms()) {
    if (others.contains(program.id)) continue;
    EXPECT_LT(VerifiedInstructions(program.id), 100'000U) << program.name;
    programs += program.name == "on_cpu" || program.name == "on_switch";
  }
  EXPECT_GE(programs, 2);
}

}  // namespace
}  // namespace perftape

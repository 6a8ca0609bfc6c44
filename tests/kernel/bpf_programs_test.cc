// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
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

}  // namespace
}  // namespace perftape

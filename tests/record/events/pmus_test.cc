// SPDX-License-Identifier: Apache-2.0
#include "record/events/pmus.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PmusTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"cpu", "uncore_imc_0", "uncore_imc_1", "uncore_imc_free_running"}) {
      root_.Write(std::string(name) + "/type", "4\n");
    }
    root_.Write("cpu/format/event", "config:0-7,32-35\n");
    root_.Write("cpu/format/umask", "config:8-15\n");
    root_.Write("cpu/format/ldlat", "config1:0-15\n");
    root_.Write("cpu/events/cycles-ct", "event=0x3c,in_tx\n");
    root_.Write("cpu/events/mem-loads", "event=0xcd,umask=?\n");
    root_.Write("cpu/events/energy.unit", "Joules\n");
    root_.Write("uncore_imc_0/cpumask", "0,18\n");
  }

  std::string ErrorOf(const std::string& name) {
    const auto pmu = pmus_.Read(name);
    return pmu ? "" : pmu.error().message;
  }

  TempDir root_;
  Pmus pmus_{root_.path()};
};

TEST_F(PmusTest, AreFoundByTheirNameOrKind) {
  EXPECT_THAT(pmus_.Matching("cpu"), ElementsAre("cpu"));
  EXPECT_THAT(pmus_.Matching("uncore_imc"), ElementsAre("uncore_imc_0", "uncore_imc_1"));
  EXPECT_THAT(pmus_.Matching("imc"), ElementsAre("uncore_imc_0", "uncore_imc_1"));
  EXPECT_THAT(pmus_.Matching("imc_[01]"), ElementsAre("uncore_imc_0", "uncore_imc_1"));
  EXPECT_THAT(pmus_.Matching(".."), IsEmpty());
  EXPECT_THAT(Pmus("/nowhere").Matching("cpu"), IsEmpty());
}

TEST_F(PmusTest, HaveATypeAndCpus) {
  const Pmu pmu = pmus_.Read("uncore_imc_0").value();
  EXPECT_EQ(pmu.type, 4U);
  EXPECT_THAT(pmu.cpus, ElementsAre(0, 18));
  EXPECT_FALSE(pmu.is_hybrid_core);
  EXPECT_THAT(pmus_.Read("cpu").value().cpus, IsEmpty());
}

TEST_F(PmusTest, StoreAValueInTheBitsOfItsTerm) {
  const Pmu pmu = pmus_.Read("cpu").value();
  const auto format = pmus_.FindFormat(pmu, "event").value();
  ASSERT_TRUE(format);
  perfdata::EventAttr attr{.config = 0xff00};
  EXPECT_THAT(Store(0xa3c, *format, attr), IsOk());
  EXPECT_EQ(attr.config, 0xa0000ff3cU);
  EXPECT_THAT(Store(0x1000, *format, attr), FailsWith(ErrorCode::kInvalidArgument));
  const auto config1 = pmus_.FindFormat(pmu, "ldlat").value();
  EXPECT_THAT(Store(3, *config1, attr), IsOk());
  EXPECT_EQ(attr.config1, 3U);
  EXPECT_THAT(Store(~std::uint64_t{0}, *pmus_.FindFormat(pmu, "config2").value(), attr), IsOk());
  EXPECT_EQ(attr.config2, ~std::uint64_t{0});
  EXPECT_EQ(pmus_.FindFormat(pmu, "../type").value(), std::nullopt);
}

TEST_F(PmusTest, HaveEvents) {
  const Pmu pmu = pmus_.Read("cpu").value();
  EXPECT_THAT(pmus_.EventsOf(pmu), ElementsAre("cycles-ct", "mem-loads"));
  EXPECT_THAT(
      pmus_.ReadEvent(pmu, "cycles-ct").value(),
      ElementsAre(PmuTerm{.key = "event", .value = 0x3c}, PmuTerm{.key = "in_tx", .value = 1}));
  EXPECT_EQ(pmus_.ReadEvent(pmu, "mem-loads").value().back().value, std::nullopt);
}

TEST_F(PmusTest, OfKindsOfCoresAreHybrid) {
  EXPECT_THAT(pmus_.HybridCores().value(), IsEmpty());
  root_.Write("cpu_atom/type", "10");
  root_.Write("cpu_atom/cpus", "4-5");
  root_.Write("cpu_core/type", "8");
  root_.Write("cpu_core/cpus", "");
  const std::vector<Pmu> cores = pmus_.HybridCores().value();
  ASSERT_EQ(cores.size(), 1U);  // no core of the other kind is online
  EXPECT_EQ(cores[0].type, 10U);
  EXPECT_THAT(cores[0].cpus, ElementsAre(4, 5));
}

TEST_F(PmusTest, RefuseFilesThatTheKernelDoesNotWrite) {
  for (const char* type : {"", "x", "-1", "4294967296", "4 5"}) {
    root_.Write("cpu/type", type);
    EXPECT_THAT(ErrorOf("cpu"), HasSubstr("unexpected content")) << type;
  }
  root_.Write("cpu/type", std::string(10'000, '1'));
  EXPECT_NE(ErrorOf("cpu"), "");
  root_.Write("cpu/type", "4");
  root_.Write("cpu/cpumask", "7-3");
  EXPECT_THAT(ErrorOf("cpu"), HasSubstr("unexpected content"));
  const Pmu pmu{.name = "cpu", .type = 4};
  for (const char* format : {"", "config", "config:", "config:64", "config:5-3", "config:0-64",
                             "config:a", "type:0-3", "config:1,", "config:1-2-3"}) {
    root_.Write("cpu/format/event", format);
    EXPECT_THAT(pmus_.FindFormat(pmu, "event"), FailsWith(ErrorCode::kCorrupt)) << format;
  }
  for (const char* event : {"", "=1", "event=", "event=zz", "event=1,,"}) {
    root_.Write("cpu/events/cycles-ct", event);
    EXPECT_THAT(pmus_.ReadEvent(pmu, "cycles-ct"), FailsWith(ErrorCode::kCorrupt)) << event;
  }
}

}  // namespace
}  // namespace perftape::record

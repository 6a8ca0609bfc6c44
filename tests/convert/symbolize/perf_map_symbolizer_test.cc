// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/perf_map_symbolizer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <stdexcept>

#include "formats/bundle/bundle_writer.h"
#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

constexpr char kMap[] = "7f0000001000 100 js::add\n";

class PerfMapSymbolizerTest : public testing::Test {
 protected:
  PerfMapSymbolizerTest() {
    const mode_t before = umask(022);
    path_ = dir_.Write("tmp/perf-4711.map", kMap);
    umask(before);
  }

  bundle::Bundle BundleWith(const bundle::BundledFile& file, std::string_view content) {
    const std::filesystem::path path = dir_.Write("bundle", "");
    auto writer = bundle::BundleWriter::Create(UniqueFd(open(path.c_str(), O_RDWR)), 1);
    if (!writer || !writer->Add(file, AsBytes(content))) throw std::runtime_error("Add");
    if (!std::move(*writer).Finish({})) throw std::runtime_error("Finish");
    auto made = bundle::Bundle::Open(path);
    if (!made) throw std::runtime_error(made.error().message);
    return *std::move(made);
  }

  static convert::Profile Jit(std::string filename, std::vector<std::uint32_t> pids) {
    return ProfileOf({.filename = std::move(filename),
                      .start = 0x7f0000000000,
                      .pids = std::move(pids),
                      .offsets = {0x1010, 0x1100}});
  }

  TempDir dir_;
  std::filesystem::path path_;
  PerfMapSymbolizer symbolizer_{JitSearchPath{.local_root = dir_.path(), .proc = dir_ / "proc"}};
};

TEST_F(PerfMapSymbolizerTest, NamesAnonymousMemoryOfTheProcessThatRanIt) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711}), 0x1010), "js::add");
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711}), 0x1100), "(no symbol)");
  EXPECT_EQ(NameWithOffsetAt(symbolizer_, Jit("//anon", {4711}), 0x1010), "js::add+0x10");
}

TEST_F(PerfMapSymbolizerTest, ReadsThePidFromPerfsMappingName) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("/tmp/perf-4711.map", {1}), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, NamesSharedMemoryFromTheOnlyMap) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711, 4712}), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, NamesSharedMemoryIfAllMapsAgree) {
  dir_.Write("tmp/perf-4712.map", kMap);
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711, 4712}), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, NamesNothingThatSeveralProcessesNameDifferently) {
  dir_.Write("tmp/perf-4712.map", "7f0000001000 100 js::other\n");
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {4711, 4712}), 0x1010), "(no symbol)");
}

TEST_F(PerfMapSymbolizerTest, UsesOnlyMapsBelowSymfsForAnotherMachine) {
  dir_.Write("carried/tmp/perf-4712.map", "7f0000001000 100 js::carried\n");
  PerfMapSymbolizer symbolizer(
      {.symfs = dir_ / "carried", .not_local = "recorded elsewhere", .local_root = dir_.path()});
  EXPECT_EQ(NameAt(symbolizer, Jit("//anon", {4712}), 0x1010), "js::carried");
  EXPECT_EQ(NameAt(symbolizer, Jit("//anon", {4711}), 0x1010), "(no file)");
}

TEST_F(PerfMapSymbolizerTest, FindsABundledMapByPid) {
  const auto bundle =
      std::make_shared<const bundle::Bundle>(BundleWith({.path = "/tmp/perf-1.map",
                                                         .kind = bundle::FileKind::kPerfMap,
                                                         .pid = 4713,
                                                         .kept = bundle::Kept::kWhole},
                                                        "7f0000001000 100 js::bundled\n"));
  PerfMapSymbolizer symbolizer({.bundles = {bundle}, .not_local = "recorded elsewhere"});
  EXPECT_EQ(NameAt(symbolizer, Jit("//anon", {4713}), 0x1010), "js::bundled");
}

TEST_F(PerfMapSymbolizerTest, FindsTheProcessOfAFrameThatCallsOthers) {
  convert::ProfileBuilder builder;
  const convert::MappingId jit = builder.Add(
      convert::Mapping{.filename = builder.Add("//anon"), .build_id = {}, .start = 0x7f0000000000});
  const convert::StackId outer =
      builder.Push({}, builder.Add(convert::Location{.mapping = jit, .offset = {0x1010}}));
  const convert::StackId leaf =
      builder.Push(outer, builder.Add(convert::Location{.mapping = {}, .offset = {1}}));
  builder.Add(
      convert::Sample{.stack = leaf,
                      .thread = builder.Add(convert::Thread{.pid = 4711, .tid = 1, .comm = {}}),
                      .event = builder.Add(convert::Event{}),
                      .count = 1});
  EXPECT_EQ(NameAt(symbolizer_, std::move(builder).Finish(), 0x1010), "js::add");
}

TEST_F(PerfMapSymbolizerTest, HasNoFileForAProcessWithoutAMap) {
  EXPECT_EQ(NameAt(symbolizer_, Jit("//anon", {99}), 0x1010), "(no file)");
}

}  // namespace
}  // namespace perftape::symbolize

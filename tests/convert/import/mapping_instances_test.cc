// SPDX-License-Identifier: Apache-2.0
// Files that had the same path in one recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file_number.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Returns the instances of the mappings of two processes, whose files have these inodes.
std::vector<std::uint64_t> Instances(std::string_view path, std::uint64_t first,
                                     std::uint64_t second, const BuildId& listed = {}) {
  PerfDataBuilder file;
  file.AddEvent();
  if (!listed.empty()) file.AddBuildId(path, listed);
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = path, .inode = first});
  file.AddMmap({.pid = 8, .tid = 8, .start = 0x400000, .path = path, .inode = second});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddSample({.ip = 0x400010, .pid = 8, .tid = 8});
  std::vector<std::uint64_t> instances;
  for (const Mapping& mapping : Import(file).profile.mappings().subspan(1)) {
    instances.push_back(mapping.instance);
  }
  return instances;
}

TEST(ImportPerfData, KeepsFilesOfOnePathWithoutBuildIdApart) {
  EXPECT_THAT(Instances("/bin/x", 2, 3),
              UnorderedElementsAre(InstanceOf({.inode = 2}), InstanceOf({.inode = 3})));
  EXPECT_THAT(Instances("/bin/x", 2, 2), ElementsAre(0u));
  EXPECT_THAT(Instances("/bin/x", 0, 2), ElementsAre(0u)) << "the number of one is unknown";
  EXPECT_THAT(Instances("/memfd:jit (deleted)", 2, 3), ElementsAre(0x400000u)) << "memory";
  EXPECT_THAT(Instances("/bin/x", 2, 3, BuildId::From(AsBytes("0123456789abcdefghij"))),
              ElementsAre(0u));
}

}  // namespace
}  // namespace perftape::convert

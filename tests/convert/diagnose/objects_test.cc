// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/objects.h"

#include <gmock/gmock.h>

#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::diagnose {
namespace {

// The labels of one sample.
class ObjectsTest : public testing::Test {
 protected:
  void Text(std::string_view field, std::string_view text) {
    labels_.push_back(
        {.key = made_.builder.Add(convert::FieldLabelKey(field)), .text = made_.builder.Add(text)});
  }
  void Number(std::string_view field, std::int64_t number) {
    const auto key = made_.builder.Add(convert::FieldLabelKey(field));
    labels_.push_back({.key = key, .number = number, .unit = key});
  }
  template <class Function>
  std::string Of(Function function) {
    const convert::LabelsId id = made_.builder.Add(labels_);
    return function(made_.Make(), id);
  }

  convert::ProfileMaker made_;
  std::vector<convert::Label> labels_;
};

TEST_F(ObjectsTest, OfAQueryAreTheNameAndTheServer) {
  Text("name", "example.com");
  Text("peer", "10.0.0.53:53");
  EXPECT_EQ(Of(&ObjectOf), "example.com at 10.0.0.53:53");
}

TEST_F(ObjectsTest, OfAFileIsItsPathAndNotItsDevice) {
  Text("dev", "259:0");
  Text("file", "/data");
  EXPECT_EQ(Of(&ObjectOf), "/data");
}

TEST_F(ObjectsTest, OfASystemCallIsItsNumber) {
  Number("nr", 44);
  EXPECT_EQ(Of(&ObjectOf), "system call 44");
}

TEST_F(ObjectsTest, OfASystemCallIsItsNameIfThatIsKnown) {
  Text("nr", "sendto");
  EXPECT_EQ(Of(&ObjectOf), "system call sendto");
}

TEST_F(ObjectsTest, WithoutFieldsAreEmpty) {
  EXPECT_EQ(Of(&ObjectOf), "");
}

TEST_F(ObjectsTest, OfTcpIsTheAddressOfTheOtherEnd) {
  Text("daddr", "{0x7f,0x0,0x0,0x1}");
  Number("dport", 8080);
  EXPECT_EQ(Of(&PeerOf), "127.0.0.1:8080");
}

// As a socket address: tcp_send_reset of Linux 6.12.
TEST_F(ObjectsTest, OfTcpMayBeASocketAddress) {
  Text("daddr",
       "{0x2,0x0,0x1f,0x90,0x7f,0x0,0x0,0x1,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,"
       "0x0,0x0,0x0,0x0,0x0,0x0,0x0}");
  EXPECT_EQ(Of(&PeerOf), "127.0.0.1:8080");
}

TEST_F(ObjectsTest, OfTcpAreEmptyForOtherTexts) {
  Text("daddr", "{0x7f,what}");
  EXPECT_EQ(Of(&PeerOf), "");
}

TEST(IsOrdinaryFile, IsNeitherADeviceNorAPipe) {
  EXPECT_TRUE(IsOrdinaryFile("/data/log"));
  EXPECT_TRUE(IsOrdinaryFile(".../log"));
  EXPECT_FALSE(IsOrdinaryFile("/dev/tty"));
  EXPECT_FALSE(IsOrdinaryFile("/proc/self/stat"));
  EXPECT_FALSE(IsOrdinaryFile("socket:[7]"));
  EXPECT_FALSE(IsOrdinaryFile(""));
}

}  // namespace
}  // namespace perftape::diagnose

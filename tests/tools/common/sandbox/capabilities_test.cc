// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/capabilities.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

#include "tests/tools/common/sandbox/in_child.h"

namespace perftape::sandbox {
namespace {

constexpr CapabilitySet kKept = Capability(CAP_KILL) | Capability(CAP_SYSLOG);

CapabilitySet Permitted() {
  const auto own = OwnCapabilities();
  return own ? own->permitted : ~CapabilitySet{0};
}

class Capabilities : public testing::Test {
 protected:
  void SetUp() override {
    if ((Permitted() & kKept) != kKept) GTEST_SKIP() << "not root";
  }
};

TEST_F(Capabilities, AreTakenFromThreadsThatWait) {
  EXPECT_EQ(InChild([] {
              std::mutex mutex;
              std::condition_variable changed;
              bool is_over = false;
              CapabilitySet left[2] = {};
              std::thread waits([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return is_over; });
                left[0] = Permitted();
              });
              std::atomic<bool> stop = false;
              std::thread polls([&] {
                while (!stop) poll(nullptr, 0, 20);
                left[1] = Permitted();
              });
              if (!KeepInAllThreads(kKept)) return 100;
              {
                const std::lock_guard lock(mutex);
                is_over = true;
              }
              changed.notify_all();
              stop = true;
              waits.join();
              polls.join();
              return left[0] == kKept && left[1] == kKept && Permitted() == kKept ? 0 : 1;
            }),
            0);
}

TEST_F(Capabilities, AreTakenFromThreadsThatStartOthers) {
  EXPECT_EQ(InChild([] {
              std::atomic<bool> stop = false;
              CapabilitySet left = 0;
              std::thread starter([&] {
                while (!stop) std::thread([] {}).join();
                std::thread([&] { left = Permitted(); }).join();
              });
              const bool is_done = static_cast<bool>(KeepInAllThreads(kKept));
              stop = true;
              starter.join();
              return is_done && left == kKept ? 0 : 1;
            }),
            0);
}

TEST_F(Capabilities, StayLostIfAThreadHasLess) {
  EXPECT_EQ(InChild([] {
              if (!SetOwnCapabilities({})) return 100;
              if (!KeepInAllThreads(kKept)) return 101;
              return Permitted() == 0 ? 0 : 1;
            }),
            0);
}

TEST_F(Capabilities, CannotBeTakenFromAThreadThatBlocksTheSignal) {
  EXPECT_EQ(InChild([] {
              std::atomic<bool> is_blocked = false, stop = false;
              std::thread stubborn([&] {
                sigset_t all;
                sigfillset(&all);
                pthread_sigmask(SIG_BLOCK, &all, nullptr);
                is_blocked = true;
                while (!stop) poll(nullptr, 0, 1);
              });
              while (!is_blocked) poll(nullptr, 0, 1);
              const Status reduced = KeepInAllThreads(kKept);
              stop = true;
              stubborn.join();
              return reduced ? 1 : 0;
            }),
            0);
}

TEST(FileCapabilities, AreThoseThatAreEffective) {
  // setcap cap_bpf,cap_perfmon,cap_syslog+ep: bits 39, 38 and 34
  std::string attribute(
      "\x01\x00\x00\x02"
      "\0\0\0\0"
      "\0\0\0\0"
      "\xc4\0\0\0"
      "\0\0\0\0",
      20);
  EXPECT_EQ(DecodeFileCapabilities(AsBytes(attribute)),
            Capability(39) | Capability(38) | Capability(34));
  EXPECT_EQ(DecodeFileCapabilities(AsBytes(attribute).first(19)), 0U);
  attribute[3] = 1;  // an older version
  EXPECT_EQ(DecodeFileCapabilities(AsBytes(attribute)), 0U);
  attribute[3] = 3;
  attribute[0] = 0;  // permitted, but not effective
  EXPECT_EQ(DecodeFileCapabilities(AsBytes(attribute)), 0U);
}

}  // namespace
}  // namespace perftape::sandbox

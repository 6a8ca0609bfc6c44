// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/kernel_facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "formats/base/file.h"
#include "tests/kernel/live.h"

namespace perftape {
namespace {

using KernelTextTest = LiveTest;

// As in a line "ffffffff81000000 T _text".
std::uint64_t AddressOf(const std::string& symbol) {
  std::istringstream lines(ReadWholeFile("/proc/kallsyms").value());
  std::string address, type, name, rest;
  while (lines >> address >> type >> name && std::getline(lines, rest)) {
    if (name == symbol) return std::stoull(address, nullptr, 16);
  }
  return 0;
}

TEST_F(KernelTextTest, IsWhereKallsymsSays) {
  const auto text = record::LookUpKernelText();
  if (!text) GTEST_SKIP() << "looking up symbols needs Linux 5.16";
  EXPECT_EQ(text->text, AddressOf("_text"));
  EXPECT_EQ(text->stext, AddressOf("_stext"));
  EXPECT_EQ(text->etext, AddressOf("_etext"));
  EXPECT_NE(text->etext, 0U);
}

TEST_F(KernelTextTest, IsUnknownToAUserWithoutPrivileges) {
  const pid_t child = fork();
  if (child == 0) _exit(setuid(65534) != 0 || record::LookUpKernelText() ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace perftape

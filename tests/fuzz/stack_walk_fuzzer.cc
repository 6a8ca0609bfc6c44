// SPDX-License-Identifier: Apache-2.0
// Walks a random stack by random rules. Whatever the input is, the walk ends, has at most as many
// frames as asked for, and reads nothing outside of the copy, which the sanitizers check.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/unwind/stack_walk.h"

namespace {

using namespace perftape;
using namespace perftape::unwind;

Rule ReadRule(ByteReader& at) {
  Rule rule;
  std::uint8_t cfa = 0;
  std::int16_t offset = 0;
  const auto read_offset = [&](std::int32_t& to) {
    at.Fixed(offset);
    to = offset == 0 ? Rule::kInRegister : std::int32_t{offset};
  };
  read_offset(rule.fp_offset);
  read_offset(rule.ra_offset);
  at.Fixed(offset);
  rule.cfa_offset = offset;
  at.Fixed(cfa);
  at.Fixed(rule.flags);
  at.Fixed(rule.addend);
  at.Fixed(rule.bx_words);
  rule.cfa = static_cast<CfaRule>(cfa % (static_cast<unsigned>(CfaRule::kUnsupported) + 1));
  return rule;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader at(std::as_bytes(std::span(data, size)));
  constexpr std::uint32_t kRules = 8, kSpacing = 16;
  std::vector<Rule> rules;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < kRules; ++i) {
    rules.push_back(ReadRule(at));
    rows.push_back({.pc = i * kSpacing, .rule = i});
  }
  const Table table(Machine::kX86_64, ImageAddress{}, rows, rules, nullptr);
  Registers registers;
  std::uint64_t fp = 0, link = 0;
  std::uint8_t choices = 0;
  at.Fixed(registers.pc);
  at.Fixed(registers.sp);
  at.Fixed(fp);
  at.Fixed(link);
  at.Fixed(choices);
  registers.fp = fp;
  if ((choices & 1) != 0) registers.link = registers.bx = registers.cx = link;
  const Machine machine = (choices & 2) != 0 ? Machine::kAArch64 : Machine::kX86_64;
  const std::size_t most_frames = choices >> 2;
  const std::string_view rest = at.Rest();
  // A copy of its own, so that a read outside is found.
  const std::vector<char> stack(rest.begin(), rest.end());

  const auto find = [&](RuntimeAddress address) -> Code {
    return {.frames_by = static_cast<FramesBy>(address.value >> 7 & 3),
            .rule = &table.Find({address.value % (kRules * kSpacing)})};
  };
  std::vector<WalkedFrame> frames;
  WalkStack(machine, registers, find, StackCopy(registers.sp, std::as_bytes(std::span(stack))),
            most_frames, frames);
  if (frames.size() > most_frames + 1) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "convert/script/head_text.h"

#include <string>
#include <utility>

#include "convert/script/number_text.h"
#include "convert/script/safe_text.h"

namespace perftape::listing {
namespace {

using perfdata::RecordType;

bool HasBits(std::uint16_t misc, perfdata::CpuMode mode) {
  const std::uint16_t bits = perfdata::MiscOf(mode);
  return (misc & bits) == bits;
}

// perf tests each mode as bits, although the modes are numbers: user code of a guest is "KGg".
void AppendMisc(std::string& out, RecordType type, std::uint16_t misc) {
  constexpr std::size_t kWidth = 6;
  std::string letters;
  const std::pair<perfdata::CpuMode, char> modes[] = {
      {perfdata::CpuMode::kKernel, 'K'},     {perfdata::CpuMode::kUser, 'U'},
      {perfdata::CpuMode::kHypervisor, 'H'}, {perfdata::CpuMode::kGuestKernel, 'G'},
      {perfdata::CpuMode::kGuestUser, 'g'},
  };
  for (const auto& [mode, letter] : modes) {
    if (HasBits(misc, mode)) letters += letter;
  }
  const bool is_mmap = type == RecordType::kMmap || type == RecordType::kMmap2;
  const bool is_switch = type == RecordType::kSwitch || type == RecordType::kSwitchCpuWide;
  if (is_mmap && (misc & perfdata::kMiscMmapData) != 0) letters += 'M';
  if (type == RecordType::kComm && (misc & perfdata::kMiscCommExec) != 0) letters += 'E';
  if (is_switch && (misc & perfdata::kMiscSwitchOut) != 0) {
    letters += 'S';
    if ((misc & perfdata::kMiscSwitchOutPreempt) != 0) letters += 'p';
  }
  AppendLeft(out, letters, kWidth);
}

}  // namespace

void HeadText::AppendTime(std::string& out, std::uint64_t time) {
  std::uint64_t shown = time;
  if (options_.time_form == TimeForm::kSinceFirst) {
    if (!reference_ || *reference_ == 0) reference_ = time;
    shown = time - *reference_;
  } else if (options_.time_form == TimeForm::kSincePrevious) {
    shown = reference_ && *reference_ != 0 ? time - *reference_ : 0;
    reference_ = time;
  }
  AppendSeconds(out, shown, options_.time_digits, 5);
  out += ": ";
}

void HeadText::Append(std::string& out, const Head& head, FieldSet fields, CommForm comm) {
  constexpr std::size_t kCommWidth = 16;
  const std::size_t id_width = options_.style == Style::kPerf61 ? 5 : 7;
  const auto id = [](std::uint32_t number) { return static_cast<std::int32_t>(number); };
  if (fields.Has(Field::kComm)) {
    if (comm == CommForm::kPadded && head.comm.size() < kCommWidth) {
      out.append(kCommWidth - head.comm.size(), ' ');
    }
    AppendSafe(out, head.comm);
    out += ' ';
  }
  if (fields.Has(Field::kPid)) {
    AppendNumber(out, id(head.pid), id_width);
    out += fields.Has(Field::kTid) ? '/' : ' ';
  }
  if (fields.Has(Field::kTid)) {
    if (fields.Has(Field::kPid)) {
      AppendLeft(out, Digits(id(head.tid)).text(), id_width);
    } else {
      AppendNumber(out, id(head.tid), id_width);
    }
    out += ' ';
  }
  if (fields.Has(Field::kCpu)) {
    out += '[';
    AppendZeroFilled(out, head.cpu, 3);
    out += "] ";
  }
  if (fields.Has(Field::kMisc)) AppendMisc(out, head.type, head.misc);
  if (fields.Has(Field::kTime)) AppendTime(out, head.time);
}

}  // namespace perftape::listing

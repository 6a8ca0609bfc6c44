// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/attr_text.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>

#include "formats/perfdata/flag_text.h"

namespace perftape::perf_tool {
namespace {

// perf's order of the bits from IDENTIFIER on (p_sample_type). The bits before it, and those that
// perf does not know, are in the order of their numbers.
constexpr std::uint64_t kLaterSampleBits[] = {perfdata::kIdentifier,   perfdata::kRegsIntr,
                                              perfdata::kDataSrc,      perfdata::kWeight,
                                              perfdata::kPhysAddr,     perfdata::kAux,
                                              perfdata::kSampleCgroup, perfdata::kDataPageSize,
                                              perfdata::kCodePageSize, perfdata::kWeightStruct};

std::string PerfSampleTypeText(std::uint64_t sample_type) {
  std::uint64_t later = 0;
  for (const std::uint64_t bit : kLaterSampleBits) later |= bit;
  std::string text =
      (sample_type & ~later) == 0 ? "" : perfdata::SampleTypeText(sample_type & ~later);
  for (const std::uint64_t bit : kLaterSampleBits) {
    if ((sample_type & bit) == 0) continue;
    text.append(text.empty() ? "" : "|").append(perfdata::SampleTypeText(bit));
  }
  return text;
}

class Fields {
 public:
  void Text(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", name, value);
  }
  void Number(std::string_view name, std::uint64_t value) {
    if (value != 0) Text(name, std::to_string(value));
  }
  void Hex(std::string_view name, std::uint64_t value) {
    if (value != 0) Text(name, fmt::format("{:#x}", value));
  }
  // `text` is that of the bits.
  void Bits(std::string_view name, std::uint64_t bits, std::string_view text) {
    if (bits != 0) Text(name, text);
  }
  std::string Finish() && { return std::move(text_); }

 private:
  std::string text_;
};

void AddRareFields(const perfdata::EventAttr& attr, Fields& fields) {
  fields.Number("{ wakeup_events, wakeup_watermark }", attr.wakeup_events);
  fields.Number("bp_type", attr.bp_type);
  fields.Hex("{ bp_addr, config1 }", attr.config1);
  fields.Hex("{ bp_len, config2 }", attr.config2);
  fields.Bits("branch_sample_type", attr.branch_sample_type,
              perfdata::BranchFilterText(attr.branch_sample_type));
  fields.Hex("sample_regs_user", attr.sample_regs_user);
  fields.Number("sample_stack_user", attr.sample_stack_user);
  if (attr.clockid != 0) fields.Text("clockid", std::to_string(attr.clockid));
  fields.Hex("sample_regs_intr", attr.sample_regs_intr);
  fields.Number("aux_watermark", attr.aux_watermark);
  fields.Number("sample_max_stack", attr.sample_max_stack);
  fields.Number("aux_sample_size", attr.aux_sample_size);
  fields.Number("sig_data", attr.sig_data);
}

}  // namespace

std::string PerfAttrText(const perfdata::EventAttr& attr) {
  Fields fields;
  fields.Number("type", attr.type);
  fields.Number("size", attr.size);
  fields.Hex("config", attr.config);
  fields.Number("{ sample_period, sample_freq }", attr.sample_period);
  fields.Bits("sample_type", attr.sample_type, PerfSampleTypeText(attr.sample_type));
  fields.Bits("read_format", attr.read_format, perfdata::ReadFormatText(attr.read_format));
  for (const perfdata::FlagValue& flag : perfdata::AttrFlagValues(attr.flags)) {
    fields.Number(flag.name, flag.value);
  }
  AddRareFields(attr, fields);
  return std::move(fields).Finish();
}

}  // namespace perftape::perf_tool

// SPDX-License-Identifier: Apache-2.0
// Bits and attributes as text, with the kernel's own names, lower case where C code has them so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

// Returns "IP|TID|TIME", or "none" if no bit is set. Bits without a name are shown as one number.
std::string SampleTypeText(std::uint64_t sample_type);
std::string ReadFormatText(std::uint64_t read_format);

// Returns "disabled|inherit|freq", with precise_ip as "precise_ip=2".
std::string AttrFlagsText(std::uint64_t flags);

struct FlagValue {
  std::string_view name;  // "precise_ip"
  unsigned value = 0;     // 1, but up to 3 for precise_ip
};
// The fields of the bit-field word that are not zero, in its order. Bits without a name are left
// out.
std::vector<FlagValue> AttrFlagValues(std::uint64_t flags);

// Returns "USER|ANY" for a branch_sample_type (enum perf_branch_sample_type). "none" and numbers as
// in SampleTypeText.
std::string BranchFilterText(std::uint64_t branch_sample_type);

// Returns all fields that are not zero, on one line: "type software size 128 config 0 sample_freq
// 99 …".
std::string AttrText(const EventAttr& attr);

// Visits the fields that are 0 in most attributes. Calls number(name, value), or hex(name, value)
// for bits and addresses, for each field that is not 0, with its name in perf_event_attr.
template <class Number, class Hex>
void ForEachRareField(const EventAttr& attr, Number&& number, Hex&& hex) {
  const auto number_of = [&](const char* name, std::uint64_t value) {
    if (value != 0) number(name, value);
  };
  const auto hex_of = [&](const char* name, std::uint64_t value) {
    if (value != 0) hex(name, value);
  };
  number_of(attr.Has(kWatermark) ? "wakeup_watermark" : "wakeup_events", attr.wakeup_events);
  number_of("bp_type", attr.bp_type);
  hex_of("config1", attr.config1);
  hex_of("config2", attr.config2);
  hex_of("branch_sample_type", attr.branch_sample_type);
  hex_of("sample_regs_user", attr.sample_regs_user);
  number_of("sample_stack_user", attr.sample_stack_user);
  if (attr.Has(kUseClockid)) {
    number("clockid", static_cast<std::int64_t>(attr.clockid));
  }
  hex_of("sample_regs_intr", attr.sample_regs_intr);
  number_of("aux_watermark", attr.aux_watermark);
  number_of("sample_max_stack", attr.sample_max_stack);
  number_of("aux_sample_size", attr.aux_sample_size);
  hex_of("aux_action", attr.aux_action);
  hex_of("sig_data", attr.sig_data);
  hex_of("config3", attr.config3);
  hex_of("config4", attr.config4);
  number_of("sample_simd_regs_enabled", attr.simd_regs_enabled);
  number_of("sample_simd_pred_reg_qwords", attr.simd_predicate_words);
  number_of("sample_simd_vec_reg_qwords", attr.simd_vector_words);
  hex_of("sample_simd_pred_reg_intr", attr.simd_predicates_intr);
  hex_of("sample_simd_pred_reg_user", attr.simd_predicates_user);
  hex_of("sample_simd_vec_reg_intr", attr.simd_vectors_intr);
  hex_of("sample_simd_vec_reg_user", attr.simd_vectors_user);
}

// Returns "r-x": the protection as in "r-xp", without the last letter.
std::string ProtectionText(std::uint32_t protection);

// Returns "[user]" for a context marker, and the address in hex for any other entry.
std::string CallchainEntryText(std::uint64_t entry);

// "op=load|lvl=hit+L1|lvl_num=L0|region=mem1": the fields that are not 0, with the names of the
// PERF_MEM_* constants of include/uapi/linux/perf_event.h. A number without a name is shown as it
// is. Empty for 0.
std::string DataSourceText(std::uint64_t data_src);

}  // namespace perftape::perfdata

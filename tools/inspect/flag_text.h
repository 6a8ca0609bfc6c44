// SPDX-License-Identifier: Apache-2.0
// Bits and attributes in words: the kernel's own names, lower case where C code has them so.
#pragma once

#include <cstdint>
#include <string>

#include "formats/perfdata/attr.h"

namespace perftape::inspect {

// "IP|TID|TIME"; "none" for no bit. Bits without a name are shown as one number.
std::string SampleTypeText(std::uint64_t sample_type);
std::string ReadFormatText(std::uint64_t read_format);

// "disabled|inherit|freq"; precise_ip as "precise_ip=2".
std::string AttrFlagsText(std::uint64_t flags);

// All fields that are not zero, on one line: "type software size 128 config 0 sample_freq 99 …".
std::string AttrText(const perfdata::EventAttr& attr);

// "r-xp", without the last letter: "r-x".
std::string ProtectionText(std::uint32_t protection);

// "[user]" for a context marker, the bare address in hex for all else.
std::string CallchainEntryText(std::uint64_t entry);

}  // namespace perftape::inspect

// SPDX-License-Identifier: Apache-2.0
#include "convert/script/trace_text.h"

#include "convert/script/safe_text.h"

namespace perftape::listing {

void TraceText::Append(std::string& out, const perfdata::TracepointFormat& format, Bytes raw) {
  auto known = formats_.find(&format);
  if (known == formats_.end()) {
    known = formats_.emplace(&format, perfdata::PrintFormat::Parse(format.print_format)).first;
  }
  std::string text;
  if (known->second) {
    known->second->Append(text, {format, raw});
    return AppendSafe(out, text);
  }
  for (const perfdata::TracepointField& field : format.fields) {
    if (field.is_common()) continue;
    const auto value = perfdata::ValueOf(field, raw, format.order);
    if (!value) continue;
    out += ' ';
    out += field.name;
    out += '=';
    AppendSafe(out, TextOf(*value));
  }
}

}  // namespace perftape::listing

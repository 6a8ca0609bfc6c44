// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/record_json.h"

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"
#include "tools/inspect/json_fields.h"
#include "tools/inspect/record_fields.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string RecordJson(const perfdata::RecordView& record, const perfdata::EventTable& events) {
  Json fields = {{"offset", PositionOf(record)},
                 {"type", RecordName(record.type)},
                 {"misc", record.misc},
                 {"size", record.stored_size()}};
  if (record.excess > 0) fields["excess"] = record.excess;
  JsonFields to(fields);
  VisitFields(record, events, to);
  const Json json = {{"record", std::move(fields)}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect

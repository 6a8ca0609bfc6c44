// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sample_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"
#include "tools/inspect/json_fields.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string SampleJson(const SampleRow& row) {
  Json frames = Json::array();
  for (const std::uint64_t frame : row.frames) frames.push_back(fmt::format("{:#x}", frame));
  Json fields = {{"event", row.event},
                 {"comm", row.comm},
                 {"pid", row.pid},
                 {"tid", row.tid},
                 {"cpu", row.cpu ? Json(*row.cpu) : Json(nullptr)},
                 {"time_ns", row.time_ns ? Json(*row.time_ns) : Json(nullptr)},
                 {"period", row.period},
                 {"ip", fmt::format("{:#x}", row.ip)},
                 {"dso", row.dso}};
  if (row.cgroup) fields["cgroup"] = *row.cgroup;
  if (row.woken) fields["woken"] = {{"comm", row.woken->comm}, {"tid", row.woken->tid}};
  fields["frames"] = std::move(frames);
  if (row.tracepoint) {
    JsonFields to(fields);
    VisitTracepointFields(*row.tracepoint, row.raw, to);
  }
  const Json json = {{"sample", std::move(fields)}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect

// SPDX-License-Identifier: Apache-2.0
#include "convert/records/sample_names.h"

#include <fmt/core.h>

#include <string_view>

#include "formats/base/unknown_name.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::records {

std::string CommName(std::uint32_t tid, const std::string* recorded) {
  if (tid == 0) return "swapper";
  return recorded != nullptr ? *recorded : fmt::format(":{}", static_cast<std::int32_t>(tid));
}

DsoNames::DsoNames(const perfdata::Reader& reader) {
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return;
  for (const perfdata::BuildIdEntry& entry : table->entries) {
    kernel_names_.Add(entry.mode, entry.filename);
  }
}

void DsoNames::Apply(const perfdata::RecordView& record) {
  if (record.type != perfdata::RecordType::kHeaderBuildId) return;
  const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(record, {});
  if (entry) kernel_names_.Add(record.cpumode(), entry->filename);
}

std::string DsoNames::NameOf(const perfdata::Dso* dso, std::uint32_t pid) const {
  if (dso == nullptr) return std::string(kUnknownName);
  if (HoldsGeneratedCode(*dso)) return fmt::format("perf-{}.map", pid);
  if (!dso->is_kernel) return std::string(dso->base_name());
  const perfdata::Dso named{.path = kernel_names_.NameOf(*dso), .build_id = {}, .symbol = {}};
  return std::string(named.base_name());
}

bool HoldsGeneratedCode(const perfdata::Dso& dso) {
  return perfdata::IsPerfMapMemory(dso.path);
}

}  // namespace perftape::records

// SPDX-License-Identifier: Apache-2.0
// The names and versions of the JSON that the tools print. Each has a file in tools/schemas, which
// describes all its members: "perftape-report/1" is version 1 of perftape-report.json.
//
// The rule: an object that a tool prints has a first member "schema" with one of these values. A
// version is increased if a member is removed or renamed, or changes its type or meaning. A new
// member does not increase it, so readers ignore members that they do not know.
//
// Lines of perftape-inspect have one key, which names their content. "schema" is then the first
// member of the header, the statistics, the losses and the validation. Lines of records, samples
// and unwind tables have none, because there may be millions.
#pragma once

#include <string_view>

#include "formats/json/value.h"

namespace perftape::cli {

inline constexpr std::string_view kBundleListSchema = "perftape-bundle-list/1";
inline constexpr std::string_view kBundleVerifySchema = "perftape-bundle-verify/1";
inline constexpr std::string_view kConvertSchema = "perftape-convert/1";
inline constexpr std::string_view kConvertRewriteSchema = "perftape-convert-rewrite/1";
inline constexpr std::string_view kDoctorSchema = "perftape-doctor/1";
inline constexpr std::string_view kInspectSchema = "perftape-inspect/1";
inline constexpr std::string_view kRecordSchema = "perftape-record/1";
inline constexpr std::string_view kRecordLatencySchema = "perftape-record-latency/1";
inline constexpr std::string_view kRecoverSchema = "perftape-recover/1";
inline constexpr std::string_view kReportSchema = "perftape-report/1";
inline constexpr std::string_view kReportDiagnosisSchema = "perftape-report-diagnosis/1";
inline constexpr std::string_view kReportDiffSchema = "perftape-report-diff/1";
inline constexpr std::string_view kReportRulesSchema = "perftape-report-rules/1";
inline constexpr std::string_view kSymbolizeSchema = "perftape-symbolize/1";
inline constexpr std::string_view kVersionSchema = "perftape-version/1";

// Returns the first member of an object with this schema.
inline json::Member SchemaMember(std::string_view schema) {
  return {"schema", schema};
}

}  // namespace perftape::cli

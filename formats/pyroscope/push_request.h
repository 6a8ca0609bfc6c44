// SPDX-License-Identifier: Apache-2.0
// What agents send to Pyroscope: push.v1.PushRequest (grafana/pyroscope, api/push/v1/push.proto) to
// PusherService/Push, which Pyroscope and Alloy answer by HTTP (pkg/distributor/distributor.go,
// Push; alloy, pyroscope.receive_http).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perftape::pyroscope {

struct LabelPair {
  std::string_view name = {}, value = {};
};

// A profile, and the labels of its series. Pyroscope adds those of samples to them.
struct Series {
  std::vector<LabelPair> labels = {};
  std::string_view pprof = {};  // a file, compressed or not
};

// Returns an encoded PushRequest with this series.
std::string EncodePushRequest(const Series& series);

// Pyroscope has the rules of Prometheus for names of series and of labels, and refuses a type of
// samples with a '-' (pkg/validation/validate.go, ValidateLabels and ValidateProfile). Returns the
// text with '_' for other characters than letters, digits and '_', and before a digit at the start.
std::string ValidName(std::string_view text);

}  // namespace perftape::pyroscope

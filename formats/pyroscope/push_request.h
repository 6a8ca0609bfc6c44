// SPDX-License-Identifier: Apache-2.0
// The request that agents send to Pyroscope: push.v1.PushRequest (grafana/pyroscope,
// api/push/v1/push.proto) to PusherService/Push. Pyroscope and Alloy accept it over HTTP
// (pkg/distributor/distributor.go, Push; alloy, pyroscope.receive_http).
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

// Pyroscope uses the rules of Prometheus for names of series and labels, and rejects a sample type
// with a '-' (pkg/validation/validate.go, ValidateLabels and ValidateProfile). Returns the text
// with '_' in place of characters other than letters, digits and '_', and before a digit at the
// start.
std::string ValidName(std::string_view text);

}  // namespace perftape::pyroscope

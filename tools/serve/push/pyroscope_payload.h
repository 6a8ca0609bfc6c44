// SPDX-License-Identifier: Apache-2.0
// Windows -> pushes of Pyroscope (formats/pyroscope/push_request.h): one series for each type of
// events and each service, with a pprof.
//
//   __name__       process_cpu for clocks, as Pyroscope's agents; off_cpu for the three events of
//                  waits; else the event's name
//   service_name   the label service.name of the samples; perftape for those without one
//   host_name      the host
//   values         samples/count, and the periods (cpu/nanoseconds) if they are not the same
//
// Samples have the labels namespace, pod, container, unit and comm, which Pyroscope adds to those
// of the series (pkg/model/pprof_split, VisitSampleSeries), and pid, a number, which it drops
// (pkg/pprof, Normalize). tid and cgroup would only make more series.
//
// A request has one profile: Pyroscope takes all or nothing of a request, and may have stored a
// part when it asks to send it again. This way was chosen over POST /ingest, which answers 422 also
// to what may succeed later (pkg/ingester/pyroscope/ingest_handler.go, ServeHTTP), and makes the
// name of the series from a type of samples (pkg/og/convert/pprof/profile.go, metricName).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/result.h"
#include "tools/serve/push/payload.h"

namespace perftape::serve {

// What Pyroscope takes by default (pkg/validation/validate.go, ValidateProfile).
struct PyroscopeLimits {
  std::size_t bytes = kLargestRequest;  // of a profile before it is compressed
  std::size_t samples = 16'000;
};

// Encodes a profile with names of a recording. One beyond the limits is divided by samples. No
// samples give no payload. Fails as EncodePprof and Gzip do.
Result<std::vector<Payload>> PyroscopePayloadsOf(const convert::Profile& profile,
                                                 const PyroscopeLimits& limits = {});

}  // namespace perftape::serve

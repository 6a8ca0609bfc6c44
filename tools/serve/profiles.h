// SPDX-License-Identifier: Apache-2.0
// Windows -> one profile of what was asked for, and its output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "tools/serve/parameters.h"
#include "tools/serve/window.h"

namespace perftape::serve {

// Which samples are wanted. An empty condition is always true.
struct Selection {
  std::function<bool(std::string_view event)> wants_event = {};
  LabelConditions conditions = {};
  // If set, samples keep only the labels with these keys; "pid", "tid" and "comm" are those of
  // their thread.
  std::optional<std::set<std::string, std::less<>>> labels = {};
};

// Returns the labels that name the pod of a sample; empty if it is of none.
struct PodOfSample {
  std::string_view pod_namespace = {}, pod = {};
};
PodOfSample PodOf(const convert::Profile& profile, const convert::Sample& sample);

enum class Offsets : std::uint8_t { kNo, kYes };

// Decodes the profile of a window; an empty one has no samples. Fails as ReadPprof does.
Result<convert::Profile> ProfileOf(const WindowView& window);
// Returns the profile with the selected samples.
convert::Profile Select(const convert::Profile& profile, const Selection& selection);

// Lines of folded text have no event, and amounts of several cannot be added: returns the samples
// of the first of `events`, names for -e, that has any.
convert::Profile OfFirstEvent(const convert::Profile& profile, std::span<const std::string> events);

// Returns one window of adjacent ones. Fails as ProfileOf and EncodePprof do.
Result<Window> Join(const WindowView& before, const WindowView& after);

// Folded text of the events together: each stack with its number of samples or, if all events
// measure time and in unequal amounts, nanoseconds. Offsets are those in symbols ("f+0x1f").
Result<std::string> FoldedText(const convert::Profile& profile, Offsets offsets);
// A pprof file. `starts_at_ns` is in nanoseconds since 1970.
Result<std::string> PprofFile(const convert::Profile& profile, std::int64_t starts_at_ns,
                              std::int64_t duration_ns);
// A page with flame graphs.
Result<std::string> HtmlPage(const convert::Profile& profile, std::int64_t starts_at_ns,
                             std::int64_t duration_ns);

}  // namespace perftape::serve

// SPDX-License-Identifier: Apache-2.0
// A valid profile with all fields of profile.proto.
#pragma once

#include "formats/pprof/messages.h"

namespace perftape::pprof {

inline Profile EveryField() {
  Profile profile;
  profile.string_table = {"", "cpu", "nanoseconds", "main", "_Z4mainv", "/src/main.cc", "/bin/x"};
  profile.header = {.sample_types = {{1, 2}, {3, 2}},
                    .drop_frames = 1,
                    .keep_frames = 2,
                    .time_nanos = 1'700'000'000'000'000'000,
                    .duration_nanos = -5,
                    .period_type = ValueType{1, 2},
                    .period = 10'101'010,
                    .comments = {3, 0, 5},
                    .default_sample_type = 1,
                    .doc_url = 6};
  profile.samples = {{.location_ids = {7, 9, 7}, .values = {1, -1}, .labels = {{1, 2, 0, 0}}},
                     {.location_ids = {}, .values = {0, 0}, .labels = {{3, 0, -12, 4}}}};
  profile.mappings = {{.id = 3,
                       .memory_start = 0xffff'ffff'8100'0000,
                       .memory_limit = 0xffff'ffff'ffff'ffff,
                       .file_offset = 0x1000,
                       .filename = 6,
                       .build_id = 2,
                       .has_functions = true,
                       .has_filenames = true,
                       .has_line_numbers = true,
                       .has_inline_frames = true}};
  profile.locations = {{.id = 7,
                        .mapping_id = 3,
                        .address = 0xffff'ffff'8100'1234,
                        .lines = {{.function_id = 5, .line = 42, .column = 8}, {.function_id = 5}},
                        .is_folded = true},
                       {.id = 9, .address = 0x10}};
  profile.functions = {{.id = 5, .name = 3, .system_name = 4, .filename = 5, .start_line = 40}};
  return profile;
}

}  // namespace perftape::pprof

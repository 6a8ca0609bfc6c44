// SPDX-License-Identifier: Apache-2.0
// The field numbers of google/pprof's proto/profile.proto, one enum for each message.
#pragma once

#include <cstdint>

namespace perftape::pprof {

enum class ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};

enum class ValueTypeField : std::uint32_t { kType = 1, kUnit = 2 };

enum class SampleField : std::uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };

enum class LabelField : std::uint32_t { kKey = 1, kStr = 2, kNum = 3, kNumUnit = 4 };

enum class MappingField : std::uint32_t {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};

enum class LocationField : std::uint32_t {
  kId = 1,
  kMappingId = 2,
  kAddress = 3,
  kLine = 4,
  kIsFolded = 5,
  kSymbolOffset = 1000,  // not in profile.proto: messages.h
};

enum class LineField : std::uint32_t { kFunctionId = 1, kLine = 2, kColumn = 3 };

enum class FunctionField : std::uint32_t {
  kId = 1,
  kName = 2,
  kSystemName = 3,
  kFilename = 4,
  kStartLine = 5,
};

}  // namespace perftape::pprof

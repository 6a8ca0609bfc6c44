// SPDX-License-Identifier: Apache-2.0
// The rules for a perf.data, each with its severity, the readers that need it, and an explanation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/perfdata/validate/readers.h"

namespace perftape::perfdata {

enum class Severity : std::uint8_t {
  kNote,     // only information
  kWarning,  // a reader shows less than was recorded, or assigns it wrongly
  kError,    // a reader refuses the file or loses records, or a part of the file is missing
};
std::string_view NameOf(Severity severity);  // "error"

// In the order in which they are reported. rules.cc explains each rule.
enum class Rule : std::uint8_t {
  kHeaderVersion1,
  kHeaderVersion1AttrSize,
  kHeaderSize,
  kHeaderAttrSize,
  kHeaderAttrsOutside,
  kHeaderDataEmpty,
  kHeaderDataOutside,
  kHeaderOverlap,
  kHeaderDataUnaligned,
  kHeaderTrailingBytes,

  kFeatureTableCut,
  kFeatureOutside,
  kFeatureUndecodable,
  kFeatureEventDescCount,
  kFeatureEventDescDiffers,
  kFeatureUnknown,
  kFeaturePmuMappingsEmpty,
  kFeatureTopologyWithoutCpus,
  kFeatureMissing,

  kEventNone,
  kEventAttrNewer,
  kEventAttrNewerThan510,
  kEventIdsOutside,
  kEventIdsMissing,
  kEventIdDuplicate,
  kEventIdUnrecorded,
  kEventIdPosition,
  kEventSampleIdAllDiffers,
  kEventTrailerDiffers,
  kEventReadWithoutId,
  kEventTracepointWithoutFormat,
  kEventSampleTypeUnknown,
  kEventRegsWithoutMask,
  kEventIpMissing,
  kEventTimeMissing,
  kEventTidMissing,
  kEventTrailerMissing,

  kRecordSizeBelowHeader,
  kRecordCut,
  kRecordSizeAlignment,
  kRecordTooSmall,
  kRecordTypeUnknown,
  kRecordTypePrivate,
  kRecordTypeNewer,
  kRecordTypeNewerThan510,
  kRecordSizeExcess,
  kRecordNameUnterminated,
  kRecordNameInTrailer,
  kRecordPayloadOverrun,
  kRecordIdUnknown,

  kSampleOverrun,
  kSampleBytesLeft,
  kSampleCpumode,
  kSampleCpuBeyond,
  kSampleTaskUnknown,
  kSampleTimeZero,
  kCallchainContext,
  kCallchainDeferred,
  kCallchainDeep,
  kSampleOffCpuRaw,
  kSampleVectorRegisters,

  kMmapEmpty,
  kMmapOverflow,
  kCommTooLong,
  kKernelMmapMissing,
  kKernelMmapReference,
  kKernelNames,
  kSampleBeforeComm,
  kSampleBeforeMmap,
  kSampleUnmapped,
  kBuildIdMissing,
  kBuildIdDiffers,

  kTimeOutOfRound,
  kRoundsMissing,

  kLostRecords,
  kLostSamples,
  kFilteredSamples,
  kThrottled,

  kCompressedForeign,
  kCompressedWithoutFeature,
  kCompressedTypeUnknown,
  kCompressedBufferSmall,
  kCompressedDamaged,

  kPipeRecordBeforeAttr,
  kPipeAttrLate,
  kPipeAttrUndecodable,
  kPipeFeatureUnknown,
  kPipeAuxtrace,
  kPipeForeignFeatures,
  kPipeForeignCompressed,
  kPipeForeignRaw,
  kPipeStats,
  kIdIndexUnknown,
  kTracingDataUndecodable,
  kAuxtracePresent,
  kAuxtraceIndex,

  kNumberOfRules,
};

struct RuleInfo {
  Rule rule;
  std::string_view name;  // "record-size-alignment"
  Severity severity;
  Readers breaks;        // the readers that it can break; a finding may break fewer
  std::string_view why;  // one or two sentences: the damage, its effect on readers, the source
};

const RuleInfo& InfoOf(Rule rule);
// In the order of Rule.
std::span<const RuleInfo> AllRules();

}  // namespace perftape::perfdata

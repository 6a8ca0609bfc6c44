// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/features.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "formats/perfdata/feature_layout.h"

namespace perftape::perfdata {
namespace {

// By bit, from kTracingData (1) on.
constexpr auto kFeatureNames = std::to_array<std::string_view>(
    {"TRACING_DATA", "BUILD_ID",        "HOSTNAME",     "OSRELEASE",     "VERSION",
     "ARCH",         "NRCPUS",          "CPUDESC",      "CPUID",         "TOTAL_MEM",
     "CMDLINE",      "EVENT_DESC",      "CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK",
     "PMU_MAPPINGS", "GROUP_DESC",      "AUXTRACE",     "STAT",          "CACHE",
     "SAMPLE_TIME",  "MEM_TOPOLOGY",    "CLOCKID",      "DIR_FORMAT",    "BPF_PROG_INFO",
     "BPF_BTF",      "COMPRESSED",      "CPU_PMU_CAPS", "CLOCK_DATA",    "HYBRID_TOPOLOGY",
     "PMU_CAPS",     "CPU_DOMAIN_INFO", "E_MACHINE",    "CLN_SIZE",      "MEMORY_RANGES"});

// By bit, from kSimpleperfFile (128) on. The names are those of `simpleperf dump`.
constexpr auto kSimpleperfFeatureNames =
    std::to_array<std::string_view>({"FILE", "META_INFO", "DEBUG_UNWIND", "DEBUG_UNWIND_FILE",
                                     "FILE2", "ETM_BRANCH_LIST", "INIT_MAP"});

// Calls `act` with a std::type_identity of the struct for sections of this bit.
template <class Act>
auto WithTypeOf(FeatureBit bit, Act act) {
  switch (bit) {
    case FeatureBit::kTracingData:
      return act(std::type_identity<TracingData>());
    case FeatureBit::kBuildId:
      return act(std::type_identity<BuildIds>());
    case FeatureBit::kHostname:
    case FeatureBit::kOsRelease:
    case FeatureBit::kVersion:
    case FeatureBit::kArch:
    case FeatureBit::kCpuDesc:
    case FeatureBit::kCpuId:
      return act(std::type_identity<TextFeature>());
    case FeatureBit::kNrCpus:
      return act(std::type_identity<NrCpus>());
    case FeatureBit::kTotalMem:
      return act(std::type_identity<TotalMem>());
    case FeatureBit::kCmdline:
      return act(std::type_identity<Cmdline>());
    case FeatureBit::kEventDesc:
      return act(std::type_identity<EventDesc>());
    case FeatureBit::kCpuTopology:
      return act(std::type_identity<CpuTopology>());
    case FeatureBit::kNumaTopology:
      return act(std::type_identity<NumaTopology>());
    case FeatureBit::kPmuMappings:
      return act(std::type_identity<PmuMappings>());
    case FeatureBit::kGroupDesc:
      return act(std::type_identity<GroupDesc>());
    case FeatureBit::kAuxtrace:
      return act(std::type_identity<AuxtraceIndex>());
    case FeatureBit::kBranchStack:
    case FeatureBit::kStat:
      return act(std::type_identity<EmptyFeature>());
    case FeatureBit::kCache:
      return act(std::type_identity<CacheInfo>());
    case FeatureBit::kSampleTime:
      return act(std::type_identity<SampleTime>());
    case FeatureBit::kMemTopology:
      return act(std::type_identity<MemTopology>());
    case FeatureBit::kClockid:
      return act(std::type_identity<ClockResolution>());
    case FeatureBit::kDirFormat:
      return act(std::type_identity<DirFormat>());
    case FeatureBit::kBpfProgInfo:
      return act(std::type_identity<BpfProgInfo>());
    case FeatureBit::kBpfBtf:
      return act(std::type_identity<BpfBtf>());
    case FeatureBit::kCompressed:
      return act(std::type_identity<CompressionInfo>());
    case FeatureBit::kCpuPmuCaps:
      return act(std::type_identity<CpuPmuCaps>());
    case FeatureBit::kClockData:
      return act(std::type_identity<ClockData>());
    case FeatureBit::kHybridTopology:
      return act(std::type_identity<HybridTopology>());
    case FeatureBit::kPmuCaps:
      return act(std::type_identity<PmuCaps>());
    case FeatureBit::kCpuDomainInfo:
      return act(std::type_identity<CpuDomainInfo>());
    case FeatureBit::kEMachine:
      return act(std::type_identity<ElfMachine>());
    case FeatureBit::kClnSize:
      return act(std::type_identity<CacheLineSize>());
    case FeatureBit::kMemoryRanges:
      return act(std::type_identity<MemoryRanges>());
    case FeatureBit::kSimpleperfMetaInfo:
      return act(std::type_identity<MetaInfo>());
    default:
      return act(std::type_identity<RawFeature>());
  }
}

// Whether the section ends the features of a pipe. Since perf 4.18 they end with an empty feature,
// whose bit is the HEADER_LAST_FEATURE of the perf that wrote it. In a newer perf, this bit can be
// that of a real feature.
bool EndsAPipesFeatures(FeatureBit bit, Bytes section) {
  return section.empty() && bit >= FeatureBit::kCpuDomainInfo;
}

std::unexpected<Error> TooShort() {
  return Fail(ErrorCode::kTruncated, "the section declares more data than it contains");
}

}  // namespace

std::string FeatureName(FeatureBit bit) {
  const auto number = std::to_underlying(bit);
  if (number >= 1 && number <= kFeatureNames.size()) return std::string(kFeatureNames[number - 1]);
  const auto first = std::to_underlying(FeatureBit::kSimpleperfFile);
  if (number >= first && number - first < kSimpleperfFeatureNames.size()) {
    return std::string(kSimpleperfFeatureNames[number - first]);
  }
  return fmt::format("feature {}", number);
}

FeatureValue::FeatureValue(const FeatureValue& other) = default;
FeatureValue::FeatureValue(FeatureValue&& other) noexcept = default;
FeatureValue& FeatureValue::operator=(const FeatureValue& other) = default;
FeatureValue& FeatureValue::operator=(FeatureValue&& other) noexcept = default;
FeatureValue::~FeatureValue() = default;

Result<FeatureValue> DecodeFeature(FeatureBit bit, Bytes section, std::endian order,
                                   std::uint32_t cpus_available) {
  if (EndsAPipesFeatures(bit, section)) return FeatureValue(EmptyFeature());
  return WithTypeOf(bit, [&]<class Value>(std::type_identity<Value>) -> Result<FeatureValue> {
    Value value;
    ByteReader at(section, order);
    AnyFeatureLayout(at, value, cpus_available);
    if (!at.ok()) return TooShort();
    return FeatureValue(std::move(value));
  });
}

void EncodeFeature(const FeatureValue& value, std::vector<std::byte>& out) {
  std::visit(
      [&out](const auto& feature) {
        ByteWriter at(out);
        AnyFeatureLayout(at, feature, 0);
      },
      value);
}

}  // namespace perftape::perfdata

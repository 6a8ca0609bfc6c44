// SPDX-License-Identifier: Apache-2.0
// The sources that `why` names: S is tools/perf/util/session.c of Linux 7, H its header.c, EV its
// evsel.c and EL its evlist.c; "tried" is perf 6.1, or hotspot's perfparser 1.3, on a file made for
// the purpose.
#include "formats/perfdata/validate/rules.h"

#include <algorithm>
#include <array>

namespace perftape::perfdata {
namespace {

using enum Severity;

constexpr Readers kNone = Readers::kNone;
constexpr Readers kPerf510 = Readers::kPerf510;
constexpr Readers kPerf61 = Readers::kPerf61;
constexpr Readers kNewest = Readers::kPerfNewest;
constexpr Readers kInject = Readers::kPerfInject;
constexpr Readers kHotspot = Readers::kHotspot;
constexpr Readers kQuipper = Readers::kQuipper;
constexpr Readers kSamply = Readers::kSamply;

// clang-format off
constexpr auto kRules = std::to_array<RuleInfo>({
    {Rule::kHeaderVersion1, "header-version-1", kError, kHotspot | kQuipper | kSamply,
     "PERFFILE, the format before Linux 2.6.36: only perf still reads it (tried)"},
    {Rule::kHeaderVersion1AttrSize, "header-version-1-attr-size", kError, kAnyPerf,
     "of PERFFILE, perf knows attributes of 64 to 104 bytes only (H, try_all_file_abis; tried)"},
    {Rule::kHeaderSize, "header-size", kError, kEveryReader,
     "the header says a size that is neither 104 nor, as before Linux 2.6.33, 72 (H, perf_file_header__read; tried)"},
    {Rule::kHeaderAttrSize, "header-attr-size", kError, kAnyPerf | kHotspot | kQuipper | kSamply,
     "an entry of the attribute table is not as long as its attribute and a section: perf steps from one to the next by the attribute's own size (H, read_attr; tried)"},
    {Rule::kHeaderAttrsOutside, "header-attrs-outside", kError, kEveryReader,
     "the attribute table runs past the end of the file (tried)"},
    {Rule::kHeaderDataEmpty, "header-data-empty", kError, kEveryReader,
     "data.size is 0, as a recorder leaves it that was killed: perf shows nothing and hotspot hangs (tried)"},
    {Rule::kHeaderDataOutside, "header-data-outside", kError, kEveryReader,
     "the data section runs past the end of the file: perf reads zeros there, or dies of SIGBUS (tried)"},
    {Rule::kHeaderOverlap, "header-overlap", kError, kEveryReader,
     "header, attribute table and data lie on each other (H, perf_file_header__read)"},
    {Rule::kHeaderDataUnaligned, "header-data-unaligned", kNote, kNone,
     "the records do not begin at a multiple of 8, which all recorders keep to"},
    {Rule::kHeaderTrailingBytes, "header-trailing-bytes", kNote, kNone,
     "bytes behind the last section belong to none; every reader passes over them (tried)"},

    {Rule::kFeatureTableCut, "feature-table-cut", kError, kNewest | kHotspot | kQuipper | kSamply,
     "the file ends inside the table of features, which begins where the data ends"},
    {Rule::kFeatureOutside, "feature-outside", kError, kNewest | kHotspot | kQuipper | kSamply,
     "a feature's section runs past the end of the file: hotspot hangs on it (tried), newer perf does not open the file"},
    {Rule::kFeatureUndecodable, "feature-undecodable", kError, kNewest | kQuipper,
     "a feature says that it holds more than its section does: newer perf does not open such a file, perf 6.1 goes without (H, perf_header__process_sections; tried)"},
    {Rule::kFeatureEventDescCount, "feature-event-desc-count", kError, kAnyPerf,
     "EVENT_DESC counts more events than its section could hold: perf 6.1 allocates for them all and crashes (tried)"},
    {Rule::kFeatureEventDescDiffers, "feature-event-desc-differs", kWarning, kSamply,
     "EVENT_DESC and the attribute table tell of different events; linux-perf-data believes EVENT_DESC"},
    {Rule::kFeatureUnknown, "feature-unknown", kError, kInject,
     "a feature bit that perf does not know is passed over, but `perf inject` of perf 6.1 and 6.12 may crash on the file (tried: bits 32, 60, 128)"},
    {Rule::kFeaturePmuMappingsEmpty, "feature-pmu-mappings-empty", kError, kQuipper,
     "PMU_MAPPINGS without an entry is refused by quipper"},
    {Rule::kFeatureTopologyWithoutCpus, "feature-topology-without-cpus", kError, kQuipper,
     "CPU_TOPOLOGY cannot be read without the number of CPUs in NRCPUS; quipper refuses it"},
    {Rule::kFeatureMissing, "feature-missing", kNote, kNone,
     "a feature that readers like to have is not there: hotspot unwinds by ARCH, old perf script crashed without it, newer perf takes 4096 CPUs where NRCPUS is missing"},

    {Rule::kEventNone, "event-none", kError, kAnyPerf | kHotspot | kQuipper,
     "no attribute tells of any event (tried); linux-perf-data finds them in EVENT_DESC"},
    {Rule::kEventAttrNewer, "event-attr-newer", kError, kOldPerf | kInject,
     "an attribute in a file is larger than the reading perf's own: 120 bytes for 5.10, 128 for 6.1, 136 for 6.12 (H, read_attr; tried)"},
    {Rule::kEventAttrNewerThan510, "event-attr-newer-than-5.10", kNote, kPerf510,
     "an attribute of 128 bytes is refused by perf before 5.13"},
    {Rule::kEventIdsOutside, "event-ids-outside", kError, kEveryReader,
     "the ids of an event lie behind the end of the file (tried)"},
    {Rule::kEventIdsMissing, "event-ids-missing", kError, kAnyPerf | kSamply,
     "of several events one has no id, so none of its records finds it, and perf gives up on the first (EL, evlist__event2evsel; tried)"},
    {Rule::kEventIdDuplicate, "event-id-duplicate", kWarning, kAnyPerf | kSamply,
     "two events have the same id; all its records go to one of them"},
    {Rule::kEventIdUnrecorded, "event-id-unrecorded", kError, kAnyPerf | kSamply,
     "of several events one records neither IDENTIFIER nor ID: \"non matching sample_type\" (EL, evlist__valid_sample_type; tried)"},
    {Rule::kEventIdPosition, "event-id-position", kError, kAnyPerf | kSamply,
     "the events do not keep their id at the same place of a record: \"non matching sample_type\" (EL, evlist__valid_sample_type)"},
    {Rule::kEventSampleIdAllDiffers, "event-sample-id-all-differs", kError, kAnyPerf | kSamply,
     "some events have sample_id_all and some do not: \"non matching sample_id_all\" (EL, evlist__valid_sample_id_all)"},
    {Rule::kEventTrailerDiffers, "event-trailer-differs", kError, kHotspot,
     "the trailers of the events differ, and hotspot reads all of them as the first event's: its mappings are misread without a word (tried)"},
    {Rule::kEventReadWithoutId, "event-read-without-id", kError, kAnyPerf,
     "samples carry counters (PERF_SAMPLE_READ) without their ids: \"non matching read_format\" (EL, evlist__valid_read_format)"},
    {Rule::kEventTracepointWithoutFormat, "event-tracepoint-without-format", kError, kAnyPerf,
     "a tracepoint in a file without TRACING_DATA: \"incompatible file format\" (H, evlist__prepare_tracepoint_events; tried)"},
    {Rule::kEventSampleTypeUnknown, "event-sample-type-unknown", kWarning, kEveryReader,
     "sample_type has a bit that no reader knows: where it stands for a field, all behind it is misread"},
    {Rule::kEventRegsWithoutMask, "event-regs-without-mask", kWarning, kEveryReader,
     "registers are sampled, but the mask that says which is empty: nothing can be unwound"},
    {Rule::kEventIpMissing, "event-ip-missing", kWarning, kEveryReader,
     "samples have no IP: nothing says where the program was; perf script does not print an ip that it is asked for (tried)"},
    {Rule::kEventTimeMissing, "event-time-missing", kWarning, kAnyPerf | kHotspot,
     "samples have no TIME: records are taken in file order, whatever CPU they come from (tried)"},
    {Rule::kEventTidMissing, "event-tid-missing", kWarning, kEveryReader,
     "samples have no TID: they belong to no process, and no mapping is found for them"},
    {Rule::kEventTrailerMissing, "event-trailer-missing", kNote, kNone,
     "without sample_id_all no process record has a time; perf takes it to have happened at once"},

    {Rule::kRecordSizeBelowHeader, "record-size-below-header", kError, kEveryReader,
     "a record says a size below 8, so where the next one is cannot be told (S, reader__read_event; tried)"},
    {Rule::kRecordCut, "record-cut", kError, kEveryReader,
     "the data ends inside a record; of a pipe's stream, perf reads all before it (tried)"},
    {Rule::kRecordSizeAlignment, "record-size-alignment", kError, kNewest,
     "the size is no multiple of 8: newer perf gives up on the file (S, perf_session__process_event), perf 6.1 reads it (tried)"},
    {Rule::kRecordTooSmall, "record-too-small", kError, kAnyPerf,
     "the record is shorter than its type ever was: newer perf leaves it out (S, perf_event__min_size), older ones read what lies behind it (tried)"},
    {Rule::kRecordTypeUnknown, "record-type-unknown", kError, kAnyPerf,
     "a kernel record of a type that Linux up to 6.19 does not write: every perf gives up on the file (S, machines__deliver_event; tried)"},
    {Rule::kRecordTypePrivate, "record-type-private", kError, kOldPerf | kInject,
     "a record of a type that is some tool's own, such as simpleperf's: perf 6.1 and 6.12 give up on the file (tried), newer perf leaves it out"},
    {Rule::kRecordTypeNewer, "record-type-newer", kError, kOldPerf | kInject | kHotspot,
     "a record type of after Linux 6.12: perf 6.1 and 6.12 give up on the file (tried); hotspot does so with COMPRESSED2"},
    {Rule::kRecordTypeNewerThan510, "record-type-newer-than-5.10", kNote, kPerf510,
     "a record type of after Linux 5.10, whose perf gives up on the file"},
    {Rule::kRecordSizeExcess, "record-size-excess", kWarning, kAnyPerf | kQuipper | kSamply,
     "the kernel counted the trailer of a KSYMBOL, BPF_EVENT or TEXT_POKE once for each event that listened (core.c, perf_event_ksymbol_output), so meaningless bytes follow it: readers look for id and time at the end of the record and find wrong ones (tried); perftape-recover writes the record with its true size"},
    {Rule::kRecordNameUnterminated, "record-name-unterminated", kError, kNewest,
     "the name has no NUL before the record ends: newer perf leaves the record out (S, perf_event__check_nul)"},
    {Rule::kRecordNameInTrailer, "record-name-in-trailer", kWarning, kAnyPerf | kHotspot | kQuipper,
     "the name has no NUL before the trailer begins, so the trailer's bytes are read as a part of it"},
    {Rule::kRecordPayloadOverrun, "record-payload-overrun", kError, kAnyPerf | kQuipper,
     "the record counts more than it holds: newer perf leaves it out or gives up (S), older ones read what lies behind it, and may crash (tried)"},
    {Rule::kRecordIdUnknown, "record-id-unknown", kError, kAnyPerf,
     "the record's id is that of no event: perf gives up on the file (S, \"no evsel found\"; tried)"},

    {Rule::kSampleOverrun, "sample-overrun", kError, kEveryReader,
     "the sample is shorter than its fields: \"can't parse sample\", and perf gives up (EV, evsel__parse_sample; tried)"},
    {Rule::kSampleBytesLeft, "sample-bytes-left", kWarning, kQuipper,
     "the sample is longer than its fields, so one of them may be misread"},
    {Rule::kSampleCpumode, "sample-cpumode", kWarning, kEveryReader,
     "the sample does not say whether it is of user or kernel mode (misc bits 0 to 2): perf finds no mapping for it (tried)"},
    {Rule::kSampleCpuBeyond, "sample-cpu-beyond", kWarning, kNewest,
     "the CPU is beyond those of the feature NRCPUS: newer perf takes it for CPU 0 (S, perf_session__deliver_event)"},
    {Rule::kSampleTaskUnknown, "sample-task-unknown", kNote, kNone,
     "pid and tid are -1: the kernel writes so for a task that is gone"},
    {Rule::kSampleTimeZero, "sample-time-zero", kWarning, kAnyPerf,
     "a sample of time 0 is delivered at once, before the processes of its time are known (ordered-events.c)"},
    {Rule::kCallchainContext, "callchain-context", kWarning, kAnyPerf,
     "an unknown PERF_CONTEXT marker in a call chain: perf throws the chain away (machine.c, add_callchain_ip; tried)"},
    {Rule::kCallchainDeferred, "callchain-deferred", kError, kOldPerf,
     "the user's part of the call chain follows in a record of Linux 6.19; perf 6.1 and 6.12 throw the whole chain away"},
    {Rule::kCallchainDeep, "callchain-deep", kNote, kNone,
     "more than 127 frames, which is where perf script cuts (PERF_MAX_STACK_DEPTH)"},

    {Rule::kMmapEmpty, "mmap-empty", kWarning, kAnyPerf,
     "a mapping of no length maps nothing; perf leaves it out (map.c)"},
    {Rule::kMmapOverflow, "mmap-overflow", kWarning, kAnyPerf,
     "start and length of a mapping together are beyond 2^64"},
    {Rule::kCommTooLong, "comm-too-long", kNote, kNone,
     "a thread's name has more than the kernel's 15 characters"},
    {Rule::kKernelMmapMissing, "kernel-mmap-missing", kWarning, kEveryReader,
     "the kernel was sampled, but no MMAP of [kernel.kallsyms] with a kernel cpumode says where it lies: no kernel symbols (tried)"},
    {Rule::kKernelMmapReference, "kernel-mmap-reference", kWarning, kAnyPerf,
     "the kernel's mapping does not name its reference symbol (\"_text\") with its address as page offset, so a kernel that moved at boot is not recognized (tried); kptr_restrict has the same effect"},
    {Rule::kSampleBeforeComm, "sample-before-comm", kWarning, kEveryReader,
     "the COMM of the sample's thread is of a later time: the sample has no command"},
    {Rule::kSampleBeforeMmap, "sample-before-mmap", kWarning, kEveryReader,
     "the mappings of the sample's process are of a later time: the sample has no binary (tried)"},
    {Rule::kSampleUnmapped, "sample-unmapped", kNote, kNone,
     "the sample's address is in no mapping of its process"},
    {Rule::kBuildIdMissing, "build-id-missing", kNote, kNone,
     "a binary that was hit has no build id, neither in its MMAP2 nor in BUILD_ID: its symbols cannot be known for certain elsewhere"},
    {Rule::kBuildIdDiffers, "build-id-differs", kWarning, kEveryReader,
     "MMAP2 and BUILD_ID give a path different build ids; readers differ in which they believe"},

    {Rule::kTimeOutOfRound, "time-out-of-round", kWarning, kAnyPerf | kHotspot,
     "the record is older than the newest one before the last round but one, so it is delivered behind newer ones: \"out of order events\" (ordered-events.c; tried)"},
    {Rule::kRoundsMissing, "rounds-missing", kWarning, kAnyPerf,
     "more than 64 MiB without a FINISHED_ROUND: perf holds all records in memory until the end"},

    {Rule::kLostRecords, "lost-records", kWarning, kNone,
     "LOST: a full ring refused records of any kind while recording"},
    {Rule::kLostSamples, "lost-samples", kWarning, kNone,
     "LOST_SAMPLES: samples were asked for and never written"},
    {Rule::kFilteredSamples, "filtered-samples", kNote, kNone,
     "LOST_SAMPLES of a BPF filter: they were not wanted"},
    {Rule::kThrottled, "throttled", kNote, kNone,
     "THROTTLE: the kernel paused an event that came too often; there are no samples of that time"},

    {Rule::kCompressedForeign, "compressed-foreign", kError, kHotspot | kQuipper,
     "COMPRESSED records: hotspot as Debian builds it and quipper pass over all that is inside (tried)"},
    {Rule::kCompressedWithoutFeature, "compressed-without-feature", kError, kAnyPerf | kSamply,
     "COMPRESSED records without the feature COMPRESSED: perf has no room to expand them into (tool.c; tried)"},
    {Rule::kCompressedTypeUnknown, "compressed-type-unknown", kWarning, kSamply,
     "the feature COMPRESSED names a method other than zstd (1)"},
    {Rule::kCompressedBufferSmall, "compressed-buffer-small", kError, kAnyPerf,
     "a COMPRESSED record expands to more than the mmap_len of the feature COMPRESSED: \"failed to decompress\" (tried)"},
    {Rule::kCompressedDamaged, "compressed-damaged", kError, kEveryReader,
     "a COMPRESSED record cannot be expanded, or what it expands to are no records: perf gives up (tried)"},

    {Rule::kPipeRecordBeforeAttr, "pipe-record-before-attr", kError, kAnyPerf | kSamply,
     "a sample comes before the first HEADER_ATTR: perf knows no event for it and gives up (tried)"},
    {Rule::kPipeAttrLate, "pipe-attr-late", kError, kSamply,
     "a HEADER_ATTR behind other records: linux-perf-data takes only those at the front"},
    {Rule::kPipeAttrUndecodable, "pipe-attr-undecodable", kError, kAnyPerf | kSamply,
     "a HEADER_ATTR is shorter than its attribute says: perf gives up (tried)"},
    {Rule::kPipeFeatureUnknown, "pipe-feature-unknown", kError, kPerf61 | Readers::kPerf612,
     "a HEADER_FEATURE above 31, or an end marker other than 32: `perf report` 6.1 and 6.12 give up, `perf script` reads (tried)"},
    {Rule::kPipeAuxtrace, "pipe-auxtrace", kError, kPerf61,
     "the trace behind an AUXTRACE record of a pipe: perf 6.1 does not step over it, takes it for records and ends with \"bad event header size\" (tried)"},
    {Rule::kPipeForeignFeatures, "pipe-foreign-features", kWarning, kPerf61,
     "a HEADER_FEATURE of a pipe of the other byte order: `perf report` 6.1 does not swap its number and gives up (\"wrong feature ID\"), `perf script` goes without (tried)"},
    {Rule::kPipeForeignCompressed, "pipe-foreign-compressed", kError, kPerf61,
     "COMPRESSED records in a pipe of the other byte order: perf 6.1 does not find the feature COMPRESSED there, so \"failed to decompress\" (tried)"},
    {Rule::kPipeForeignRaw, "pipe-foreign-raw", kError, kPerf61,
     "samples of tracepoints in a pipe of the other byte order: perf 6.1 does not swap the size of their data, so \"Can't parse sample\" (EV, evsel__parse_sample; tried)"},
    {Rule::kPipeStats, "pipe-stats", kNote, kPerf61,
     "`perf report --stats` 6.1 reads no feature of a pipe and steps over no bytes behind a record, so it fails at COMPRESSED, TRACING_DATA and AUXTRACE; `perf script` and `perf report` may read them (tried)"},
    {Rule::kIdIndexUnknown, "id-index-unknown", kError, kAnyPerf,
     "ID_INDEX has an id of no event: perf gives up (S, perf_event__process_id_index; tried)"},
    {Rule::kTracingDataUndecodable, "tracing-data-undecodable", kError, kAnyPerf,
     "TRACING_DATA does not begin with 17 08 44 \"tracing\", or ends early: \"tracing data size mismatch\" (tried)"},
    {Rule::kAuxtracePresent, "auxtrace-present", kError, kHotspot,
     "AUXTRACE records are followed by a trace that their size does not count: hotspot takes it for records (tried)"},
    {Rule::kAuxtraceIndex, "auxtrace-index", kError, kAnyPerf,
     "an entry of the feature AUXTRACE does not point to an AUXTRACE record of that size (auxtrace.c, auxtrace_queues__process_index_entry)"},
});
// clang-format on

static_assert(kRules.size() == static_cast<std::size_t>(Rule::kCount));
static_assert(std::ranges::is_sorted(kRules, {}, &RuleInfo::rule));

}  // namespace

std::string_view NameOf(Severity severity) {
  switch (severity) {
    case kNote:
      return "note";
    case kWarning:
      return "warning";
    case kError:
      return "error";
  }
  return "";
}

const RuleInfo& InfoOf(Rule rule) {
  return kRules.at(static_cast<std::size_t>(rule));
}

std::span<const RuleInfo> AllRules() {
  return kRules;
}

}  // namespace perftape::perfdata

// SPDX-License-Identifier: Apache-2.0
// The table of rules. A file and function in parentheses is the source of a rule; unless it has
// another path, it is in tools/perf/util of Linux 7. "tested" means that perf 6.1, or perfparser of
// hotspot 1.3, was run on a file made for the rule. tools/man/perftape-inspect.1.md has the same
// texts; tests/tools/man_pages_test.cc compares them.
#include "formats/perfdata/validate/rules.h"

#include <algorithm>
#include <array>

namespace perftape::perfdata {
namespace {

using enum Severity;

constexpr Readers kNone = Readers::kNone;
constexpr Readers kPerf510 = Readers::kPerf510;
constexpr Readers kPerf61 = Readers::kPerf61;
constexpr Readers kPerf73 = Readers::kPerf73;
constexpr Readers kInject = Readers::kPerfInject;
constexpr Readers kHotspot = Readers::kHotspot;
constexpr Readers kQuipper = Readers::kQuipper;
constexpr Readers kSamply = Readers::kSamply;

// clang-format off
constexpr auto kRules = std::to_array<RuleInfo>({
    {Rule::kHeaderVersion1, "header-version-1", kError, kHotspot | kQuipper | kSamply,
     "The file has the format PERFFILE, which perf wrote before Linux 2.6.36. Only perf still reads it (tested)."},
    {Rule::kHeaderVersion1AttrSize, "header-version-1-attr-size", kError, kAnyPerf,
     "In a PERFFILE, perf accepts only attributes of 64 to 104 bytes (header.c, try_all_file_abis; tested)."},
    {Rule::kHeaderSize, "header-size", kError, kEveryReader,
     "The header size is neither 104 nor 72, the size before Linux 2.6.33 (header.c, perf_file_header__read; tested)."},
    {Rule::kHeaderAttrSize, "header-attr-size", kError, kAnyPerf | kHotspot | kQuipper | kSamply,
     "An entry of the attribute table is not as long as its attribute and a section. perf uses the attribute's own size to find the next entry (header.c, read_attr; tested)."},
    {Rule::kHeaderAttrsOutside, "header-attrs-outside", kError, kEveryReader,
     "The attribute table extends beyond the end of the file (tested)."},
    {Rule::kHeaderDataEmpty, "header-data-empty", kError, kEveryReader,
     "data.size is 0, as a killed recorder leaves it. perf shows nothing and hotspot hangs (tested). perftape reads the records, and perftape-recover writes a file that all can read."},
    {Rule::kHeaderDataOutside, "header-data-outside", kError, kEveryReader,
     "The data section extends beyond the end of the file. perf reads zeros there or is killed by SIGBUS (tested)."},
    {Rule::kHeaderOverlap, "header-overlap", kError, kEveryReader,
     "The header, the attribute table and the data overlap (header.c, perf_file_header__read)."},
    {Rule::kHeaderDataUnaligned, "header-data-unaligned", kNote, kNone,
     "The records do not begin at a multiple of 8. All recorders align them."},
    {Rule::kHeaderTrailingBytes, "header-trailing-bytes", kNote, kNone,
     "The file has bytes after the last section that belong to no section. All readers ignore them (tested)."},

    {Rule::kFeatureTableCut, "feature-table-cut", kError, kPerf73 | kHotspot | kQuipper | kSamply,
     "The file ends inside the feature table, which begins at the end of the data."},
    {Rule::kFeatureOutside, "feature-outside", kError, kPerf73 | kHotspot | kQuipper | kSamply,
     "The section of a feature extends beyond the end of the file. hotspot hangs (tested), and newer perf does not open the file."},
    {Rule::kFeatureUndecodable, "feature-undecodable", kError, kPerf73 | kQuipper,
     "A feature declares more data than its section contains. Newer perf does not open the file; perf 6.1 ignores the feature (header.c, perf_header__process_sections; tested)."},
    {Rule::kFeatureEventDescCount, "feature-event-desc-count", kError, kAnyPerf,
     "EVENT_DESC declares more events than its section can contain. perf 6.1 allocates memory for all of them and crashes (tested)."},
    {Rule::kFeatureEventDescDiffers, "feature-event-desc-differs", kWarning, kSamply,
     "EVENT_DESC and the attribute table contain different events. linux-perf-data uses EVENT_DESC."},
    {Rule::kFeatureUnknown, "feature-unknown", kError, kInject,
     "perf ignores an unknown feature bit, but `perf inject` of perf 6.1 and 6.12 can crash on the file (tested: bits 32, 60, 128)."},
    {Rule::kFeaturePmuMappingsEmpty, "feature-pmu-mappings-empty", kError, kQuipper,
     "PMU_MAPPINGS has no entry. quipper refuses it."},
    {Rule::kFeatureTopologyWithoutCpus, "feature-topology-without-cpus", kError, kQuipper,
     "CPU_TOPOLOGY cannot be read without the number of CPUs in NRCPUS. quipper refuses it."},
    {Rule::kFeatureMissing, "feature-missing", kNote, kNone,
     "A feature that readers use is missing. hotspot unwinds by ARCH, and old `perf script` crashed without it. Newer perf assumes 4096 CPUs without NRCPUS."},

    {Rule::kEventNone, "event-none", kError, kAnyPerf | kHotspot | kQuipper,
     "No attribute describes an event (tested). linux-perf-data reads the events from EVENT_DESC."},
    {Rule::kEventAttrNewer, "event-attr-newer", kError, kOldPerf | kPerf73 | kInject,
     "An attribute in a file is larger than the largest that the reading perf accepts: 120 bytes for 5.10, 128 for 6.1, 136 for 6.12, 144 for 7.3 (header.c, read_attr; tested)."},
    {Rule::kEventAttrNewerThan510, "event-attr-newer-than-5.10", kNote, kPerf510,
     "perf before 5.13 refuses an attribute of 128 bytes."},
    {Rule::kEventIdsOutside, "event-ids-outside", kError, kEveryReader,
     "The ids of an event are beyond the end of the file (tested)."},
    {Rule::kEventIdsMissing, "event-ids-missing", kError, kAnyPerf | kSamply,
     "One of several events has no id, so its records have no event. perf stops at the first one (evlist.c, evlist__event2evsel; tested)."},
    {Rule::kEventIdDuplicate, "event-id-duplicate", kWarning, kAnyPerf | kSamply,
     "Two events have the same id. All their records count for one of them."},
    {Rule::kEventIdUnrecorded, "event-id-unrecorded", kError, kAnyPerf | kSamply,
     "One of several events records neither IDENTIFIER nor ID. perf prints \"non matching sample_type\" (evlist.c, evlist__valid_sample_type; tested)."},
    {Rule::kEventIdPosition, "event-id-position", kError, kAnyPerf | kSamply,
     "The id is not at the same offset in the records of all events. perf prints \"non matching sample_type\" (evlist.c, evlist__valid_sample_type)."},
    {Rule::kEventSampleIdAllDiffers, "event-sample-id-all-differs", kError, kAnyPerf | kSamply,
     "Some events have sample_id_all and some do not. perf prints \"non matching sample_id_all\" (evlist.c, evlist__valid_sample_id_all)."},
    {Rule::kEventTrailerDiffers, "event-trailer-differs", kError, kHotspot,
     "The events have different trailers, and hotspot reads all of them like those of the first event. It misreads mappings without a message (tested)."},
    {Rule::kEventReadWithoutId, "event-read-without-id", kError, kAnyPerf,
     "Samples contain counters (PERF_SAMPLE_READ) without their ids. perf prints \"non matching read_format\" (evlist.c, evlist__valid_read_format)."},
    {Rule::kEventTracepointWithoutFormat, "event-tracepoint-without-format", kError, kAnyPerf,
     "A file contains a tracepoint but no TRACING_DATA. perf prints \"incompatible file format\" (header.c, evlist__prepare_tracepoint_events; tested)."},
    {Rule::kEventSampleTypeUnknown, "event-sample-type-unknown", kWarning, kEveryReader,
     "sample_type has a bit that no reader supports. If the bit adds a field, all later fields are misread."},
    {Rule::kEventRegsWithoutMask, "event-regs-without-mask", kWarning, kEveryReader,
     "Registers are sampled, but the mask of registers is empty. Nothing can be unwound."},
    {Rule::kEventIpMissing, "event-ip-missing", kWarning, kEveryReader,
     "Samples have no IP, so their addresses are unknown. `perf script` does not print an ip if asked to (tested)."},
    {Rule::kEventTimeMissing, "event-time-missing", kWarning, kAnyPerf | kHotspot,
     "Samples have no TIME. Records are read in file order, independently of their CPU (tested)."},
    {Rule::kEventTidMissing, "event-tid-missing", kWarning, kEveryReader,
     "Samples have no TID. They belong to no process, and no mapping is found for them."},
    {Rule::kEventTrailerMissing, "event-trailer-missing", kNote, kNone,
     "Without sample_id_all, process records have no time. perf processes them when it reads them."},

    {Rule::kRecordSizeBelowHeader, "record-size-below-header", kError, kEveryReader,
     "A record size is below 8, so the offset of the next record is unknown (session.c, reader__read_event; tested)."},
    {Rule::kRecordCut, "record-cut", kError, kEveryReader,
     "The data ends inside a record. In a pipe stream, perf reads all records before it (tested)."},
    {Rule::kRecordSizeAlignment, "record-size-alignment", kError, kPerf73,
     "The size is not a multiple of 8. Newer perf stops (session.c, perf_session__process_event); perf 6.1 reads the record (tested)."},
    {Rule::kRecordTooSmall, "record-too-small", kError, kAnyPerf,
     "The record is shorter than the shortest record of its type. Newer perf ignores it (session.c, perf_event__min_size). Older versions read the bytes after it (tested)."},
    {Rule::kRecordTypeUnknown, "record-type-unknown", kError, kAnyPerf,
     "The record has a kernel type that Linux up to 6.19 does not write. Every perf stops (session.c, machines__deliver_event; tested)."},
    {Rule::kRecordTypePrivate, "record-type-private", kError, kOldPerf | kInject,
     "The record has a type of another tool, for example simpleperf. perf 6.1 and 6.12 stop (tested); newer perf ignores the record."},
    {Rule::kRecordTypeNewer, "record-type-newer", kError, kOldPerf | kInject | kHotspot,
     "The record has a type that is newer than Linux 6.12. perf 6.1 and 6.12 stop (tested). hotspot stops at COMPRESSED2."},
    {Rule::kRecordTypeNewerThan510, "record-type-newer-than-5.10", kNote, kPerf510,
     "The record has a type that is newer than Linux 5.10. perf 5.10 stops."},
    {Rule::kRecordSizeExcess, "record-size-excess", kWarning, kAnyPerf | kQuipper | kSamply,
     "The kernel counted the trailer of a KSYMBOL, BPF_EVENT or TEXT_POKE once for each event that received it (kernel/events/core.c, perf_event_ksymbol_output). Therefore meaningless bytes follow the trailer. Readers look for id and time at the end of the record and find wrong ones (tested). perftape-recover writes the record with its true size."},
    {Rule::kRecordNameUnterminated, "record-name-unterminated", kError, kPerf73,
     "The name has no NUL before the end of the record. Newer perf ignores the record (session.c, perf_event__check_nul)."},
    {Rule::kRecordNameInTrailer, "record-name-in-trailer", kWarning, kAnyPerf | kHotspot | kQuipper,
     "The name has no NUL before the trailer, so bytes of the trailer are read as part of the name."},
    {Rule::kRecordPayloadOverrun, "record-payload-overrun", kError, kAnyPerf | kQuipper,
     "The record declares more entries than it contains. Newer perf ignores it or stops (session.c). Older versions read the bytes after it, and can crash (tested)."},
    {Rule::kRecordIdUnknown, "record-id-unknown", kError, kAnyPerf,
     "No event has the id of the record. perf stops (session.c, \"no evsel found\"; tested)."},

    {Rule::kSampleOverrun, "sample-overrun", kError, kEveryReader,
     "The sample is shorter than its fields. perf prints \"can't parse sample\" and stops (evsel.c, evsel__parse_sample; tested)."},
    {Rule::kSampleBytesLeft, "sample-bytes-left", kWarning, kQuipper,
     "The sample is longer than its fields, so a field may be read wrong."},
    {Rule::kSampleCpumode, "sample-cpumode", kWarning, kEveryReader,
     "The sample has no user or kernel mode (misc bits 0 to 2). perf finds no mapping for it (tested)."},
    {Rule::kSampleCpuBeyond, "sample-cpu-beyond", kWarning, kPerf73,
     "The CPU number is beyond the CPUs in the feature NRCPUS. Newer perf reads it as CPU 0 (session.c, perf_session__deliver_event)."},
    {Rule::kSampleTaskUnknown, "sample-task-unknown", kNote, kNone,
     "pid and tid are -1. The kernel writes this for a task that has ended."},
    {Rule::kSampleTimeZero, "sample-time-zero", kWarning, kAnyPerf,
     "perf delivers a sample of time 0 at once, before the processes of its time are known (ordered-events.c)."},
    {Rule::kCallchainContext, "callchain-context", kWarning, kAnyPerf,
     "A call chain contains an unknown PERF_CONTEXT marker. perf discards the chain (machine.c, add_callchain_ip; tested)."},
    {Rule::kCallchainDeferred, "callchain-deferred", kError, kOldPerf | kHotspot | kSamply,
     "The user part of the call chain follows in a record of Linux 6.19. perf 6.1 and 6.12 discard the whole chain; hotspot and samply lose the user part (tested). perftape-convert --compat 6.1 joins the parts."},
    {Rule::kCallchainDeep, "callchain-deep", kNote, kNone,
     "The call chain has more than 127 frames. `perf script` cuts it there (PERF_MAX_STACK_DEPTH)."},
    {Rule::kSampleOffCpuRaw, "sample-off-cpu-raw", kError, kOldPerf | kHotspot | kSamply,
     "Process, stack and time of an off-CPU sample are in RAW, where perf writes them since Linux 6.16. Other readers show them as samples of process 0 (tested). perftape-convert --compat 6.1 writes them into the usual fields."},
    {Rule::kSampleVectorRegisters, "sample-vector-registers", kError, kEveryReader,
     "The sample has vector registers, which kernels after Linux 7.3 write. Readers up to perf 7.3 misread the fields after them, and perf 6.1 stops (tested). perftape-convert --compat 6.1 removes them."},

    {Rule::kMmapEmpty, "mmap-empty", kWarning, kAnyPerf,
     "The mapping has length 0. perf ignores it (map.c)."},
    {Rule::kMmapOverflow, "mmap-overflow", kWarning, kAnyPerf,
     "The sum of start and length of the mapping exceeds 2^64."},
    {Rule::kCommTooLong, "comm-too-long", kNote, kNone,
     "The name of the thread is longer than the kernel's 15 characters."},
    {Rule::kKernelMmapMissing, "kernel-mmap-missing", kWarning, kEveryReader,
     "The kernel was sampled, but no MMAP of [kernel.kallsyms] with a kernel cpumode gives its address. There are no kernel symbols (tested)."},
    {Rule::kKernelMmapReference, "kernel-mmap-reference", kWarning, kAnyPerf,
     "The mapping of the kernel does not name its reference symbol (\"_text\") with its address as page offset. A kernel that moved at boot is not recognized (tested). kptr_restrict has the same effect."},
    {Rule::kKernelNames, "kernel-names", kNote, kNone,
     "Kernel code was sampled. On a machine with another kernel, perf 7.3 names it with the /proc/kallsyms of the running kernel without a warning, although the build id differs; perf 6.1 prints addresses (tested). The options -k and --kallsyms of perf take the files of the recorded kernel."},
    {Rule::kSampleBeforeComm, "sample-before-comm", kWarning, kEveryReader,
     "The COMM of the sample's thread has a later time. The sample has no command."},
    {Rule::kSampleBeforeMmap, "sample-before-mmap", kWarning, kEveryReader,
     "The mappings of the sample's process have a later time. The sample has no binary (tested)."},
    {Rule::kSampleUnmapped, "sample-unmapped", kNote, kNone,
     "The address of the sample is in no mapping of its process."},
    {Rule::kBuildIdMissing, "build-id-missing", kNote, kNone,
     "A sampled binary has no build id in its MMAP2 or in BUILD_ID. Another machine cannot identify its symbols reliably."},
    {Rule::kBuildIdDiffers, "build-id-differs", kWarning, kEveryReader,
     "MMAP2 and BUILD_ID contain different build ids for one path. Readers differ in which one they use."},

    {Rule::kTimeOutOfRound, "time-out-of-round", kWarning, kAnyPerf | kHotspot,
     "The record is older than the newest record before the last round but one. It is delivered after newer ones, and perf prints \"out of order events\" (ordered-events.c; tested)."},
    {Rule::kRoundsMissing, "rounds-missing", kWarning, kAnyPerf,
     "More than 64 MiB of records have no FINISHED_ROUND. perf holds all records in memory until the end."},

    {Rule::kLostRecords, "lost-records", kWarning, kNone,
     "LOST: a full ring buffer refused records of any type while recording."},
    {Rule::kLostSamples, "lost-samples", kWarning, kNone,
     "LOST_SAMPLES: samples were requested but never written."},
    {Rule::kFilteredSamples, "filtered-samples", kNote, kNone,
     "LOST_SAMPLES of a BPF filter: the filter removed these samples."},
    {Rule::kThrottled, "throttled", kNote, kNone,
     "THROTTLE: the kernel paused an event that was too frequent. There are no samples of that time."},

    {Rule::kCompressedForeign, "compressed-foreign", kError, kHotspot | kQuipper,
     "COMPRESSED records: quipper, and hotspot as Debian builds it, ignore all records in them (tested)."},
    {Rule::kCompressedWithoutFeature, "compressed-without-feature", kError, kAnyPerf | kSamply,
     "The file has COMPRESSED records but no feature COMPRESSED. perf has no buffer to expand them (tool.c; tested)."},
    {Rule::kCompressedTypeUnknown, "compressed-type-unknown", kWarning, kSamply,
     "The feature COMPRESSED has a method other than zstd (1)."},
    {Rule::kCompressedBufferSmall, "compressed-buffer-small", kError, kAnyPerf,
     "A COMPRESSED record expands to more than the mmap_len of the feature COMPRESSED. perf prints \"failed to decompress\" (tested)."},
    {Rule::kCompressedDamaged, "compressed-damaged", kError, kEveryReader,
     "A COMPRESSED record cannot be expanded, or its expanded data are not records. perf stops (tested)."},

    {Rule::kPipeRecordBeforeAttr, "pipe-record-before-attr", kError, kAnyPerf | kSamply,
     "A sample comes before the first HEADER_ATTR. perf has no event for it and stops (tested)."},
    {Rule::kPipeAttrLate, "pipe-attr-late", kError, kSamply,
     "A HEADER_ATTR comes after other records. linux-perf-data reads only the first ones."},
    {Rule::kPipeAttrUndecodable, "pipe-attr-undecodable", kError, kAnyPerf | kSamply,
     "A HEADER_ATTR is shorter than its attribute declares. perf stops (tested)."},
    {Rule::kPipeFeatureUnknown, "pipe-feature-unknown", kError, kPerf61 | Readers::kPerf612,
     "A HEADER_FEATURE is above 31, or an end marker is not 32. `perf report` 6.1 and 6.12 stop; `perf script` reads the stream. perf 7.3 knows the features up to 34, and warns once of a higher one (tested)."},
    {Rule::kPipeAuxtrace, "pipe-auxtrace", kError, kPerf61,
     "An AUXTRACE record of a pipe is followed by its trace. perf 6.1 reads the trace as records and stops with \"bad event header size\" (tested)."},
    {Rule::kPipeForeignFeatures, "pipe-foreign-features", kWarning, kPerf61,
     "A pipe of the other byte order has a HEADER_FEATURE. `perf report` 6.1 does not swap its number and stops (\"wrong feature ID\"); `perf script` ignores the feature (tested)."},
    {Rule::kPipeForeignCompressed, "pipe-foreign-compressed", kError, kPerf61,
     "A pipe of the other byte order has COMPRESSED records. perf 6.1 does not find the feature COMPRESSED and prints \"failed to decompress\" (tested)."},
    {Rule::kPipeForeignRaw, "pipe-foreign-raw", kError, kPerf61,
     "A pipe of the other byte order has samples of tracepoints. perf 6.1 does not swap their data size and prints \"Can't parse sample\" (evsel.c, evsel__parse_sample; tested)."},
    {Rule::kPipeStats, "pipe-stats", kNote, kPerf61,
     "`perf report --stats` 6.1 reads no feature of a pipe and skips no bytes after a record. It fails at COMPRESSED, TRACING_DATA and AUXTRACE. `perf script` and `perf report` may read these (tested)."},
    {Rule::kIdIndexUnknown, "id-index-unknown", kError, kAnyPerf,
     "ID_INDEX contains an id that belongs to no event. perf stops (session.c, perf_event__process_id_index; tested)."},
    {Rule::kTracingDataUndecodable, "tracing-data-undecodable", kError, kAnyPerf,
     "TRACING_DATA does not begin with 17 08 44 \"tracing\", or it ends early. perf prints \"tracing data size mismatch\" (tested)."},
    {Rule::kAuxtracePresent, "auxtrace-present", kError, kHotspot,
     "AUXTRACE records are followed by a trace that their size does not include. hotspot reads the trace as records (tested)."},
    {Rule::kAuxtraceIndex, "auxtrace-index", kError, kAnyPerf,
     "An entry of the feature AUXTRACE does not point to an AUXTRACE record of that size (auxtrace.c, auxtrace_queues__process_index_entry)."},
});
// clang-format on

static_assert(kRules.size() == static_cast<std::size_t>(Rule::kNumberOfRules));
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

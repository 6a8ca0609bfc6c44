// SPDX-License-Identifier: Apache-2.0
// What `go tool pprof` makes of the files that we write. Skipped where there is no go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "convert/export/to_pprof.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Standard output and error of a shell command.
std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  if (pipe == nullptr) return "cannot run " + command;
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    output.append(buffer.data(), size);
  }
  return output;
}

class GoPprof : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("go version >/dev/null 2>&1") != 0) GTEST_SKIP() << "go is not on the PATH";
  }

  // `go tool pprof` of what is made of `profile`.
  std::string Pprof(const convert::Profile& profile, const std::string& arguments) {
    const std::filesystem::path file =
        directory_.Write("x.pb.gz", convert::EncodePprof(profile, {}).value());
    return OutputOf("HOME=" + directory_.path().string() + " go tool pprof -symbolize=none " +
                    arguments + " " + file.string());
  }

 private:
  TempDir directory_;
};

// Ten samples of two functions, by a thread of the kernel's idle process among others.
convert::Profile TenSamples() {
  convert::ProfileMaker made;
  const convert::MappingId app = made.Map("/usr/bin/app");
  const convert::MappingId kernel = made.Map("[kernel.kallsyms]", convert::MappingType::kKernel);
  const convert::LocationId main = made.Frame(app, 0x10, {"main"});
  const convert::LocationId push =
      made.Frame(app, 0x20, {"std::vector<int>::push_back(int const&)"});
  const convert::LocationId idle = made.Frame(kernel, 0x30, {"default_idle"});
  const convert::EventId clock = made.Counts("cpu-clock", "nanoseconds", 10'000'000);
  made.Hit(made.Calls({main, push}), made.Runs("app", 10, 11), clock, 6, 60'000'000);
  made.Hit(made.Calls({main}), made.Runs("app", 10, 12), clock, 3, 30'000'000);
  made.Hit(made.Calls({idle}), made.Runs("swapper", 0, 0), clock, 1, 10'000'000);
  made.builder.SetMetadata({.start_time_ns = 1'700'000'000'000'000'000,
                            .duration_ns = 1'000'000'000,
                            .comments = {"hostname: box"}});
  return made.Make();
}

TEST_F(GoPprof, ShowsTotalsAndWholeNames) {
  const std::string top = Pprof(TenSamples(), "-top");
  EXPECT_THAT(top, AllOf(HasSubstr("File: app"), HasSubstr("Type: cpu-clock_event"),
                         HasSubstr("Duration: 1s, Total samples = 100ms")));
  EXPECT_THAT(top, ContainsRegex("60ms +60.00% +60.00% +60ms +60.00% +std::vector<int>::push_back"
                                 "\\(int const&\\)"));
  EXPECT_THAT(top, ContainsRegex("30ms +30.00% +90.00% +90ms +90.00% +main"));
  EXPECT_THAT(top, ContainsRegex("10ms +10.00% +100% +10ms +10.00% +default_idle"));
}

TEST_F(GoPprof, CountsSamplesIfAsked) {
  const std::string top = Pprof(TenSamples(), "-top -sample_index=cpu-clock_sample");
  EXPECT_THAT(top, ContainsRegex("of 10 total|accounting for 10, 100%"));
  EXPECT_THAT(top, ContainsRegex(" 6 +60.00%"));
}

TEST_F(GoPprof, ReadsTheWholeFileRaw) {
  const std::string raw = Pprof(TenSamples(), "-raw");
  EXPECT_THAT(raw, AllOf(HasSubstr("PeriodType: cpu-clock nanoseconds"),
                         HasSubstr("Period: 10000000"), HasSubstr("hostname: box"),
                         HasSubstr("cpu-clock_sample/count cpu-clock_event/nanoseconds")));
  EXPECT_THAT(raw,
              AllOf(ContainsRegex("6 +60000000: +[0-9]+ [0-9]+"), HasSubstr("comm:[swapper]"),
                    HasSubstr("0x1000/0x2000/0x0 /usr/bin/app"), HasSubstr("[kernel.kallsyms]")));
}

TEST_F(GoPprof, KeepsLabelsOfZero) {
  EXPECT_THAT(Pprof(TenSamples(), "-raw"),
              AllOf(ContainsRegex("pid:\\[0 pid\\]"), ContainsRegex("tid:\\[0 tid\\]")));
}

TEST_F(GoPprof, DoesNotReportAMissingMainBinary) {
  EXPECT_THAT(Pprof(TenSamples(), "-top"), Not(HasSubstr("not available")));
}

TEST_F(GoPprof, ReadsNamesThatAreNotUtf8) {
  convert::ProfileMaker made;
  made.Hit(made.Calls({"bad\xff name"}), made.Runs("c\xc3omm"), made.Counts("cycles"), 1, 1);
  EXPECT_THAT(Pprof(made.Make(), "-top"), HasSubstr("bad\xef\xbf\xbd name"));
}

}  // namespace
}  // namespace perftape

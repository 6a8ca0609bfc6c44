// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/index_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "tools/common/cli/progress.h"
#include "tools/serve/event_names.h"

namespace perftape::serve {
namespace {

constexpr std::string_view kPageHead =
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>perftape-serve</title>
<style>
body { max-width: 56rem; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { opacity: .75; }
dd { margin: 0; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .3rem 1.2rem .3rem 0; border-bottom: 1px solid #8886; }
th { font-weight: normal; opacity: .75; }
tbody th { font-weight: bold; opacity: 1; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; }
label { display: grid; }
input, select, button { font: inherit; padding: .2rem .5rem; max-width: 90vw; }
pre { overflow-x: auto; padding: .6rem .8rem; border: 1px solid #8886; }
.table { overflow-x: auto; }
.ready { color: light-dark(#176b2c, #7ddc94); }
.problem { color: light-dark(#b3261e, #ff9d94); }
</style>
</head>
<body>
<h1>perftape-serve</h1>
)";

constexpr std::string_view kPageEnd = R"(<h2>Metrics and state</h2>
<p><a href="/metrics">Metrics</a> for Prometheus, <a href="/healthz">health</a>, <a
href="/readyz">readiness</a></p>
<h2>In a terminal</h2>
<p>ADDRESS is that of this page.</p>
<pre>go tool pprof http://ADDRESS/debug/pprof/profile?seconds=10
curl 'http://ADDRESS/flamegraph/collapsed?since=5m' | flamegraph.pl &gt; node.svg
curl 'http://ADDRESS/flamegraph?since=5m&amp;unit=nginx.service' &gt; nginx.html
curl -o perf.data 'http://ADDRESS/perf.data?seconds=10' &amp;&amp; perftape-report</pre>
</body>
</html>
)";

std::string EscapedForHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Returns a name as it is in a path or a parameter (RFC 3986, section 2.3).
std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:,";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.contains(c)) {
      encoded += c;
    } else {
      AppendFormat(encoded, "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

// Returns "1 h 20 min", of which the second part may be missing.
std::string TimeText(std::chrono::nanoseconds time) {
  const auto seconds = std::max<std::int64_t>(time.count() / kNsPerSecond, 0);
  const auto parts = [](std::int64_t large, std::string_view unit, std::int64_t small,
                        std::string_view small_unit) {
    return small == 0 ? fmt::format("{} {}", large, unit)
                      : fmt::format("{} {} {} {}", large, unit, small, small_unit);
  };
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return parts(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86400) return parts(seconds / 3600, "h", seconds % 3600 / 60, "min");
  return parts(seconds / 86400, "d", seconds % 86400 / 3600, "h");
}

std::string AgoText(std::uint64_t then_ns, std::uint64_t now_ns) {
  return TimeText(std::chrono::nanoseconds(now_ns - std::min(then_ns, now_ns)));
}

void AppendState(const IndexFacts& facts, std::string& page) {
  page += "<dl>\n<dt>State</dt><dd>";
  if (facts.problem.empty()) {
    page += "<span class=\"ready\">ready</span>";
  } else {
    AppendFormat(page, "<span class=\"problem\">not ready: {}</span>",
                 EscapedForHtml(facts.problem));
  }
  page += "</dd>\n";
  if (facts.recorded_since_ns) {
    AppendFormat(page, "<dt>Recording</dt><dd>{}, for {}</dd>\n",
                 EscapedForHtml(Joined(facts.events, ", ")),
                 AgoText(*facts.recorded_since_ns, facts.now_ns));
  }
  const HistoryCounts& history = facts.history;
  if (history.windows == 0) {
    page += "<dt>Kept</dt><dd>nothing yet: the first window has not ended</dd>\n";
  } else {
    AppendFormat(page, "<dt>Kept</dt><dd>the last {}, at most {} ({} in {})</dd>\n",
                 AgoText(history.start_ns, facts.now_ns), TimeText(facts.history_span),
                 cli::ShortBytes(history.bytes), Counted(history.windows, "window"));
  }
  page += "</dl>\n";
}

void AppendTimes(std::chrono::nanoseconds span, std::string& page) {
  struct Choice {
    std::string_view value, text;
    std::chrono::nanoseconds time;
  };
  using std::chrono::minutes;
  constexpr std::array kChoices = {
      Choice{"1m", "last minute", minutes(1)}, Choice{"5m", "last 5 minutes", minutes(5)},
      Choice{"15m", "last 15 minutes", minutes(15)}, Choice{"1h", "last hour", minutes(60)}};
  page += "<label>Time <select name=\"since\">";
  for (const Choice& choice : kChoices) {
    if (choice.time < span) {
      AppendFormat(page, "<option value=\"{}\">{}</option>", choice.value, choice.text);
    }
  }
  AppendFormat(page, "<option value=\"{}s\">all, {}</option></select></label>\n",
               span.count() / kNsPerSecond + 1, TimeText(span));
}

void AppendForm(const IndexFacts& facts, std::string& page) {
  page +=
      "<h2>Flame graph</h2>\n<form action=\"/flamegraph\" method=\"get\">\n"
      "<label>Event <select name=\"event\"><option value=\"\">all events</option>";
  for (const std::string& event : facts.events) {
    AppendFormat(page, "<option value=\"{}\">{}</option>", EscapedForHtml(RequestNameOf(event)),
                 EscapedForHtml(event));
  }
  page += "</select></label>\n";
  AppendTimes(facts.history_span, page);
  page +=
      "<label>Namespace of a pod <input name=\"namespace\" size=\"14\"></label>\n"
      "<label>Pod <input name=\"pod\" size=\"14\"></label>\n"
      "<button>Flame graph</button>\n"
      "<button formaction=\"/flamegraph/collapsed\">Folded stacks</button>\n</form>\n";
}

void AppendEvents(const IndexFacts& facts, std::string& page) {
  page +=
      "<h2>Events</h2>\n<div class=\"table\"><table>\n<thead><tr><th>Event</th><th>Flame graph</th>"
      "<th>pprof</th><th>Folded stacks</th><th>perf.data</th></tr></thead>\n<tbody>\n";
  for (const std::string& event : facts.events) {
    AppendFormat(page,
                 "<tr><th scope=\"row\">{0}</th>"
                 "<td><a href=\"/flamegraph?event={1}&amp;since=1m\">last minute</a>, "
                 "<a href=\"/flamegraph?event={1}\">all</a></td>"
                 "<td><a href=\"/debug/pprof/{1}?since=1m\">last minute</a>, "
                 "<a href=\"/debug/pprof/{1}?seconds=5\">next 5 s</a></td>"
                 "<td><a href=\"/flamegraph/collapsed?event={1}&amp;since=1m\">last minute</a></td>"
                 "<td><a href=\"/perf.data?event={1}&amp;seconds=5\">next 5 s</a></td></tr>\n",
                 EscapedForHtml(event), PercentEncoded(RequestNameOf(event)));
  }
  page += "</tbody>\n</table></div>\n";
}

}  // namespace

std::string IndexPage(const IndexFacts& facts) {
  std::string page(kPageHead);
  AppendState(facts, page);
  if (!facts.events.empty()) {
    AppendForm(facts, page);
    AppendEvents(facts, page);
  }
  page += kPageEnd;
  return page;
}

}  // namespace perftape::serve

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checks: each must refuse a wrong tree and accept a correct one."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
APACHE = "// SPDX-License-Identifier: Apache-2.0\n"


class LintCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def run_check(self, check, *arguments, **environment):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
        done = subprocess.run([HERE / check, *(arguments or [self.root])], text=True,
                              capture_output=True, env=environment)
        return done.returncode, done.stdout + done.stderr

    def refuses(self, check, complaint, *arguments, **environment):
        status, output = self.run_check(check, *arguments, **environment)
        self.assertEqual(status, 1, output)
        self.assertIn(complaint, output)

    def accepts(self, check, *arguments, **environment):
        status, output = self.run_check(check, *arguments, **environment)
        self.assertEqual(status, 0, output)


class Arrows(LintCase):
    def include(self, path, included):
        self.write(path, f"#include {included}\n")

    def test_accepts_the_arrows_of_the_tree(self):
        for path in ("formats/base/a.h", "formats/elf/a.h", "convert/a.h", "bpf/wire.h"):
            self.write(path, "")
        self.include("formats/pprof/a.cc", '"formats/base/a.h"')
        self.include("convert/a.cc", '"formats/elf/a.h"')
        self.include("record/a.cc", '"bpf/wire.h"')
        self.include("tools/a.cc", '"convert/a.h"')
        self.include("tests/record/a_test.cc", '"convert/a.h"')
        self.include("record/bpf/bpf_session.cc", '"on_cpu.skel.h"')
        self.accepts("check_arrows.py")

    def test_refuses_includes_that_point_upwards_or_sideways(self):
        for path in ("formats/base/a.h", "formats/elf/a.h", "convert/a.h", "bpf/maps.h"):
            self.write(path, "")
        for path, included in (("formats/elf/b.cc", "convert/a.h"),
                               ("formats/base/b.cc", "formats/elf/a.h"),
                               ("formats/pprof/b.cc", "formats/elf/a.h"),
                               ("record/b.cc", "convert/a.h"), ("record/b.cc", "bpf/maps.h"),
                               ("convert/b.cc", "bpf/maps.h")):
            self.include(path, f'"{included}"')
            self.refuses("check_arrows.py", f'{path}: includes "{included}"')
            (self.root / path).unlink()

    def test_refuses_a_tool_that_includes_another(self):
        for path in ("tools/common/cli/a.h", "tools/common/recording/a.h", "tools/record/a.h",
                     "tools/serve/a.h", "tools/serve/client/a.h"):
            self.write(path, "")
        self.include("tools/serve.cc", '"tools/serve/a.h"')
        self.include("tools/serve/b.cc", '"tools/common/recording/a.h"')
        self.include("tools/serve/push/b.cc", '"tools/serve/client/a.h"')
        self.include("tools/common/recording/b.cc", '"tools/common/cli/a.h"')
        self.accepts("check_arrows.py")
        for path, included in (("tools/serve/c.cc", "tools/record/a.h"),
                               ("tools/serve/push/c.cc", "tools/serve/a.h"),
                               ("tools/serve/cri/c.cc", "tools/serve/a.h"),
                               ("tools/common/cli/c.cc", "tools/common/recording/a.h"),
                               ("tools/common/recording/c.cc", "tools/record/a.h")):
            self.include(path, f'"{included}"')
            self.refuses("check_arrows.py", f'{path}: includes "{included}"')
            (self.root / path).unlink()

    def test_refuses_includes_of_a_higher_floor_of_record(self):
        for path in ("record/output/a.h", "record/bpf/a.h", "record/recorder_options.h"):
            self.write(path, "")
        self.include("record/output/b.cc", '"record/bpf/a.h"')
        self.include("record/b.cc", '"record/output/a.h"')
        self.accepts("check_arrows.py")
        for path, included in (("record/bpf/b.cc", "record/output/a.h"),
                               ("record/output/c.cc", "record/recorder_options.h")):
            self.include(path, f'"{included}"')
            self.refuses("check_arrows.py", "which is on a higher floor")
            (self.root / path).unlink()

    def test_refuses_an_include_in_the_middle_of_a_bpf_header(self):
        self.write("bpf/wire.h", "")
        self.write("bpf/a.bpf.h", '#include "bpf/wire.h"\nstruct a {\n};\n')
        self.accepts("check_arrows.py")
        self.write("bpf/a.bpf.h", 'struct a {\n};\n#include "bpf/wire.h"\n')
        self.refuses("check_arrows.py", "below its first definition")

    def test_refuses_an_outside_library_in_another_folder(self):
        for path, library in (("convert/a.cc", "<libelf.h>"), ("record/a.cc", "<bpf/libbpf.h>"),
                              ("record/a.cc", '"on_cpu.skel.h"'), ("tools/a.cc", "<zstd.h>"),
                              ("convert/a.h", "<boost/program_options.hpp>"),
                              ("formats/elf/a.cc", "<protozero/pbf_reader.hpp>"),
                              ("formats/elf/a.cc", "<libiberty/demangle.h>")):
            self.include(path, library)
            self.refuses("check_arrows.py", "which is met only in")
            (self.root / path).unlink()

    def test_refuses_a_circle(self):
        self.include("convert/a.h", '"convert/b.h"')
        self.include("convert/b.h", '"convert/a.h"')
        self.refuses("check_arrows.py", "convert/a.h -> convert/b.h -> convert/a.h")

    def test_refuses_a_missing_header(self):
        self.include("convert/a.cc", '"convert/gone.h"')
        self.refuses("check_arrows.py", "which is not there")


class Alone(LintCase):
    def test_accepts_a_header_that_includes_all_it_uses(self):
        self.write("convert/a.h", "#pragma once\n#include <string>\nstd::string a();\n")
        self.accepts("check_alone.py")

    def test_refuses_a_header_that_needs_its_includer(self):
        self.write("convert/a.h", "#pragma once\nstruct A { std::string name; };\n")
        self.refuses("check_alone.py", "convert/a.h does not compile alone")

    def test_refuses_a_header_without_a_guard(self):
        self.write("convert/a.h", "struct A {};\n")
        self.refuses("check_alone.py", "redefinition")

    def test_compiles_each_source_by_the_definitions_of_the_build(self):
        commands = str(self.root / "compile_commands.json")
        self.write("compile_commands.json", '[{"command": "g++ -DVERSION=1 -c unity_0.cc"}]')
        self.write("convert/a.h", "#pragma once\ninline constexpr int kSize = 8;\n")
        self.write("convert/a.cc", '#include "convert/a.h"\nint Size() { return kSize + VERSION; }\n')
        self.accepts("check_alone.py", str(self.root), "--commands", commands)
        self.write("convert/b.cc", "int Size() { return kSize; }\n")
        self.refuses("check_alone.py", "convert/b.cc does not compile alone", str(self.root), "--commands", commands)

    def test_does_not_trust_its_cache_after_an_included_header_changed(self):
        cache = str(self.root / "cache.json")
        self.write("convert/b.h", "#pragma once\nstruct B {};\n")
        self.write("convert/a.h", '#pragma once\n#include "convert/b.h"\nstruct A : B {};\n')
        self.accepts("check_alone.py", str(self.root), "--cache", cache)
        self.write("convert/b.h", "#pragma once\n")
        self.refuses("check_alone.py", "convert/a.h does not", str(self.root), "--cache", cache)


class Names(LintCase):
    def setUp(self):
        super().setUp()
        self.write("formats/a.h", "namespace perftape {\nstruct Amount { int value; };\nclass Other;\n"
                                  "inline constexpr int kSize = 8;\nint Twice(int value);\n}\n")

    def test_accepts_names_that_are_included_or_declared(self):
        self.write("formats/b.h", '#include "formats/a.h"\nAmount Sum();\n')
        self.write("formats/c.h", '#include "formats/b.h"\nAmount Double();  // see std::vector\n')
        self.write("formats/d.h", "struct Amount;\nAmount& Half();\n")
        self.write("formats/e.h", "#include <vector>\nstd::vector<int> All();\n")
        self.write("formats/b.cc", '#include "formats/b.h"\nint Four() { return Twice(kSize); }\n')
        self.write("formats/c.cc", "constexpr int kSize = 4;\nint Twice(int value) { return value * kSize; }\n")
        self.accepts("check_names.py")

    def test_refuses_names_of_headers_that_are_not_included(self):
        self.write("formats/b.h", "Amount Sum();\n")
        self.refuses("check_names.py", "formats/b.h: uses Amount without formats/a.h")
        self.write("formats/b.h", "")
        self.write("formats/b.cc", "int Four() { return Twice(2); }\n")
        self.refuses("check_names.py", "formats/b.cc: calls Twice without formats/a.h")
        self.write("formats/b.cc", "int Four() { return kSize / 2; }\n")
        self.refuses("check_names.py", "formats/b.cc: uses kSize without formats/a.h")

    def test_refuses_names_of_the_standard_library_without_their_header(self):
        self.write("formats/b.h", "#include <string>\nstd::vector<std::string> All();\n")
        self.refuses("check_names.py", "formats/b.h: uses std::vector without <vector>")
        self.write("formats/b.h", "std::flat_map<int, int> All();\n")
        self.refuses("check_names.py", "uses std::flat_map: add it")

    def test_does_not_read_raw_strings(self):
        self.write("formats/b.cc", 'const char* kText = R"({"type":"Amount"})";\n')
        self.accepts("check_names.py")


class Format(LintCase):
    def test_accepts_formatted_code_and_refuses_other(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("convert/a.cc", "int a;\n")
        self.accepts("check_format.sh")
        self.write("convert/b.cc", "int  b ;\n")
        self.refuses("check_format.sh", "b.cc:1")

    def test_refuses_another_version(self):
        self.write("other-format", "#!/bin/sh\necho clang-format version 19.1.4\n", 0o755)
        self.refuses("check_format.sh", "is not version 14",
                     CLANG_FORMAT=str(self.root / "other-format"))


class Filesystem(LintCase):
    HEAD = ("#include <filesystem>\nnamespace fs = std::filesystem;\n"
            "void f(const fs::path& path) {\n  std::error_code error;\n")

    def write_body(self, body):
        self.write("convert/a.cc", self.HEAD + body + "\n}\n")

    def test_accepts_calls_that_cannot_throw(self):
        for body in ("fs::exists(path, error);", "std::filesystem::status(path / g(1, 2), error);",
                     "for (fs::directory_iterator at(path, error), end; !error && at != end;\n"
                     "     at.increment(error)) {\n  at->is_regular_file(error);\n}",
                     "// fs::exists(path)", 'g("fs::exists(path)");', "input.is_directory();",
                     "std::rename(path.c_str(), path.c_str());"):
            self.write_body(body)
            self.accepts("check_filesystem.py")

    def test_refuses_calls_that_throw(self):
        for body in ("fs::exists(path);", "std::filesystem::exists(path);", "exists(path);",
                     "::std::filesystem::file_size(path);", "fs::temp_directory_path();",
                     "fs::is_directory(\n    path / g(1,\n             error));",
                     "fs::copy(path, path, options);", "fs::rename(path, path);",
                     "using std::filesystem::exists;", "using namespace std::filesystem;",
                     "fs::directory_iterator at(path);",
                     "for (const auto& entry : fs::directory_iterator(path, error)) {}",
                     "for (const auto& entry :\n     fs::recursive_directory_iterator{path}) {}",
                     "fs::directory_iterator at(path, error);\nfor (const auto& entry : at) {}",
                     "fs::directory_iterator at(path, error), end;\n++at;",
                     "fs::directory_iterator at(path, error), end;\nat->is_regular_file();",
                     "fs::directory_entry entry;\nentry.file_size();"):
            self.write_body(body)
            self.refuses("check_filesystem.py", "convert/a.cc:")

    def test_accepts_throwing_calls_in_tests(self):
        self.write("tests/convert/a_test.cc", self.HEAD + "fs::exists(path); }\n")
        self.accepts("check_filesystem.py")


class Loops(LintCase):
    def test_accepts_named_results(self):
        for head in ("const auto& x : files", "auto x : std::views::all(files)",
                     "int i = Count().value(); i < 9; ++i", "auto x : Files()"):
            self.write("convert/a.cc", f"void f() {{\n  for ({head}) {{}}\n}}\n")
            self.accepts("check_loops.py")

    def test_refuses_parts_of_temporaries(self):
        for head in ("const auto& x : Files(path).value()", "auto x :\n     a::Files({1, 2}).error()",
                     "int i = 0; auto x : Files().value()"):
            self.write("tests/a_test.cc", f"void f() {{\n  for ({head}) {{}}\n}}\n")
            self.refuses("check_loops.py", "tests/a_test.cc:2:")


class Includes(LintCase):
    def test_accepts_the_files_that_the_tables_name(self):
        self.write("formats/base/text.cc", "#include <fmt/format.h>\n")
        self.write("formats/base/a.h", "#include <fmt/core.h>\n#include <linux/perf_event.h>\n#include <vector>\n")
        self.write("tools/a.cc", "#include <nlohmann/json.hpp>\n")
        self.accepts("check_includes.py")

    def test_refuses_a_library_in_a_header(self):
        for name in ("nlohmann/json.hpp", "archive.h", "bpf/libbpf.h"):
            self.write("tools/a.h", f"#include <{name}>\n")
            self.refuses("check_includes.py", f"tools/a.h: a header includes <{name}> of a library")

    def test_refuses_costly_headers_anywhere(self):
        for name in ("fmt/format.h", "fmt/ranges.h", "regex"):
            self.write("convert/a.cc", f"#include <{name}>\n")
            self.refuses("check_includes.py", f"convert/a.cc: includes <{name}>: use")


class Spdx(LintCase):
    def test_accepts_the_right_lines(self):
        self.write("convert/a.h", APACHE)
        self.write("bpf/wire.h", "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n")
        self.write("tools/run", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n")
        self.accepts("check_spdx.py")

    def test_refuses_a_missing_or_wrong_line(self):
        for path, text in (("convert/a.h", "#pragma once\n"), ("bpf/on_cpu.bpf.c", APACHE),
                           ("tools/run", "#!/bin/sh\necho\n"), ("tools/CMakeLists.txt", "add()\n")):
            self.write(path, text)
            self.refuses("check_spdx.py", f"{path}: must open with")
            (self.root / path).unlink()


class Callers(LintCase):
    def test_refuses_an_inline_function_that_only_a_test_calls(self):
        self.write("convert/a.h", "inline int Half(int x) { return x / 2; }\n")
        self.write("tests/convert/a_test.cc", "int main() { return Half(0); }\n")
        self.refuses("check_callers.py", "convert/a.h:1: nothing but tests calls Half")
        self.write("tools/a.cc", "int main() { return Half(0); }\n")
        self.accepts("check_callers.py")

    def test_refuses_a_function_that_no_tool_contains(self):
        self.write("a.cc", "namespace perftape { int Used() { return 0; } int Unused() { return 1; } }\n")
        self.write("main.cc", "namespace perftape { int Used(); } int main() { return perftape::Used(); }\n")
        library, tool = self.root / "a.o", self.root / "tool"
        subprocess.run(["c++", "-c", "-ffunction-sections", self.root / "a.cc", "-o", library], check=True)
        subprocess.run(["c++", "-Wl,--gc-sections", self.root / "main.cc", library, "-o", tool], check=True)
        self.refuses("check_callers.py", "a.o: no tool calls perftape::Unused()", self.root, "--libraries", library,
                     "--tools", tool)


class Definitions(LintCase):
    def test_refuses_two_functions_of_one_name(self):
        if shutil.which("ld.gold") is None:
            self.skipTest("ld.gold is not installed")
        objects = [self.root / "one.o", self.root / "other.o"]
        for path in objects:
            self.write("a.cc", "namespace perftape { int Size() { return 1; } }\n")
            subprocess.run(["c++", "-g", "-c", self.root / "a.cc", "-o", path], check=True)
        self.accepts("check_definitions.py", objects[0])
        self.refuses("check_definitions.py", "multiple definition of 'perftape::Size()'", *objects)


class Tree(LintCase):
    def test_accepts_the_rooms_and_the_customary_files(self):
        self.write("convert/a.cc", APACHE)
        self.write("README.md", "")
        self.write(".ci/run", "")
        self.accepts("check_tree.py")

    def test_refuses_another_folder_at_the_top(self):
        self.write("src/a.cc", APACHE)
        self.refuses("check_tree.py", "no folder src/")

    def test_refuses_another_file_at_the_top(self):
        self.write("notes.txt", "")
        self.refuses("check_tree.py", "not a customary file")

    def test_refuses_a_file_above_600_lines(self):
        self.write("convert/a.cc", "\n" * 601)
        self.refuses("check_tree.py", "601 lines")

    def test_refuses_the_path_of_a_developers_machine(self):
        self.write("README.md", "see " + "/".join(["", "work", "main"]))
        self.refuses("check_tree.py", "names a machine of ours")

    def test_refuses_test_data_beyond_its_size(self):
        self.write("testdata/a.data", "x" * (6 << 20))
        self.refuses("check_tree.py", "testdata: ")


class Documents(LintCase):
    def setUp(self):
        super().setUp()
        self.write("record/output/rotation.cc", APACHE)
        self.write("bpf/on_cpu.bpf.c", APACHE)

    def test_accepts_paths_that_lead_to_files_and_folders(self):
        self.write("ARCHITECTURE.md", "[record](record/README.md#words), [web](https://host/a), "
                                      "`record/output/rotation`")
        self.write("record/README.md", "`output/rotation.cc`, `output/`, `bpf/on_cpu`, `bpf/*.bpf.c`, [up](../bpf)")
        self.accepts("check_documents.py")

    def test_accepts_what_is_no_path_of_the_tree(self):
        self.write("README.md", "`/proc/PID/maps`, `and/or`, `record/NAME.cc`, `bpf/<name>.bpf.c`, "
                                "`tools/perf/util/header.c`")
        self.write("tools/main.cc", APACHE)
        self.accepts("check_documents.py")

    def test_refuses_a_path_to_nothing(self):
        for path in ("record/output/rotations", "bpf/*.bpf.h", "record/outputs/"):
            with self.subTest(path=path):
                self.write("CONTRIBUTING.md", f"see\n`{path}`")
                self.refuses("check_documents.py", f"CONTRIBUTING.md:2: names {path}")

    def test_refuses_a_path_to_nothing_beside_the_document(self):
        self.write("record/README.md", "`output/retention`")
        self.refuses("check_documents.py", "record/README.md:1: names output/retention")

    def test_refuses_a_link_to_nothing(self):
        self.write("README.md", "[a](record/README.md)")
        self.refuses("check_documents.py", "README.md:1: links to record/README.md")

    def test_refuses_an_architecture_that_nobody_reads_as_a_whole(self):
        self.write("ARCHITECTURE.md", "x" * 8193)
        self.refuses("check_documents.py", "8193 bytes, more than 8192")


class Commits(LintCase):
    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main")
        self.commit("first")
        self.first = self.git("rev-parse", "HEAD").strip()

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                              check=True, capture_output=True, text=True).stdout

    def commit(self, message):
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def arguments(self):
        return self.root, "--since", self.first

    def test_accepts_a_short_subject_with_a_reason(self):
        self.commit("formats: read more\n\nperf 7 writes it.")
        self.accepts("check_commits.py", *self.arguments())

    def test_refuses_a_long_subject(self):
        self.commit("x" * 73 + "\n\nA reason.")
        self.refuses("check_commits.py", "has 73 columns", *self.arguments())

    def test_refuses_a_commit_without_a_reason(self):
        self.commit("formats: read more")
        self.refuses("check_commits.py", "no body gives the reason: formats: read more", *self.arguments())

    def test_accepts_a_merge_of_others(self):
        self.git("checkout", "-q", "-b", "other")
        self.commit("formats: read more\n\nperf 7 writes it.")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "Merge branch 'other'", "other")
        self.accepts("check_commits.py", *self.arguments())

    def test_skips_a_tree_without_history(self):
        status, output = self.run_check("check_commits.py", self.root, "--since", "0123456")
        self.assertEqual((status, output), (77, "skipped: the history since 0123456 is not here\n"))


class Scripts(LintCase):
    GOOD = APACHE + "'use strict';\nconst text = 'innerHTML';\nelement.textContent = text;\n"

    def test_accepts_a_script_that_only_sets_texts(self):
        self.write("convert/page.js", self.GOOD)
        self.accepts("check_scripts.py")

    def test_refuses_markup_code_and_network(self):
        for line, reason in (("element.innerHTML = text;", "makes markup"),
                             ("eval(text);", "makes code"), ("fetch(text);", "asks the network"),
                             ("if (a == b) stop();", "converts its operands")):
            self.write("convert/page.js", self.GOOD + line + "\n")
            self.refuses("check_scripts.py", reason)

    def test_refuses_a_script_without_strict_mode(self):
        self.write("convert/page.js", "const a = 1;\nconst b = 2;\nconst c = 3;\n")
        self.refuses("check_scripts.py", "'use strict'")

    def test_refuses_long_lines(self):
        self.write("tests/page_test.mjs", "// " + 100 * "x" + "\n")
        self.refuses("check_scripts.py", "103 columns")


if __name__ == "__main__":
    unittest.main()

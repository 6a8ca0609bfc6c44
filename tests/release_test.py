#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/release in repositories with stubs instead of the build, the list of what a static file consists of, and
the workflows of the project."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[1]
NATIVE = {"x86_64": "x86-64", "aarch64": "arm64"}.get(platform.machine())
CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-29

Good for one thing.
Two lines.

### Added

* One, which
  goes on.
* Two.

## [1.1.0] - 2026-11-01

* Old.
"""
# Stands for cmake. It writes what the build of a static file writes, and $BUILT_PATH if that is set.
CMAKE = """#!/bin/sh
[ "$1" = --build ] || exit 0
mkdir -p build/static/bin
echo "program of $SOURCE_DATE_EPOCH ${BUILT_PATH:+in $PWD}" > build/static/bin/perftape
echo '{"packageFileName": "perftape"}' > build/static/bin/perftape.spdx.json
"""
PACKAGES = '#!/bin/sh\nmkdir -p "$1" && echo package > "$1/perftape_1.2.0-1~deb12_amd64.deb"\n'
LIBRARIES = "elfutils libelf,0.188,GPL-2.0-or-later,pkg:deb/debian/elfutils@0.188-2.1?arch=source;RE2,,BSD-3-Clause,"


class Release(unittest.TestCase):
    def setUp(self):
        if NATIVE is None:
            self.skipTest("releases are for x86-64 and arm64")
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name, "repository")
        self.write("CMakeLists.txt", "project(perftape VERSION 1.2.0 LANGUAGES C CXX)\n")
        self.write("CHANGELOG.md", CHANGELOG)
        self.write(".gitignore", "/build/\n")
        self.write("tools/packaging/debian/build-packages", PACKAGES)
        self.write("tools/install-packages", "#!/bin/sh\nexit 0\n")
        self.write("../stubs/cmake", CMAKE)
        shutil.copy(ROOT / "tools/release", self.root / "tools/release")
        self.files = self.root / "build/dist/files"
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True,
                       cwd=self.root, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "A commit")

    def release(self, *words, **variables):
        path = f"{self.root.parent / 'stubs'}:{os.environ['PATH']}"
        done = subprocess.run([self.root / "tools/release", *words], cwd="/", check=False, capture_output=True,
                              text=True, env=os.environ | {"PATH": path} | variables)
        return done.returncode, done.stdout, done.stderr

    def refuses(self, reason, *words, status=1, **variables):
        found, _, err = self.release(*words, **variables)
        self.assertEqual(found, status, err)
        self.assertIn(reason, err)
        self.assertFalse(self.files.exists())

    def test_prints_its_help(self):
        status, out, _ = self.release("--help")
        self.assertEqual(status, 0)
        for option in ("--arch", "--no-packages", "--once", "--notes"):
            self.assertIn(f"  tools/release {option}", out)
        self.assertNotIn("#", out)

    def test_refuses_an_unknown_argument(self):
        self.refuses("unknown argument --twice", "--twice", status=2)

    def test_prints_the_section_of_the_version_with_a_paragraph_on_each_line(self):
        status, out, _ = self.release("--notes")
        self.assertEqual((status, out),
                         (0, "Good for one thing. Two lines.\n\n### Added\n\n* One, which goes on.\n* Two.\n"))

    def test_refuses_a_version_without_a_section(self):
        self.write("CMakeLists.txt", "project(perftape VERSION 1.3.0 LANGUAGES C CXX)\n")
        self.commit()
        self.refuses("CHANGELOG.md has no section '## [1.3.0] - YYYY-MM-DD'")
        self.refuses("CHANGELOG.md has no section '## [1.3.0] - YYYY-MM-DD'", "--notes")

    def test_warns_of_changes_that_the_notes_do_not_list(self):
        self.write("CHANGELOG.md", CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n* Three.\n"))
        status, out, err = self.release("--notes")
        self.assertEqual(status, 0)
        self.assertNotIn("Three", out)
        self.assertIn("warning: CHANGELOG.md has changes under [Unreleased]", err)

    def test_refuses_changed_and_new_files(self):
        self.write("new.txt", "")
        self.refuses("commit or remove these files first:\n?? new.txt")
        self.commit()
        self.write("CMakeLists.txt", "project(perftape VERSION 1.2.0)\n")
        self.refuses("commit or remove these files first:\n M CMakeLists.txt")

    def test_refuses_a_commit_with_the_tag_of_another_version(self):
        self.git("tag", "v1.2.00")
        self.refuses("the last commit has the tag v1.2.00, and CMakeLists.txt has version 1.2.0")
        self.git("tag", "v1.2.0")
        status, _, err = self.release("--arch", NATIVE)
        self.assertEqual(status, 0, err)

    def test_refuses_an_unknown_architecture_and_missing_packages(self):
        self.refuses("cannot build for 'vax' on this machine", "--arch", "vax")
        self.write("tools/install-packages", "#!/bin/sh\necho bpftool\nexit 1\n")
        self.commit()
        self.refuses("tools/install-packages build installs them:\nbpftool", "--arch", NATIVE)

    def test_publishes_equal_builds_with_their_checksums_and_notes(self):
        status, out, err = self.release("--arch", NATIVE)
        self.assertEqual(status, 0, err)
        self.assertIn("no difference", out)
        program = f"perftape-1.2.0-{NATIVE}"
        # GitHub would replace the ~.
        self.assertEqual({path.name for path in self.files.iterdir()},
                         {program, f"{program}.spdx.json", "perftape_1.2.0-1.deb12_amd64.deb", "SHA256SUMS"})
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.files, check=True,
                       capture_output=True)
        self.assertEqual(len((self.files / "SHA256SUMS").read_text().splitlines()), 3)
        self.assertEqual(json.loads((self.files / f"{program}.spdx.json").read_text())["packageFileName"], program)
        self.assertRegex((self.files / program).read_text(), r"^program of \d+ $")
        self.assertIn("Good for one thing.", (self.files.parent / "notes.md").read_text())

    def test_refuses_builds_that_depend_on_their_directory(self):
        self.refuses(f"differs: perftape-1.2.0-{NATIVE}, in ", "--arch", NATIVE, "--no-packages", BUILT_PATH="1")
        status, out, err = self.release("--arch", NATIVE, "--no-packages", "--once", BUILT_PATH="1")
        self.assertEqual(status, 0, err)
        self.assertNotIn("no difference", out)

    def test_shows_why_a_build_failed(self):
        self.write("tools/packaging/debian/build-packages", "#!/bin/sh\necho no room left\nexit 1\n")
        self.commit()
        self.refuses("no room left\ntools/release: failed: ", "--arch", NATIVE)

    def test_this_version_has_notes(self):
        done = subprocess.run([ROOT / "tools/release", "--notes"], check=True, capture_output=True, text=True)
        self.assertRegex(done.stdout, r"^\w")
        self.assertIn("\n* ", done.stdout)


class Contents(unittest.TestCase):
    """tools/cmake/describe_static_file.cmake."""

    def test_has_what_spdx_2_3_requires(self):
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory, "perftape")
            program.write_bytes(b"program")
            subprocess.run(["cmake", f"-DFILE={program}", "-DVERSION=1.2.0", f"-DLIBRARIES={LIBRARIES}", "-P",
                            ROOT / "tools/cmake/describe_static_file.cmake"], check=True,
                           env=os.environ | {"SOURCE_DATE_EPOCH": "1767225600"})
            document = json.loads((program.parent / "perftape.spdx.json").read_text())
            checksum = (program.parent / "perftape.sha256").read_text().split()[0]
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(document["dataLicense"], "CC0-1.0")
        self.assertEqual(document["SPDXID"], "SPDXRef-DOCUMENT")
        self.assertEqual(document["name"], "perftape-1.2.0")
        self.assertIn(checksum, document["documentNamespace"])
        self.assertEqual(document["creationInfo"],
                         {"created": "2026-01-01T00:00:00Z", "creators": ["Tool: perftape-1.2.0"]})
        packages = {package["SPDXID"]: package for package in document["packages"]}
        self.assertEqual(set(packages), {"SPDXRef-perftape", "SPDXRef-elfutils-libelf", "SPDXRef-RE2"})
        for identifier, package in packages.items():
            self.assertRegex(identifier, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertTrue(package["name"])
            self.assertTrue(package["downloadLocation"])
        self.assertEqual(packages["SPDXRef-perftape"]["checksums"],
                         [{"algorithm": "SHA256", "checksumValue": checksum}])
        elfutils, re2 = packages["SPDXRef-elfutils-libelf"], packages["SPDXRef-RE2"]
        self.assertEqual(elfutils["versionInfo"], "0.188")
        self.assertEqual(elfutils["externalRefs"], [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": "pkg:deb/debian/elfutils@0.188-2.1?arch=source"}])
        self.assertNotIn("versionInfo", re2)
        self.assertNotIn("externalRefs", re2)
        relations = {(relation["spdxElementId"], relation["relationshipType"], relation["relatedSpdxElement"])
                     for relation in document["relationships"]}
        self.assertEqual(relations, {
            ("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-perftape"),
            ("SPDXRef-perftape", "STATIC_LINK", "SPDXRef-elfutils-libelf"),
            ("SPDXRef-perftape", "STATIC_LINK", "SPDXRef-RE2")})


@unittest.skipIf(yaml is None, "python3-yaml is not installed")
class Workflows(unittest.TestCase):
    def steps(self):
        """Yields each step of each workflow of the project."""
        paths = list((ROOT / ".github/workflows").glob("*.yml"))
        self.assertEqual({path.name for path in paths}, {"release.yml", "test.yml"})
        for path in paths:
            workflow = yaml.safe_load(path.read_text())
            self.assertEqual(workflow["permissions"], {"contents": "read"})
            for job in workflow["jobs"].values():
                yield from job["steps"]

    def test_run_scripts_of_the_tree_and_actions_of_a_version(self):
        scripts = set()
        for step in self.steps():
            if "uses" in step:
                self.assertRegex(step["uses"], r"^actions/[\w-]+@v\d+$")
            else:
                subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
                scripts |= set(re.findall(r"(?<![\w./])(?:tools|tests|\.ci)/[\w/.-]+", step["run"]))
        self.assertLessEqual({"tools/release", "tests/run", ".ci/run"}, scripts)
        for script in scripts:
            self.assertTrue(os.access(ROOT / script, os.X_OK), script)


if __name__ == "__main__":
    unittest.main(verbosity=2)

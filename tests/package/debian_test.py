#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Debian packages in a chroot of each release, and installs, uses and purges them in another one.

PERFTAPE_PACKAGE_SUITES names the releases (default: bookworm trixie). PERFTAPE_PACKAGES=DIR has packages of earlier
runs, in DIR/SUITE: they are not built again. PERFTAPE_PACKAGE_CCACHE=DIR is ccache's directory for the first build.
"""
import hashlib
import os
import pathlib
import re
import unittest

from chroot import WORK, Chroot, copy_sources, require

SUITES = os.environ.get("PERFTAPE_PACKAGE_SUITES", "bookworm trixie").split()
EARLIER = os.environ.get("PERFTAPE_PACKAGES")
CCACHE = os.environ.get("PERFTAPE_PACKAGE_CCACHE")
EPOCH = "1767225600"
TOOLS = ("perftape", "perftape-bundle", "perftape-convert", "perftape-doctor", "perftape-inspect", "perftape-perf",
         "perftape-record", "perftape-recover", "perftape-report", "perftape-script", "perftape-serve",
         "perftape-symbolize", "perftape-view")
EXPECTED = [f"usr/bin/{tool}" for tool in TOOLS] + [f"usr/share/man/man1/{tool}.1.gz" for tool in TOOLS] + [
    f"usr/share/bash-completion/completions/{tool}" for tool in TOOLS] + [
    "usr/bin/perf_to_profile", "usr/lib/perftape/perf", "usr/share/perftape/schemas/perftape-report.json", "usr/share/man/man7/perftape.7.gz", "usr/share/man/man7/perftape-symbols.7.gz",
    "usr/lib/systemd/system/perftape-record@.service",
    "usr/lib/systemd/system/perftape-serve.service",
    "usr/libexec/perftape/recorder-group", "usr/share/doc/perftape/copyright",
    "usr/share/doc/perftape/changelog.Debian.gz"]

# The session of someone who has just installed the package.
SESSION = """
cd /tmp
perftape-record --version && perftape doctor || true
perftape-record -q -F 499 -o perf.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
perftape-report perf.data -n 3
perftape-convert -q perf.data -o profile.folded && test -s profile.folded
perftape-convert -q perf.data -o profile.html && grep -q '<svg\\|<html' profile.html
perftape-bundle verify perf.data
perftape-inspect --validate perf.data
for tool in perftape perftape-bundle perftape-record; do    # all shells for which the tools print a completion
  for file in bash-completion/completions/$tool zsh/vendor-completions/_$tool fish/vendor_completions.d/$tool.fish; do
    shell=${file%%[-/]*}
    if $tool --completion $shell > completion 2>/dev/null; then cmp completion /usr/share/$file; fi
  done
done
"""
GROUP = """
apt-get install -y -q --no-install-recommends libcap2-bin
/usr/libexec/perftape/recorder-group allow
getcap /usr/bin/perftape-record | grep -q 'cap_perfmon'
useradd --groups perftape member && useradd stranger
cd /tmp
setpriv --reuid=member --init-groups sh -c 'perftape-record -q -a --duration 1 -o /tmp/member.data'
perftape-report -q member.data -n 1
! setpriv --reuid=stranger --init-groups perftape-record --version
apt-get install -y -q --reinstall /packages/perftape_*.deb     # an upgrade keeps the group
setpriv --reuid=member --init-groups sh -c 'perftape-record -q -a --duration 1 -o /tmp/again.data'
userdel member && userdel stranger
"""
# A program of someone else, with the installed library.
LIBRARY = """
cmake -S /consumer -B /tmp/consumer > /dev/null && cmake --build /tmp/consumer
/tmp/consumer/write_recording /usr/bin/perftape /tmp/written.data || true
/tmp/consumer/write_recording /tmp/consumer/write_recording /tmp/written.data
/tmp/consumer/count_samples /tmp/written.data
perftape-inspect --validate /tmp/written.data
"""


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.deb"))}


class Builder:
    """A chroot with all that the build needs. Copies the sources into it for each build."""

    def __init__(self, suite):
        binds = [(CCACHE, "/ccache")] if CCACHE else []
        self.chroot = Chroot(suite, "builder", binds)
        copy_sources(self.chroot.root / "sources")
        self.chroot.shell("/sources/tools/install-packages build && apt-get install -y -q --no-install-recommends"
                          " dpkg-dev pandoc lintian gzip file ccache")

    def build(self, folder, use_ccache):
        """Builds the packages from a copy of the sources in `folder`, and returns the directory of the packages."""
        launcher = {"CCACHE_DIR": "/ccache", "CCACHE_BASEDIR": folder, "CMAKE_C_COMPILER_LAUNCHER": "ccache",
                    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
                    "CCACHE_SLOPPINESS": "time_macros,pch_defines,include_file_mtime,include_file_ctime"}
        self.chroot.shell(f"mkdir -p {folder} && cp -a /sources/. {folder}")
        self.chroot.run(f"{folder}/tools/packaging/debian/build-packages", f"{folder}/build/package",
                        SOURCE_DATE_EPOCH=EPOCH, **(launcher if use_ccache else {}))
        return self.chroot.root / folder.strip("/") / "build/package"


class Packages(unittest.TestCase):
    def test_each_release(self):
        for suite in SUITES:
            with self.subTest(suite=suite):
                self.check_suite(suite)

    def check_suite(self, suite):
        if EARLIER:
            packages = pathlib.Path(EARLIER) / suite
        else:
            builder = Builder(suite)
            packages = builder.build("/a", use_ccache=bool(CCACHE))
            other = builder.build("/somewhere/else/with/a/longer/name", use_ccache=False)
            self.assertEqual(digests(packages), digests(other))
            print(builder.chroot.shell("lintian --fail-on error --tag-display-limit 0 /a/build/package/*.deb"))
        self.assertEqual(len(digests(packages)), 2)
        print(suite, digests(packages))
        self.check_use(suite, packages)

    def check_use(self, suite, packages):
        user = Chroot(suite, "user", [(packages, "/packages")])
        (user.root / "packages").mkdir()
        user.shell("apt-get update -q")
        before, groups = user.files(), (user.root / "etc/group").read_text()
        user.shell("apt-get install -y -q --no-install-recommends /packages/perftape_*.deb")
        installed = user.files()
        self.assertEqual([name for name in EXPECTED if name not in installed], [])
        print(user.shell(SESSION))
        user.shell(GROUP)
        user.shell("mkdir -p /etc/perftape /var/lib/perftape/all && touch /etc/perftape/all.conf")
        user.shell("apt-get purge -y -q perftape libcap2-bin && apt-get autoremove --purge -y -q")
        after = user.files()
        ours = re.compile("perftape")
        self.assertEqual([name for name in after if ours.search(name)], [])
        # The backups of /etc/group and others are useradd's, of this test.
        changed = {name: mode for name, mode in after.items() if before.get(name) != mode}
        self.assertEqual([name for name in changed if not re.fullmatch(r"etc/\w+-", name)], [])
        self.assertEqual((user.root / "etc/group").read_text(), groups)
        user.remove()

    def test_the_library(self):
        for suite in SUITES:
            with self.subTest(suite=suite):
                packages = pathlib.Path(EARLIER) / suite if EARLIER else WORK / f"{suite}-builder/a/build/package"
                consumer = pathlib.Path(__file__).resolve().parents[1] / "consumer"
                user = Chroot(suite, "consumer", [(packages, "/packages"), (consumer, "/consumer")])
                user.shell("apt-get update -q && apt-get install -y -q --no-install-recommends g++ cmake make"
                           " pkg-config /packages/*.deb")
                print(user.shell(LIBRARY))
                user.remove()


if __name__ == "__main__":
    require("debootstrap", "unshare", "git")
    unittest.main(verbosity=2)

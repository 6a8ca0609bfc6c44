# SPDX-License-Identifier: Apache-2.0
"""A perf of a later Debian suite beside the one of this system. Nothing is installed.

apt fetches linux-perf with its libraries and their C library into a cache directory, and dpkg-deb unpacks them there.
PERFTAPE_NEWER_PERF names a directory with them, unpacked, or is empty to skip the tests. Otherwise
$XDG_CACHE_HOME/perftape-newer-perf is used. `python3 newer_perf.py` fetches it and prints its version.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

SUITES = ("trixie", "trixie-backports")
PACKAGE = "linux-perf"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Continuous integration must not wait for a mirror that does not answer.
APT_SECONDS = 60
FETCH_SECONDS = 180


class Unavailable(Exception):
    """Why there is no newer perf, in words for a skipped test."""


def _root():
    named = os.environ.get("PERFTAPE_NEWER_PERF")
    if named is not None:
        if not named:
            raise Unavailable("PERFTAPE_NEWER_PERF is empty")
        return pathlib.Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "perftape-newer-perf"


def _first(root, *paths):
    for path in paths:
        if (root / path).exists():
            return str(root / path)
    return None


def _command(root):
    """The words before perf's arguments; None if the directory has no perf."""
    loader = _first(root, "usr/lib64/ld-linux-x86-64.so.2", "lib64/ld-linux-x86-64.so.2",
                    "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    perf = _first(root, "usr/bin/perf")
    if not loader or not perf:
        return None
    libraries = ":".join(str(root / path) for path in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
    return [loader, "--library-path", libraries, perf]


def _run(arguments, seconds):
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{arguments[0]} took more than {seconds} s") from error
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"{arguments[0]} failed: {last}")
    return done.stdout


def _mirror():
    """The mirror that this system uses."""
    sites = _run(["apt-get", "indextargets", "--format", "$(SITE)"], APT_SECONDS).split()
    sites = [site for site in sites if "security" not in site]
    if not sites:
        raise Unavailable("apt has no mirror")
    return sites[0]


def _fetch(root):
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is missing")
    if not KEYRING.exists() or os.uname().machine != "x86_64":
        raise Unavailable("this is no Debian on x86_64")
    state = root / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").write_text("")  # nothing is installed there, so all libraries are fetched
    site = _mirror()
    sources = state / "sources.list"
    sources.write_text("".join(f"deb [signed-by={KEYRING}] {site} {suite} main\n" for suite in SUITES))
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::State::status={state}/status",
           "-o", f"Dir::Cache={state}/cache", "-o", "Debug::NoLocking=1", "-o", "Acquire::Retries=0",
           "-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"]
    _run([*apt, "update"], APT_SECONDS)
    _run([*apt, "-y", "-t", SUITES[-1], "--no-install-recommends", "--download-only", "install", PACKAGE],
         FETCH_SECONDS)
    for package in sorted((state / "cache/archives").glob("*.deb")):
        _run(["dpkg-deb", "-x", str(package), str(root)], FETCH_SECONDS)
    shutil.rmtree(state)


def command():
    """The words before the arguments of the newer perf. Raises Unavailable, with the reason.

    A failed attempt is remembered for the directory, so only the first test of a run waits for it."""
    root = _root()
    found = _command(root)
    if found:
        return found
    if "PERFTAPE_NEWER_PERF" in os.environ:
        raise Unavailable(f"{root} has no usr/bin/perf with its libraries")
    failed = root / "unavailable"
    # A day later, the mirror may answer.
    if failed.exists() and time.time() - failed.stat().st_mtime < 86400:
        raise Unavailable(failed.read_text().strip())
    try:
        root.mkdir(parents=True, exist_ok=True)
        _fetch(root)
    except Unavailable as error:
        failed.write_text(f"{error}\n")
        raise
    except OSError as error:
        raise Unavailable(f"{error.filename}: {error.strerror}") from error
    found = _command(root)
    if not found:
        raise Unavailable(f"the packages have no perf in {root}")
    return found


if __name__ == "__main__":
    try:
        sys.exit(subprocess.run([*command(), "--version"], check=False).returncode)
    except Unavailable as error:
        print(f"no newer perf: {error}")
        sys.exit(77)

# SPDX-License-Identifier: Apache-2.0
"""Systems of other Debian releases, in directories. Mounts exist only while a command runs in one."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ.get("PERFTAPE_PACKAGE_DIR", ROOT / "build/package-tests")).resolve()
MIRROR = os.environ.get("PERFTAPE_PACKAGE_MIRROR", "http://deb.debian.org/debian")
# In a mount namespace of its own, which ends with the command.
ENTER = """
for folder in proc sys dev; do mount --rbind /$folder "$1/$folder"; done
mount -t tmpfs tmpfs "$1/tmp"
shift_to=$1; shift
for pair in $BINDS; do mkdir -p "$shift_to${pair#*:}"; mount --bind "${pair%%:*}" "$shift_to${pair#*:}"; done
exec chroot "$shift_to" env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \\
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def require(*programs):
    """Skips the whole file unless this user is root and has these programs."""
    if os.geteuid() != 0:
        skip("not root")
    for program in programs:
        if shutil.which(program) is None:
            skip(f"{program} is not installed")


def run(*command, **more):
    """Returns what a command prints. A failure shows all of it."""
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


class Chroot:
    """A minimal system of a suite, as debootstrap makes it. `binds` are directories of this machine in it."""

    def __init__(self, suite, name, binds=()):
        self.root = WORK / f"{suite}-{name}"
        self.binds = list(binds)
        WORK.mkdir(parents=True, exist_ok=True)
        image = WORK / f"{suite}.tar"
        if not image.exists():
            made = WORK / f"{suite}-made"
            run("debootstrap", "--variant=minbase", suite, made, MIRROR)
            run("tar", "-C", made, "-cf", image, ".")
            shutil.rmtree(made)
        self.remove()
        self.root.mkdir()
        run("tar", "-C", self.root, "-xf", image)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", self.root / "etc" / name)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def run(self, *command, **variables):
        binds = " ".join(f"{outside}:{inside}" for outside, inside in self.binds)
        words = [f"{name}={value}" for name, value in variables.items()] + list(command)
        return run("unshare", "--mount", "sh", "-euc", ENTER, "enter", self.root, *words,
                   env=os.environ | {"BINDS": binds})

    def shell(self, script, **variables):
        return self.run("bash", "-euo", "pipefail", "-c", script, **variables)

    def files(self):
        """Returns the paths of all files and directories, with their modes, except those of apt and of logs."""
        left_out = ("proc", "sys", "dev", "tmp", "run", "var/log", "var/cache", "var/lib/apt", "var/lib/dpkg", "root")
        found = {}
        for folder, folders, names in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            folders[:] = [name for name in folders if os.path.normpath(f"{inside}/{name}") not in left_out]
            for name in folders + names:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, self.root)] = oct(os.lstat(path).st_mode)
        return found


def copy_sources(target):
    """Copies the tree, without what git ignores."""
    target.mkdir(parents=True)
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True).stdout
    existing = b"\0".join(name for name in listed.split(b"\0") if name and (ROOT / os.fsdecode(name)).exists())
    packed = subprocess.run(["tar", "-C", ROOT, "--null", "-T", "-", "-cf", "-"], input=existing, check=True,
                            capture_output=True).stdout
    subprocess.run(["tar", "-C", target, "-xf", "-"], input=packed, check=True)

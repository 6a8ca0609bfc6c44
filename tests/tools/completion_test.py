# SPDX-License-Identifier: Apache-2.0
"""Types into bash, zsh and fish on a pseudo-terminal, presses Tab, and compares the line.

    tests/tools/completion_test.py --bin build/dev/bin

A shell that is not installed is skipped, with a message.
"""
import argparse
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = ("perftape", "perftape-bundle", "perftape-convert", "perftape-record")
LIMIT_S = 60  # after which a shell does not work

# Prints fixed events. One is the name of a function that a hostile binary may have.
RECORD = """#!/bin/sh
if [ "$1 $2" = "list --names" ]; then
  for name in cpu-clock task-clock sched:sched_switch sched:sched_wakeup 'uprobe:x:$(touch hacked)'; do
    case $name in $3) printf '%s\\n' "$name" ;; esac
  done
  exit
fi
exec {tool} "$@"
"""

# In each rc file, Ctrl-X writes the line to the file `line`, and clears it.
BASH_RC = """
PS1='> '
for tool in {tools}; do eval "$($tool --completion bash)"; done
save() {{ printf '%s' "$READLINE_LINE" > line.new; mv line.new line; READLINE_LINE=; }}
bind 'set bell-style none'
bind 'set show-all-if-ambiguous on'
bind -x '"\\C-x": save'
"""
ZSH_RC = """
PS1='> '
fpath=({directory} $fpath)
autoload -Uz compinit && compinit -u -D
unsetopt beep
setopt no_list_ambiguous
save() {{ printf '%s' "$BUFFER" > line.new; mv line.new line; BUFFER= }}
zle -N save
bindkey -r '^X'
bindkey '^X' save
KEYTIMEOUT=1
"""
FISH_RC = """
set -g fish_greeting
function fish_prompt; echo '> '; end
function save; commandline > line.new; mv line.new line; commandline ''; end
bind \\cx save
"""

# What is typed before Tab, and the line after it.
CASES = {
    "perftape-convert --anon": "perftape-convert --anonymize",
    "perftape-convert --to fol": "perftape-convert --to folded",
    "perftape-convert --to=fol": "perftape-convert --to=folded",
    "perftape-convert --version=js": "perftape-convert --version=json",
    "perftape-convert -o pro": "perftape-convert -o profile.folded",
    "perftape-convert two": "perftape-convert two\\ words.data",
    "perftape-convert --symfs dire": "perftape-convert --symfs directory/",
    "perftape-bundle ver": "perftape-bundle verify",
    "perftape-bundle extract --dir": "perftape-bundle extract --directory",
    "perftape-bundle help ver": "perftape-bundle help verify",
    "perftape conv": "perftape convert",
    "perftape convert --anon": "perftape convert --anonymize",
    "perftape convert --to fol": "perftape convert --to folded",
    "perftape bundle ver": "perftape bundle verify",
    "perftape help uni": "perftape help units",
    "perftape-record --all-cp": "perftape-record --all-cpus",
    "perftape-record -e cpu-": "perftape-record -e cpu-clock",
    "perftape-record --event=cpu-": "perftape-record --event=cpu-clock",
    "perftape-record -e cpu-clock,ta": "perftape-record -e cpu-clock,task-clock",
    "perftape-record -e sched:sched_sw": "perftape-record -e sched:sched_switch",
    "perftape-record -e task-clock,sched:sched_sw":
        "perftape-record -e task-clock,sched:sched_switch",
    "perftape-record doct": "perftape-record doctor",
    "perftape-record list cpu-": "perftape-record list cpu-clock",
    "perftape-record list --na": "perftape-record list --names",
    "perftape record -e sched:sched_sw": "perftape record -e sched:sched_switch",
    "perftape-record -F 99 -- perftape-conv": "perftape-record -F 99 -- perftape-convert",
    "perftape-record perftape-convert two": "perftape-record perftape-convert two\\ words.data",
}


class Shell:
    """A shell on a terminal, in a directory with files and one directory."""

    def __init__(self, words, directory, environment):
        self.directory = directory
        self.output = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(words[0], words, environment)

    def read(self):
        if select.select([self.terminal], [], [], 0.05)[0]:
            try:
                self.output += os.read(self.terminal, 65536)
            except OSError:
                raise AssertionError(f"the shell ended: {self.output[-2000:]!r}") from None

    def complete(self, typed):
        """Returns the line after Tab."""
        line = self.directory / "line"
        line.unlink(missing_ok=True)
        os.write(self.terminal, typed.encode() + b"\t\x18")
        end = time.monotonic() + LIMIT_S
        while not line.exists():
            self.read()
            if time.monotonic() > end:
                raise AssertionError(f"no line after {typed!r}: {self.output[-2000:]!r}")
        return line.read_text().rstrip(" =\n")  # zsh adds = to a name

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class Completion(unittest.TestCase):
    bin_dir = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="perftape-completion-")
        self.addCleanup(temporary.cleanup)
        self.home = pathlib.Path(temporary.name)
        self.work = self.home / "work"
        (self.work / "directory").mkdir(parents=True)
        for name in ("profile.folded", "two words.data"):
            (self.work / name).touch()
        self.bin = self.home / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(self.bin_dir / tool)
        record = self.bin / "perftape-record"
        record.unlink()
        record.write_text(RECORD.format(tool=self.bin_dir / "perftape-record"))
        record.chmod(0o755)
        # perftape runs the tools of its own directory.
        (self.bin / "perftape").unlink()
        shutil.copy(self.bin_dir / "perftape", self.bin)

    def environment(self):
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "TERM": "xterm",
                "LC_ALL": "C.UTF-8", "ZDOTDIR": str(self.home),
                "XDG_CONFIG_HOME": str(self.home / "config"),
                "XDG_DATA_HOME": str(self.home / "data"),
                "XDG_DATA_DIRS": f"{self.home / 'share'}:/usr/local/share:/usr/share"}

    def install(self, shell, directory, name):
        directory.mkdir(parents=True, exist_ok=True)
        for tool in TOOLS:
            script = subprocess.run([self.bin_dir / tool, "--completion", shell], check=True,
                                    capture_output=True)
            (directory / name.format(tool)).write_bytes(script.stdout)

    def check_cases(self, words):
        if shutil.which(words[0]) is None:
            self.skipTest(f"{words[0]} is not installed")
        shell = Shell(words, self.work, self.environment())
        try:
            for typed, wanted in CASES.items():
                with self.subTest(typed):
                    self.assertEqual(shell.complete(typed), wanted)
            shell.complete("perftape-record -e uprobe:x:")
            self.assertFalse((self.work / "hacked").exists(), "a name was executed")
        finally:
            shell.close()

    def test_bash(self):
        (self.home / "rc").write_text(BASH_RC.format(tools=" ".join(TOOLS)))
        self.check_cases(["bash", "--noprofile", "--rcfile", str(self.home / "rc"), "-i"])

    def test_zsh(self):
        directory = self.home / "functions"
        self.install("zsh", directory, "_{}")
        (self.home / ".zshrc").write_text(ZSH_RC.format(directory=directory))
        self.check_cases(["zsh", "-d", "-i"])

    def test_fish(self):
        self.install("fish", self.home / "share/fish/vendor_completions.d", "{}.fish")
        config = self.home / "config/fish/config.fish"
        config.parent.mkdir(parents=True)
        config.write_text(FISH_RC)
        self.check_cases(["fish", "-i"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where the tools are")
    options, rest = parser.parse_known_args()
    Completion.bin_dir = options.bin.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
